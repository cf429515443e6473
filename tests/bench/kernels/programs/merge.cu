/* two sorted halves into one: a CTA's 2,048 results begin on a diagonal of the merge path, those of
 * each thread on one of the CTA's */
extern "C" __global__ void __launch_bounds__(256)
merge(unsigned n, const unsigned *__restrict__ a, const unsigned *__restrict__ b,
      unsigned *__restrict__ out)
{
    __shared__ unsigned s[2048], ends[2];
    unsigned t = threadIdx.x, first = blockIdx.x * 2048;
    if (t < 2) {
        unsigned d = first + t * 2048, low = d > n ? d - n : 0, high = d < n ? d : n;
        while (low < high) {
            unsigned mid = (low + high) / 2;
            if (a[mid] <= b[d - 1 - mid])
                low = mid + 1;
            else
                high = mid;
        }
        ends[t] = low;
    }
    __syncthreads();
    unsigned a0 = ends[0], na = ends[1] - a0, b0 = first - a0, nb = 2048 - na;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned k = i * 256 + t;
        s[k] = k < na ? a[a0 + k] : b[b0 + k - na];
    }
    __syncthreads();
    unsigned d = t * 8, low = d > nb ? d - nb : 0, high = d < na ? d : na;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (s[mid] <= s[na + d - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    unsigned i = low, j = d - low, v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        bool from_a = j >= nb || (i < na && s[i] <= s[na + j]);
        v[k] = from_a ? s[i++] : s[na + j++];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        s[d + k] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[first + k * 256 + t] = s[k * 256 + t];
}
