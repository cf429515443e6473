__kernel void tiny(uint n, float a, __global float *x)
{
    uint i = get_global_id(0);
    if (i < n) {
        float v = x[i];
        x[i] = ((0.01f * v - 0.02f) * v + 0.9f) * v + a;
    }
}
