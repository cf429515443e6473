// Powers in a local array, and their sum from the last to the first.
__kernel void debug(uint n, __global const float *x, __global float *y)
{
    uint i = get_global_id(0);
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
