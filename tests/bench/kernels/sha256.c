/* as many hashes side by side as a vector has lanes (GNU vector types) */
#include "tests/bench/case.h"
#include "tests/bench/kernels/vector.h"
typedef uint32_t UINT __attribute__((vector_size(VECTOR_BYTES)));
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define ROUND(a, b, c, d, e, f, g, h, k, w)                                                        \
    do {                                                                                           \
        UINT t1 = h + (ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25)) + ((e & f) ^ (~e & g)) + (k) + (w); \
        UINT t2 = (ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));        \
        d += t1;                                                                                   \
        h = t1 + t2;                                                                               \
    } while (0)
#define EIGHT(i)                                                  \
    ROUND(a, b, c, d, e, f, g, h, K[t + i + 0], W[(i + 0) & 15]); \
    ROUND(h, a, b, c, d, e, f, g, K[t + i + 1], W[(i + 1) & 15]); \
    ROUND(g, h, a, b, c, d, e, f, K[t + i + 2], W[(i + 2) & 15]); \
    ROUND(f, g, h, a, b, c, d, e, K[t + i + 3], W[(i + 3) & 15]); \
    ROUND(e, f, g, h, a, b, c, d, K[t + i + 4], W[(i + 4) & 15]); \
    ROUND(d, e, f, g, h, a, b, c, K[t + i + 5], W[(i + 5) & 15]); \
    ROUND(c, d, e, f, g, h, a, b, K[t + i + 6], W[(i + 6) & 15]); \
    ROUND(b, c, d, e, f, g, h, a, K[t + i + 7], W[(i + 7) & 15])
#define SIG0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ ((x) >> 3))
#define SIG1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ ((x) >> 10))
static const uint32_t K[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};
void omp_sha256(struct bench_case *c)
{
    uint32_t n = c->size, seed = c->launch[0].argument[1].u;
    uint32_t *restrict out = U(c, 0);
#pragma omp parallel for schedule(static)
    for (uint32_t i0 = 0; i0 < n; i0 += LANES) {
        UINT lane;
        for (uint32_t l = 0; l < LANES; l++)
            lane[l] = l;
        UINT W[16], base = seed + (i0 + lane) * 0x9E3779B9u, Z = lane ^ lane;
#pragma GCC unroll 16
        for (int j = 0; j < 16; j++)
            W[j] = base ^ ((uint32_t)j * 0x85EBCA6Bu);
        UINT a = Z + 0x6a09e667u, b = Z + 0xbb67ae85u, c = Z + 0x3c6ef372u, d = Z + 0xa54ff53au;
        UINT e = Z + 0x510e527fu, f = Z + 0x9b05688cu, g = Z + 0x1f83d9abu, h = Z + 0x5be0cd19u;
#pragma GCC unroll 1
        for (int t = 0; t < 64; t += 16) {
            if (t)
#pragma GCC unroll 16
                for (int j = 0; j < 16; j++)
                    W[j] += SIG0(W[(j + 1) & 15]) + W[(j + 9) & 15] + SIG1(W[(j + 14) & 15]);
            EIGHT(0);
            EIGHT(8);
        }
        UINT v = (a + 0x6a09e667u) ^ (b + 0xbb67ae85u) ^ (c + 0x3c6ef372u) ^ (d + 0xa54ff53au) ^
                 (e + 0x510e527fu) ^ (f + 0x9b05688cu) ^ (g + 0x1f83d9abu) ^ (h + 0x5be0cd19u);
        for (uint32_t l = 0; l < LANES && i0 + l < n; l++)
            out[i0 + l] = v[l];
    }
}
