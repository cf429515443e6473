#include "backend/semantics/surface.h"

#include <string.h>

#include "backend/semantics/half.h"

enum { LAYER_MASK = 0xffff };

static uint64_t clamp(int64_t i, uint64_t last)
{
    return i < 0 ? 0 : (uint64_t)i > last ? last : (uint64_t)i;
}

/* Moves x, y or z inside, to at most `last`; false: it is outside. */
static bool is_inside(int64_t i, uint64_t last, bool is_clamped, uint64_t *inside)
{
    *inside = clamp(i, last);
    return is_clamped || *inside == (uint64_t)i;
}

static uint64_t last_of(uint32_t size)
{
    return size ? size - 1 : 0;
}

/* Whether the instruction is for surfaces of these dimensions. */
static bool is_fitting(const struct pt_surface *s, const struct pt_surface_access *access)
{
    bool has_rows = s->size[1] != 0, has_depth = s->size[2] && !s->is_layered;
    return (access->axes > 1) == has_rows && (access->axes < 3 || has_depth);
}

uint64_t pt_surface_locate(const struct pt_surface *s, const struct pt_surface_access *access,
                           const uint32_t *coordinate, uint32_t layer)
{
    uint64_t row = (uint64_t)s->size[0] * s->texel_bytes, x, y = 0, z = 0;
    uint32_t bytes = access->bytes ? access->bytes : s->texel_bytes;
    int64_t unit = access->unit ? access->unit : s->texel_bytes;
    if (!bytes || row < bytes || !is_fitting(s, access))
        return 0;
    bool is_clamped = access->is_clamped;
    uint64_t last = is_clamped ? (row / bytes - 1) * bytes : row - bytes;
    bool is_within = is_inside((int32_t)coordinate[0] * unit, last, is_clamped, &x);
    if (access->axes > 1)
        is_within &= is_inside((int32_t)coordinate[1], last_of(s->size[1]), is_clamped, &y);
    if (access->is_layered && s->is_layered)
        is_within &= is_inside(layer & LAYER_MASK, last_of(s->size[2]), is_clamped, &z);
    else if (access->axes > 2)
        is_within &= is_inside((int32_t)coordinate[2], last_of(s->size[2]), is_clamped, &z);
    return is_within ? s->texels + z * s->slice + y * s->pitch + x : 0;
}

/* A NaN keeps the upper bits of its payload; where those are 0, it gets 1. */
static uint32_t half_of(uint32_t f32)
{
    uint32_t magnitude = f32 & 0x7fffffff, payload = f32 >> 13 & 0x3ff;
    return magnitude > 0x7f800000 ? (f32 >> 16 & 0x8000) | 0x7c00 | (payload ? payload : 1)
                                  : pt_half_from_f32(f32, PT_F16, PT_RZ);
}

static uint32_t saturated(uint32_t word, int32_t least, int32_t most)
{
    int32_t i = (int32_t)word;
    return (uint32_t)(i < least ? least : i > most ? most : i);
}

static uint32_t channel_of(enum pt_texel texel, uint32_t word)
{
    switch (texel) {
    case PT_TEXEL_U8:
        return word < UINT8_MAX ? word : UINT8_MAX;
    case PT_TEXEL_U16:
        return word < UINT16_MAX ? word : UINT16_MAX;
    case PT_TEXEL_S8:
        return saturated(word, INT8_MIN, INT8_MAX);
    case PT_TEXEL_S16:
        return saturated(word, INT16_MIN, INT16_MAX);
    case PT_TEXEL_F16:
        return half_of(word);
    default:
        return word;
    }
}

void pt_surface_convert(const struct pt_surface *s, const uint32_t *words, uint32_t n,
                        uint32_t *texel)
{
    uint32_t bytes = s->texel_bytes / s->n_channels;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        uint32_t bits = i < n ? channel_of((enum pt_texel)s->texel, words[i]) : 0;
        memcpy((uint8_t *)texel + i * bytes, &bits, bytes);
    }
}
