// Points of a balanced tree within a distance: each thread walks with a stack of its own.
__kernel void treewalk(uint n, uint nodes, float radius, __global const float4 *tree, __global const float2 *query, __global uint *out)
{
    uint i = get_global_id(0);
    if (i >= n)
        return;
    uint stack[24], top = 0, found = 0;
    float2 p = query[i];
    stack[top++] = 0;
    while (top) {
        uint k = stack[--top];
        float4 t = tree[k]; // x, y, axis
        float dx = p.x - t.x, dy = p.y - t.y;
        found += dx * dx + dy * dy <= radius * radius;
        float d = t.z == 0 ? dx : dy;
        uint left = 2 * k + 1;
        if (left < nodes && d <= radius)
            stack[top++] = left;
        if (left + 1 < nodes && d >= -radius)
            stack[top++] = left + 1;
    }
    out[i] = found;
}
