/* Samples of one texture for the lanes of a warp, by vectors: backend/semantics/texture_wide.h and
 * texture_filter_wide.h, for each number of texels, of a texel's words and kind of texel. */
#include "backend/interp/texture_wide.h"

#include "backend/interp/access.h"
#include "backend/semantics/texture_filter_wide.h"

#ifdef PT_WIDE

enum { WIDTHS = 4, COUNTS = 4 }; /* of a texel, in words; of texels, all as logarithms */

/* The first of each vector with lanes that are on. */
#define EACH_VECTOR(i, lanes)                                \
    for (uint32_t i = 0; i < PT_TEXTURE_LANES; i += PT_WIDE) \
        if ((lanes) >> (i) & ((1u << PT_WIDE) - 1))

/* ---- texels ---------------------------------------------------------------------------------- */

#define GATHER(n, words)                                                  \
    PT_ACCESS static __attribute__((noinline)) void gather_##n##_##words( \
        struct pt_texture_wide *w, uint32_t lanes)                        \
    {                                                                     \
        EACH_VECTOR(i, lanes) pt_texture_wide_gather(w, n, words, i);     \
    }
#define GATHERS(n) GATHER(n, 0) GATHER(n, 1) GATHER(n, 2) GATHER(n, 4)
#define ROW(n)                                                         \
    {                                                                  \
        gather_##n##_0, gather_##n##_1, gather_##n##_2, gather_##n##_4 \
    }

GATHERS(1)
GATHERS(2)
GATHERS(4)
GATHERS(8)

typedef void gatherer(struct pt_texture_wide *w, uint32_t lanes);

static gatherer *gatherer_of(const struct pt_texture_wide *w)
{
    static gatherer *const gather[COUNTS][WIDTHS] = {ROW(1), ROW(2), ROW(4), ROW(8)};
    uint32_t bytes = w->texture->texel_bytes;
    return gather[__builtin_ctz(w->n)][bytes < 4 ? 0 : __builtin_ctz(bytes) - 1];
}
#undef ROW

/* ---- results --------------------------------------------------------------------------------- */

typedef uint32_t filter(struct pt_texture_wide *w, struct pt_samples *s, uint32_t lanes);

#define FILTER(kind, n)                                                                  \
    static uint32_t filter_##kind##_##n(struct pt_texture_wide *w, struct pt_samples *s, \
                                        uint32_t lanes)                                  \
    {                                                                                    \
        uint32_t left = 0;                                                               \
        EACH_VECTOR(i, lanes)                                                            \
        left |= pt_texture_wide_filter_lanes(w, PT_TEXEL_##kind, n, i, s->result) << i;  \
        return left & lanes;                                                             \
    }
#define FILTERS(kind) FILTER(kind, 2) FILTER(kind, 4) FILTER(kind, 8)
#define ROW(kind) \
    [PT_TEXEL_##kind] = {take, filter_##kind##_2, filter_##kind##_4, filter_##kind##_8}
#define FLOATS(kind) [PT_TEXEL_##kind] = {take, filter_##kind##_2, filter_##kind##_4}
#define INTEGERS(kind) [PT_TEXEL_##kind] = {take}

FILTERS(UNORM8)
FILTERS(UNORM16)
FILTERS(SNORM8)
FILTERS(SNORM16)
FILTER(F16, 2)
FILTER(F16, 4)
FILTER(F32, 2)
FILTER(F32, 4)

static uint32_t take(struct pt_texture_wide *w, struct pt_samples *s, uint32_t lanes)
{
    EACH_VECTOR(i, lanes) pt_texture_wide_take(w, i, s->result);
    return 0;
}

uint32_t pt_texture_wide_sample(const struct pt_texture *t, struct pt_samples *s, uint32_t lanes)
{
    static filter *const filters[][COUNTS] = {
        INTEGERS(U8), INTEGERS(U16), INTEGERS(U32), INTEGERS(S8), INTEGERS(S16), INTEGERS(S32),
        FLOATS(F16),  FLOATS(F32),   ROW(UNORM8),   ROW(UNORM16), ROW(SNORM8),   ROW(SNORM16)};
    struct pt_texture_wide w;
    if (!pt_texture_wide_begin(&w, t, s->is_whole, s->coordinate, s->layer))
        return lanes;
    for (uint32_t k = t->n_channels; k < PT_TEXTURE_CHANNELS; k++)
        memset(s->result[k], 0, sizeof *s->result);
    gatherer *gather = gatherer_of(&w);
    gather(&w, lanes);
    return filters[t->texel][__builtin_ctz(w.n)](&w, s, lanes);
}

uint32_t pt_texture_wide_same(const uint64_t *handle, uint64_t of)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i += PT_WIDE / 2)
        same |= pt_wide_are_equal_64(*(const pt_wide *)(handle + i), pt_wide_all_64(of)) << i;
    return same;
}

#else

uint32_t pt_texture_wide_sample(const struct pt_texture *t, struct pt_samples *s, uint32_t lanes)
{
    (void)t, (void)s;
    return lanes;
}

uint32_t pt_texture_wide_same(const uint64_t *handle, uint64_t of)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
        same |= (uint32_t)(handle[i] == of) << i;
    return same;
}

#endif
