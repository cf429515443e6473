/* SHA-256: names of cached objects, and whether they are whole. */
#ifndef PTERA_BACKEND_JIT_SHA256_H
#define PTERA_BACKEND_JIT_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t buffer[64];
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_end(struct sha256 *s, uint8_t hash[32]);

#endif
