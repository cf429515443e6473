// Median of 5 x 5 by insertion sort in a local array.
extern "C" __global__ void median25(unsigned side, const float *in, float *out)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
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
