// Median of 5 x 5 by insertion sort in a local array.
__kernel void median25(uint side, __global const float *in, __global float *out)
{
    uint x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 8 + get_local_id(1);
    float v[25];
    int n = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++) {
            float a = in[(y + dy) * (side + 4) + x + dx];
            int i = n++;
            while (i > 0 && v[i - 1] > a) {
                v[i] = v[i - 1];
                i--;
            }
            v[i] = a;
        }
    out[y * side + x] = v[12];
}
