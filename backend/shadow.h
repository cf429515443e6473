/* Which bytes of memory hold no value: a byte of shadow for each, in pages that are made where
 * there is one. Kernels that race make their shadow race, too: it is theirs, like the memory. */
#ifndef PTERA_BACKEND_SHADOW_H
#define PTERA_BACKEND_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ir/arena.h"

enum {
    PT_SHADOW_DEFINED = 0,
    PT_SHADOW_STORED = 0x7f,   /* a value was stored that was made of none */
    PT_SHADOW_UNWRITTEN = 0xff /* never written */
};

/* Addresses of 47 bits: 17 choose a leaf, 18 its page, 12 the byte. */
enum { PT_SHADOW_PAGE = 12, PT_SHADOW_LEAF = 18, PT_SHADOW_TOP = 17 };

struct pt_shadow_leaf {
    _Atomic(uint8_t *) pages[1 << PT_SHADOW_LEAF];
};

struct pt_shadow {
    const struct pt_allocator *allocator;
    _Atomic(struct pt_shadow_leaf *) leaves[1 << PT_SHADOW_TOP];
};

#define PT_SHADOW_INLINE static inline __attribute__((no_sanitize("thread")))

/* NULL: no memory. Freed by whoever made it, with pt_shadow_free. */
PT_SHADOW_INLINE struct pt_shadow *pt_shadow_new(const struct pt_allocator *allocator)
{
    struct pt_shadow *s = allocator->resize(allocator->ud, NULL, sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->allocator = allocator;
    return s;
}

PT_SHADOW_INLINE void pt_shadow_free(struct pt_shadow *s)
{
    for (uint32_t i = 0; s && i < 1u << PT_SHADOW_TOP; i++) {
        struct pt_shadow_leaf *leaf = s->leaves[i];
        for (uint32_t k = 0; leaf && k < 1u << PT_SHADOW_LEAF; k++)
            if (leaf->pages[k])
                s->allocator->resize(s->allocator->ud, leaf->pages[k], 0);
        if (leaf)
            s->allocator->resize(s->allocator->ud, leaf, 0);
    }
    if (s)
        s->allocator->resize(s->allocator->ud, s, 0);
}

/* Zeroed memory in `*place`, which others may fill at the same time. NULL: there is none. */
PT_SHADOW_INLINE void *pt_shadow_fill(const struct pt_shadow *s, _Atomic(void *) *place,
                                      size_t bytes)
{
    void *p = s->allocator->resize(s->allocator->ud, NULL, bytes), *other = NULL;
    if (!p)
        return NULL;
    memset(p, 0, bytes);
    if (atomic_compare_exchange_strong(place, &other, p))
        return p;
    s->allocator->resize(s->allocator->ud, p, 0);
    return other;
}

/* The shadow of the page of an address; NULL: all of it is defined, or, if it is to be made, there
 * is no memory. */
PT_SHADOW_INLINE uint8_t *pt_shadow_page(struct pt_shadow *s, uint64_t address, bool is_made)
{
    uint64_t top = address >> (PT_SHADOW_PAGE + PT_SHADOW_LEAF);
    if (top >> PT_SHADOW_TOP)
        return NULL;
    struct pt_shadow_leaf *leaf = atomic_load_explicit(&s->leaves[top], memory_order_acquire);
    if (!leaf && is_made)
        leaf = pt_shadow_fill(s, (_Atomic(void *) *)&s->leaves[top], sizeof *leaf);
    if (!leaf)
        return NULL;
    _Atomic(uint8_t *) *page =
        &leaf->pages[address >> PT_SHADOW_PAGE & ((1u << PT_SHADOW_LEAF) - 1)];
    uint8_t *p = atomic_load_explicit(page, memory_order_acquire);
    if (!p && is_made)
        p = pt_shadow_fill(s, (_Atomic(void *) *)page, (size_t)1 << PT_SHADOW_PAGE);
    return p;
}

/* Bytes of a range from `address` on that lie in one page. */
PT_SHADOW_INLINE uint64_t pt_shadow_stretch(uint64_t address, uint64_t bytes)
{
    uint64_t left = (UINT64_C(1) << PT_SHADOW_PAGE) - (address & ((1u << PT_SHADOW_PAGE) - 1));
    return bytes < left ? bytes : left;
}

/* False: all of a range is defined. A few bytes around it count as well. */
PT_SHADOW_INLINE bool pt_shadow_any(struct pt_shadow *s, uint64_t address, uint64_t bytes)
{
    uint64_t any = 0, end = (address + bytes + 7) & ~UINT64_C(7);
    for (uint64_t n, at = address & ~UINT64_C(7); at < end; at += n) {
        const uint8_t *page = pt_shadow_page(s, at, false);
        n = pt_shadow_stretch(at, end - at);
        uint64_t first = at & ((1u << PT_SHADOW_PAGE) - 1);
        for (uint64_t i = 0; page && i < n; i += 8) {
            uint64_t eight;
            memcpy(&eight, page + first + i, 8);
            any |= eight;
        }
    }
    return any;
}

PT_SHADOW_INLINE void pt_shadow_set(struct pt_shadow *s, uint64_t address, uint64_t bytes,
                                    uint8_t value)
{
    for (uint64_t n; bytes; address += n, bytes -= n) {
        uint8_t *page = pt_shadow_page(s, address, value != PT_SHADOW_DEFINED);
        n = pt_shadow_stretch(address, bytes);
        if (page)
            memset(page + (address & ((1u << PT_SHADOW_PAGE) - 1)), value, n);
    }
}

/* The shadow of up to 64 bytes. False: all of them are defined. */
PT_SHADOW_INLINE bool pt_shadow_get(struct pt_shadow *s, uint64_t address, uint64_t bytes,
                                    uint8_t *values)
{
    uint8_t any = 0;
    for (uint64_t n, at = 0; at < bytes; at += n) {
        const uint8_t *page = pt_shadow_page(s, address + at, false);
        n = pt_shadow_stretch(address + at, bytes - at);
        for (uint64_t i = 0; i < n; i++) {
            values[at + i] = page ? page[((address + at) & ((1u << PT_SHADOW_PAGE) - 1)) + i] : 0;
            any |= values[at + i];
        }
    }
    return any;
}

/* A copy of memory is one of its shadow. */
PT_SHADOW_INLINE void pt_shadow_copy(struct pt_shadow *s, uint64_t to, uint64_t from,
                                     uint64_t bytes)
{
    uint8_t values[64];
    for (uint64_t n; bytes; to += n, from += n, bytes -= n) {
        n = bytes < sizeof values ? bytes : sizeof values;
        if (!pt_shadow_get(s, from, n, values)) {
            pt_shadow_set(s, to, n, PT_SHADOW_DEFINED);
            continue;
        }
        for (uint64_t i = 0; i < n; i++)
            pt_shadow_set(s, to + i, 1, values[i]);
    }
}

#endif
