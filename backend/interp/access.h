/* How handlers touch kernel memory: the section their code lies in.
 *
 * A fault in this code is the kernel's: the runtime's signal handler tests the program counter
 * against the section and jumps out of the warp. So nothing here may hold a resource, call a
 * library function on kernel memory, or write a register before all lanes are read. state->code
 * names the code that runs.
 */
#ifndef PTERA_BACKEND_INTERP_ACCESS_H
#define PTERA_BACKEND_INTERP_ACCESS_H

#include "backend/interp/state.h"

/* This code alone is hidden from the sanitizers: a kernel may touch any address, and its races are
 * its own. */
#if defined(__clang__)
#define PT_ACCESS                                                                       \
    __attribute__((section("pt_access"), no_sanitize("address", "undefined", "thread"), \
                   no_builtin("memcpy", "memset")))
#define PT_ACCESS_INLINE \
    static inline __attribute__((always_inline, no_sanitize("address", "undefined", "thread")))
#else
#define PT_ACCESS                                                                       \
    __attribute__((section("pt_access"), no_sanitize("address", "undefined", "thread"), \
                   optimize("no-tree-loop-distribute-patterns")))
#define PT_ACCESS_INLINE                                                                       \
    static inline __attribute__((always_inline, no_sanitize("address", "undefined", "thread"), \
                                 optimize("no-tree-loop-distribute-patterns")))
#endif

#define PT_ACCESS_HANDLER(name) \
    PT_ACCESS static const struct pt_code *name(const struct pt_code *c, struct pt_frame *f)

/* The same of what few accesses need: out of line, so that the others save and restore nothing. */
#define PT_ACCESS_COLD_HANDLER(name)                            \
    PT_ACCESS __attribute__((noinline)) static const struct pt_code *name(const struct pt_code *c, \
                                                                          struct pt_frame *f)

/* A piece of kernel memory at any address: assigned, it is moved in place, where memcpy might be
 * called. */
struct pt_piece16 {
    uint64_t part[2];
} __attribute__((packed, may_alias));

PT_ACCESS_INLINE void pt_copy16(void *to, const void *from)
{
    *(struct pt_piece16 *)to = *(const struct pt_piece16 *)from;
}

/* `bytes` is 32 or 64. With AVX2 in whole vectors, which the reader then finds forwarded. */
#if defined(__AVX2__)
PT_ACCESS_INLINE void pt_copy32(void *to, const void *from, size_t bytes)
{
    const char *source = from;
    for (size_t at = 0; at < bytes; at += 32)
        _mm256_storeu_si256((__m256i *)((char *)to + at),
                            _mm256_loadu_si256((const __m256i *)(source + at)));
}
#else
PT_ACCESS_INLINE void pt_copy32(void *to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 16)
        pt_copy16((char *)to + at, (const char *)from + at);
}
#endif

#endif
