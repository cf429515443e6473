/* a level of a breadth-first search: a work-item for each vertex of the frontier */
__kernel void
bfs(uint level, __global const uint *restrict row, __global const uint *restrict column,
    __global uint *depth, __global const uint *frontier, __global uint *next, __global uint *count)
{
    uint i = get_global_id(0);
    if (i >= count[level])
        return;
    uint v = frontier[i], end = row[v + 1];
    for (uint e = row[v]; e < end; e++) {
        uint w = column[e];
        if (depth[w] == ~0u && atomic_cmpxchg(&depth[w], ~0u, level + 1) == ~0u)
            next[atomic_add(&count[level + 1], 1)] = w;
    }
}
