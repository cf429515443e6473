/* a step: what each page gives to those it links to, then what each gets */
extern "C" __global__ void
pagerank_give(unsigned n, const float *__restrict__ rank, const float *__restrict__ share,
              float *__restrict__ gives)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gives[i] = rank[i] * share[i];
}
extern "C" __global__ void
pagerank_get(unsigned n, float base, float damping, const unsigned *__restrict__ row,
             const unsigned *__restrict__ from, const float *__restrict__ gives,
             float *__restrict__ rank)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (unsigned e = row[i]; e < row[i + 1]; e++)
        sum += gives[from[e]];
    rank[i] = base + damping * sum;
}
