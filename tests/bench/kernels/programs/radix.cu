/* a pass of a radix sort by eight bits: counts of each CTA's 2,048 keys, their sums, keys to their
 * places; a warp ranks equal digits by match */
extern "C" __global__ void __launch_bounds__(256)
radix_count(unsigned shift, const unsigned *__restrict__ keys, unsigned *__restrict__ counts)
{
    __shared__ unsigned count[256];
    unsigned t = threadIdx.x;
    count[t] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        atomicAdd(&count[keys[blockIdx.x * 2048 + i * 256 + t] >> shift & 255], 1);
    __syncthreads();
    counts[t * gridDim.x + blockIdx.x] = count[t];
}
/* exclusive, by one CTA */
extern "C" __global__ void __launch_bounds__(256) radix_scan(unsigned n, unsigned *counts)
{
    __shared__ unsigned sums[8];
    __shared__ unsigned total;
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, before = 0;
    for (unsigned base = 0; base < n; base += 256) {
        unsigned own = base + t < n ? counts[base + t] : 0, v = own;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            unsigned u = __shfl_up_sync(~0u, v, d);
            if (lane >= d)
                v += u;
        }
        if (lane == 31)
            sums[warp] = v;
        __syncthreads();
        if (t == 0) {
            unsigned sum = 0;
            for (int w = 0; w < 8; w++) {
                unsigned s = sums[w];
                sums[w] = sum;
                sum += s;
            }
            total = sum;
        }
        __syncthreads();
        if (base + t < n)
            counts[base + t] = before + sums[warp] + v - own;
        before += total;
        __syncthreads();
    }
}
extern "C" __global__ void __launch_bounds__(256)
radix_place(unsigned shift, const unsigned *__restrict__ keys, const unsigned *__restrict__ counts,
            unsigned *__restrict__ out)
{
    __shared__ unsigned count[8][256];
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, key[8], rank[8];
#pragma unroll
    for (int w = 0; w < 8; w++)
        count[w][t] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) {
        key[i] = keys[blockIdx.x * 2048 + warp * 256 + i * 32 + lane];
        unsigned digit = key[i] >> shift & 255, same = __match_any_sync(~0u, digit);
        unsigned old = count[warp][digit];
        __syncwarp();
        rank[i] = old + __popc(same & ((1u << lane) - 1));
        if (lane == 31 - __clz(same))
            count[warp][digit] = old + __popc(same);
        __syncwarp();
    }
    __syncthreads();
    unsigned at = counts[t * gridDim.x + blockIdx.x];
#pragma unroll
    for (int w = 0; w < 8; w++) {
        unsigned n = count[w][t];
        count[w][t] = at;
        at += n;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[count[warp][key[i] >> shift & 255] + rank[i]] = key[i];
}
