// The other file of rdc.cu.
__device__ int offset = 1000;
__constant__ int factors[2] = {10, 20};

__device__ int scale(int v)
{
    return 3 * v;
}

static __global__ void other(int *out)
{
    out[threadIdx.x] = scale(threadIdx.x) + 2 * offset;
}

void run_other(int *out)
{
    other<<<1, 32>>>(out);
}
