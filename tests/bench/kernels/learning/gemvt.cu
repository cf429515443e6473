// y = A^T x for rows of `columns`: a thread a column.
extern "C" __global__ void gemvt(unsigned rows, unsigned columns, const float *a, const float *x, float *y)
{
    unsigned j = blockIdx.x * 128 + threadIdx.x;
    float sum = 0;
    for (unsigned i = 0; i < rows; i++)
        sum += a[(size_t)i * columns + j] * x[i];
    y[j] = sum;
}
