// Points of a balanced tree within a distance: each thread walks with a stack of its own.
extern "C" __global__ void treewalk(unsigned n, unsigned nodes, float radius, const float4 *tree, const float2 *query, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned stack[24], top = 0, found = 0;
    float2 p = query[i];
    stack[top++] = 0;
    while (top) {
        unsigned k = stack[--top];
        float4 t = tree[k]; // x, y, axis
        float dx = p.x - t.x, dy = p.y - t.y;
        found += dx * dx + dy * dy <= radius * radius;
        float d = t.z == 0 ? dx : dy;
        unsigned left = 2 * k + 1;
        if (left < nodes && d <= radius)
            stack[top++] = left;
        if (left + 1 < nodes && d >= -radius)
            stack[top++] = left + 1;
    }
    out[i] = found;
}
