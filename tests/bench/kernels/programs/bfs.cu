/* a level of a breadth-first search: a thread for each vertex of the frontier */
extern "C" __global__ void
bfs(unsigned level, const unsigned *__restrict__ row, const unsigned *__restrict__ column,
    unsigned *depth, const unsigned *frontier, unsigned *next, unsigned *count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count[level])
        return;
    unsigned v = frontier[i], end = row[v + 1];
    for (unsigned e = row[v]; e < end; e++) {
        unsigned w = column[e];
        if (depth[w] == ~0u && atomicCAS(&depth[w], ~0u, level + 1) == ~0u)
            next[atomicAdd(&count[level + 1], 1)] = w;
    }
}
