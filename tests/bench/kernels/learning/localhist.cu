// Entropy of 64 symbols of 4 bits a thread, counted in a histogram of its own; symbol k of thread i is at [k / 8][i].
extern "C" __global__ void localhist(unsigned n, const unsigned *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned count[16];
    for (int k = 0; k < 16; k++)
        count[k] = 0;
    for (unsigned w = 0; w < 8; w++) {
        unsigned v = in[w * n + i];
        for (int k = 0; k < 8; k++)
            count[v >> 4 * k & 15]++;
    }
    unsigned squares = 0, most = 0;
    for (int k = 0; k < 16; k++) {
        squares += count[k] * count[k];
        most = max(most, count[k]);
    }
    out[i] = (float)squares / 4096.0f + (float)most;
}
