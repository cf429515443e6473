/* right-looking LU without pivots, a step: the column below the diagonal, then the rest */
extern "C" __global__ void lu_column(unsigned n, unsigned k, double *a)
{
    unsigned i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}
extern "C" __global__ void lu_update(unsigned n, unsigned k, double *a)
{
    unsigned j = k + 1 + blockIdx.x * 16 + threadIdx.x, i = k + 1 + blockIdx.y * 16 + threadIdx.y;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
