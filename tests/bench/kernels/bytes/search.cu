extern "C" __global__ void search(unsigned n, unsigned length, const unsigned char *__restrict__ text,
                                       const unsigned char *__restrict__ pattern, unsigned char *__restrict__ found)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = 0;
    while (k < length && text[i + k] == pattern[k]) k++;
    found[i] = k == length;
}
