/* Samples without a filter, in two dimensions, of one texture for all lanes, whose texels are a
 * word, by normalised coordinates. There a sample takes so little that what texture_wide.c does for
 * every kind of texture, from one step to the next through memory, would be most of the time. */
#include "backend/interp/texture_point.h"

#include "backend/interp/access.h"
#include "backend/semantics/texture_filter_wide.h"

#ifdef PT_WIDE

/* Words as they are, or four bytes as fractions. */
PT_ACCESS_INLINE bool is_word(const struct pt_texture *t)
{
    bool is_whole =
        t->texel == PT_TEXEL_F32 || t->texel == PT_TEXEL_U32 || t->texel == PT_TEXEL_S32;
    return is_whole ? t->n_channels == 1 : t->texel == PT_TEXEL_UNORM8 && t->n_channels == 4;
}

PT_ACCESS_INLINE bool is_known(const struct pt_texture *t)
{
    return t->axes == 2 && !t->layers && !t->is_linear && t->is_normalized &&
           t->address[0] == t->address[1] && is_word(t) && pt_texture_wide_is_known(t, false) &&
           pt_texture_wide_is_small(t);
}

PT_ACCESS_INLINE pt_wide index_of(const struct pt_texture_wide_axis *a, const uint32_t *coordinate)
{
    pt_wide bits = PT_TEXTURE_WIDE_CONST(coordinate);
    return pt_texture_wide_index(a, pt_texture_wide_position(a, false, bits));
}

PT_ACCESS_INLINE void put(const struct pt_texture *t, struct pt_sampled *s, uint32_t i, pt_wide v)
{
    bool is_bytes = t->texel == PT_TEXEL_UNORM8;
    PT_TEXTURE_UNROLL for (uint32_t k = 0; k < PT_TEXTURE_CHANNELS; k++)
    {
        pt_wide one = is_bytes ? pt_texture_wide_ratio(v >> 8 * k & 0xff, 255)
                      : k      ? (pt_wide){0}
                               : v;
        PT_TEXTURE_WIDE(s->result[k] + i) = one;
    }
}

/* Lanes that are off have some place in the texture, too. */
PT_ACCESS_INLINE void sample(const struct pt_texture *t, struct pt_sampled *s, uint32_t lanes,
                             enum pt_texture_address mode)
{
    int bits = pt_texture_fraction_bits(t);
    const struct pt_texture_wide_axis x = {t->size[0], mode, true, bits},
                                      y = {t->size[1], mode, true, bits};
    for (uint32_t i = 0; i < PT_WARP_SIZE; i += PT_WIDE) {
        if (!(lanes >> i & ((1u << PT_WIDE) - 1)))
            continue;
        pt_wide at = index_of(&y, s->coordinate[1] + i) * (uint32_t)t->pitch +
                     index_of(&x, s->coordinate[0] + i) * (uint32_t)sizeof(uint32_t);
        put(t, s, i, pt_wide_gather((const void *)(uintptr_t)t->texels, at));
    }
}

PT_ACCESS bool pt_texture_point_sample(struct pt_sampled *s, uint32_t sampling, uint32_t lanes)
{
    const struct pt_texture *t = (const struct pt_texture *)(uintptr_t)s->handle[0];
    if (sampling != (2 | PT_SAMPLING_SHARED) || !t || s->handle[0] % 16 ||
        t->key != pt_texture_key(s->handle[0]) || !is_known(t))
        return false;
    if (t->address[0] == PT_TEXTURE_CLAMP)
        sample(t, s, lanes, PT_TEXTURE_CLAMP);
    else if (t->address[0] == PT_TEXTURE_WRAP)
        sample(t, s, lanes, PT_TEXTURE_WRAP);
    else
        return false;
    return true;
}

#else

bool pt_texture_point_sample(struct pt_sampled *s, uint32_t sampling, uint32_t lanes)
{
    (void)s, (void)sampling, (void)lanes;
    return false;
}

#endif
