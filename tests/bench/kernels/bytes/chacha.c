#include "tests/bench/case.h"
#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define QR(a, b, c, d)                                                                \
    a += b, d ^= a, d = ROTL(d, 16), c += d, b ^= c, b = ROTL(b, 12), a += b, d ^= a, \
                    d = ROTL(d, 8), c += d, b ^= c, b = ROTL(b, 7)
void omp_chacha(struct bench_case *c)
{
    uint32_t n = c->launch[0].argument[0].u;
    const uint32_t *restrict key = U(c, 0);
    uint32_t *restrict data = U(c, 1);
    uint32_t k0 = key[0], k1 = key[1], k2 = key[2], k3 = key[3], k4 = key[4], k5 = key[5],
             k6 = key[6], k7 = key[7];
#pragma omp parallel for simd schedule(static)
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x0 = 0x61707865, x1 = 0x3320646e, x2 = 0x79622d32, x3 = 0x6b206574, x4 = k0,
                 x5 = k1, x6 = k2, x7 = k3, x8 = k4, x9 = k5, x10 = k6, x11 = k7, x12 = i, x13 = 0,
                 x14 = 0x4a000000, x15 = 7;
#pragma GCC unroll 10
        for (int r = 0; r < 10; r++) {
            QR(x0, x4, x8, x12);
            QR(x1, x5, x9, x13);
            QR(x2, x6, x10, x14);
            QR(x3, x7, x11, x15);
            QR(x0, x5, x10, x15);
            QR(x1, x6, x11, x12);
            QR(x2, x7, x8, x13);
            QR(x3, x4, x9, x14);
        }
        uint32_t *d = data + 16 * (size_t)i;
        d[0] ^= x0 + 0x61707865, d[1] ^= x1 + 0x3320646e, d[2] ^= x2 + 0x79622d32,
            d[3] ^= x3 + 0x6b206574;
        d[4] ^= x4 + k0, d[5] ^= x5 + k1, d[6] ^= x6 + k2, d[7] ^= x7 + k3;
        d[8] ^= x8 + k4, d[9] ^= x9 + k5, d[10] ^= x10 + k6, d[11] ^= x11 + k7;
        d[12] ^= x12 + i, d[13] ^= x13, d[14] ^= x14 + 0x4a000000, d[15] ^= x15 + 7;
    }
}
