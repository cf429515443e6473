/* What the cache knows a compiled object by. */
#ifndef PTERA_BACKEND_JIT_OBJECT_CACHE_KEY_H
#define PTERA_BACKEND_JIT_OBJECT_CACHE_KEY_H

#include <stddef.h>

#include <stdbool.h>
#include <stdint.h>

struct jit_key {
    uint8_t hash[32];
};

/* Of the object that a snapshot becomes; `cpu` is the one that code is tuned for, `features` what
 * code may use beside what the level has. False if this compiler cannot tell itself from others:
 * then there is no key. */
bool jit_cache_key_make(const uint8_t *snapshot, size_t n, const char *cpu, const char *features,
                        struct jit_key *key);

#endif
