/* Hashes, ciphers, random numbers, big integers, bit tricks. */
#include <stdint.h>
__constant__ uint32_t table[1024];
__device__ uint32_t rotl(uint32_t x, int n) { return __funnelshift_l(x, x, n); }

template <int ROUNDS, int PER> __global__ void sha256(const uint32_t *in, uint32_t *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int p = 0; p < PER; p++) {
        uint32_t w[16], s[8];
#pragma unroll
        for (int i = 0; i < 16; i++) w[i] = in[i * gridDim.x * blockDim.x + t];
#pragma unroll
        for (int i = 0; i < 8; i++) s[i] = table[64 + i];
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            uint32_t S1 = rotl(s[4], 26) ^ rotl(s[4], 21) ^ rotl(s[4], 7), ch = (s[4] & s[5]) ^ (~s[4] & s[6]);
            uint32_t t1 = s[7] + S1 + ch + table[i] + w[i % 16];
            uint32_t S0 = rotl(s[0], 30) ^ rotl(s[0], 19) ^ rotl(s[0], 10), maj = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            uint32_t t2 = S0 + maj, a = w[(i + 1) % 16], b = w[(i + 14) % 16];
            w[i % 16] += (rotl(a, 25) ^ rotl(a, 14) ^ a >> 3) + w[(i + 9) % 16] + (rotl(b, 15) ^ rotl(b, 13) ^ b >> 10);
            s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t1; s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t1 + t2;
        }
#pragma unroll
        for (int i = 0; i < 8; i++) out[i * gridDim.x * blockDim.x + t] += s[i];
    }
}

template <int ROUNDS, int BLOCKS> __global__ void chacha(const uint32_t *key, uint32_t *out, uint32_t nonce)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < BLOCKS; k++) {
        uint32_t x[16], y[16];
#pragma unroll
        for (int i = 0; i < 16; i++) x[i] = y[i] = i < 4 ? 0x61707865 + i : i < 12 ? key[i - 4] : i == 12 ? t * BLOCKS + k : nonce;
#define Q(a, b, c, d) x[a] += x[b]; x[d] = rotl(x[d] ^ x[a], 16); x[c] += x[d]; x[b] = rotl(x[b] ^ x[c], 12); \
    x[a] += x[b]; x[d] = rotl(x[d] ^ x[a], 8); x[c] += x[d]; x[b] = rotl(x[b] ^ x[c], 7);
#pragma unroll
        for (int r = 0; r < ROUNDS; r += 2) {
            Q(0, 4, 8, 12) Q(1, 5, 9, 13) Q(2, 6, 10, 14) Q(3, 7, 11, 15)
            Q(0, 5, 10, 15) Q(1, 6, 11, 12) Q(2, 7, 8, 13) Q(3, 4, 9, 14)
        }
#pragma unroll
        for (int i = 0; i < 16; i++) out[(t * BLOCKS + k) * 16 + i] = x[i] + y[i];
    }
}

template <int N> __global__ void philox(float *out, uint32_t seed, int n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < N; k++) {
        uint32_t c0 = i, c1 = k, c2 = 0, c3 = 0, k0 = seed, k1 = ~seed;
#pragma unroll
        for (int r = 0; r < 10; r++) {
            uint32_t h0 = __umulhi(0xD2511F53, c0), h1 = __umulhi(0xCD9E8D57, c2), l0 = 0xD2511F53 * c0, l1 = 0xCD9E8D57 * c2;
            c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
            k0 += 0x9E3779B9; k1 += 0xBB67AE85;
        }
        if (i < n) {
            float u = (c0 + 1.0f) * 2.3283064e-10f, v = c1 * 1.4629180792671596e-9f, r = sqrtf(-2 * logf(u)), s, c;
            sincosf(v, &s, &c);
            out[(i * N + k) * 2] = r * s;
            out[(i * N + k) * 2 + 1] = r * c;
        }
    }
}

/* Products modulo a number of N words (Montgomery). */
template <int N> __global__ void montgomery(const uint32_t *a, const uint32_t *b, const uint32_t *m, uint32_t *out, uint32_t inv)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    uint32_t x[N], r[N + 2] = {};
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = a[i * stride + t];
#pragma unroll
    for (int i = 0; i < N; i++) {
        uint64_t c = 0;
        uint32_t y = b[i * stride + t];
#pragma unroll
        for (int j = 0; j < N; j++) { c += (uint64_t)x[j] * y + r[j]; r[j] = (uint32_t)c; c >>= 32; }
        c += r[N]; r[N] = (uint32_t)c; r[N + 1] = (uint32_t)(c >> 32);
        uint32_t q = r[0] * inv;
        c = (uint64_t)q * m[0] + r[0];
#pragma unroll
        for (int j = 1; j < N; j++) { c = (c >> 32) + (uint64_t)q * m[j] + r[j]; r[j - 1] = (uint32_t)c; }
        c = (c >> 32) + r[N]; r[N - 1] = (uint32_t)c; r[N] = r[N + 1] + (uint32_t)(c >> 32);
    }
#pragma unroll
    for (int i = 0; i < N; i++) out[i * stride + t] = r[i];
}

template <int STEPS> __global__ void murmur(const uint8_t *text, const int *at, uint64_t *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    uint64_t h = 0x9368e53c2f6af274ULL;
    for (int i = at[t]; i + STEPS <= at[t + 1]; i += STEPS)
#pragma unroll
        for (int k = 0; k < STEPS; k++) { h ^= text[i + k]; h *= 0x100000001b3ULL; h ^= h >> 29; }
    out[t] = h ^ h >> 32;
}

template <int W> __global__ void levenshtein(const uint32_t *a, const uint32_t *b, int *out, int len)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int row[W + 1];
#pragma unroll
    for (int j = 0; j <= W; j++) row[j] = j;
    for (int i = 0; i < len; i++) {
        int diagonal = row[0]++;
        uint32_t c = a[t * len + i];
#pragma unroll
        for (int j = 1; j <= W; j++) {
            int up = row[j];
            row[j] = min(min(up, row[j - 1]) + 1, diagonal + (c != b[t * W + j - 1]));
            diagonal = up;
        }
    }
    out[t] = row[W];
}

#define H(R, P) template __global__ void sha256<R, P>(const uint32_t *, uint32_t *);
#define C(R, B) template __global__ void chacha<R, B>(const uint32_t *, uint32_t *, uint32_t);
#define M(N) template __global__ void montgomery<N>(const uint32_t *, const uint32_t *, const uint32_t *, uint32_t *, uint32_t);
#define X(N) template __global__ void philox<N>(float *, uint32_t, int);
#define U(N) template __global__ void murmur<N>(const uint8_t *, const int *, uint64_t *, int);
#define L(N) template __global__ void levenshtein<N>(const uint32_t *, const uint32_t *, int *, int);
H(16, 1) H(64, 1) H(32, 2) H(48, 1) C(8, 1) C(12, 1) C(20, 1) C(20, 2) C(8, 4)
M(2) M(3) M(4) M(5) M(6) M(8) M(10) M(12) M(16) X(1) X(2) X(4) U(1) U(2) U(4) U(8) U(16)
L(4) L(8) L(12) L(16) L(24) L(32) L(48) L(64)
