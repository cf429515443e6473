// Built with -G: nothing stays in registers. Powers in a local array, and their sum from the last to the first.
extern "C" __global__ void debug(unsigned n, const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float c[8];
        c[0] = 1.0f;
        for (int k = 1; k < 8; k++)
            c[k] = c[k - 1] * x[i];
        float sum = 0.0f;
        for (int k = 7; k >= 0; k--)
            sum = sum * 0.5f + c[k];
        y[i] = sum;
    }
}
