#include "backend/semantics/texture.h"

#include <math.h>

#include "backend/semantics/lane.h"
#include "backend/semantics/texture_cube.h"
#include "backend/semantics/texture_layout.h"
#include "backend/semantics/texture_probe.h"
#include "backend/semantics/texture_tile.h"

enum { WEIGHT_BITS = 8, FRACTION = 1 << WEIGHT_BITS };

/* ---- positions ------------------------------------------------------------------------------- */

/* Where a sample falls on one axis: two texels and the upper one's weight. */
struct span {
    int32_t at[2]; /* -1: outside, the border's colour */
    uint32_t upper;
};

int pt_texture_fraction_bits(const struct pt_texture *t)
{
    uint32_t size = t->size[0] > t->size[1] ? t->size[0] : t->size[1];
    size = size > t->size[2] ? size : t->size[2];
    return size <= 1u << 13 ? 21 : size <= 1u << (t->axes > 2 ? 14 : 16) ? 22 : 23;
}

static int32_t clamp(int64_t i, uint32_t size)
{
    return i < 0 ? 0 : i >= size ? (int32_t)(size - 1) : (int32_t)i;
}

static int32_t index_of(const struct pt_texture *t, int axis, int64_t i)
{
    int64_t size = t->size[axis];
    enum pt_texture_address mode = t->address[axis];
    if (mode == PT_TEXTURE_BORDER)
        return i < 0 || i >= size ? -1 : (int32_t)i;
    if (mode == PT_TEXTURE_CLAMP)
        return clamp(i, t->size[axis]);
    int64_t period = mode == PT_TEXTURE_WRAP ? size : 2 * size;
    i %= period;
    i += i < 0 ? period : 0;
    return (int32_t)(i < size ? i : 2 * size - 1 - i);
}

double pt_texture_flushed(uint32_t bits)
{
    uint32_t magnitude = bits & 0x7fffffff;
    return magnitude < 0x00800000 || magnitude > 0x7f800000 ? 0 : pt_lane_f32(bits);
}

/* In texels, as far as it is told apart from the ones beside it; 2^40 stands for all beyond. */
static double place(const struct pt_texture *t, int axis, uint32_t bits)
{
    double x = pt_texture_flushed(bits);
    if (t->is_normalized) {
        double unit = ldexp(1, pt_texture_fraction_bits(t));
        bool is_periodic =
            t->address[axis] == PT_TEXTURE_WRAP || t->address[axis] == PT_TEXTURE_MIRROR;
        x = floor(x * unit) / unit;
        if (is_periodic)
            x = isinf(x) ? 0 : x - 2 * floor(x / 2);
        x *= t->size[axis];
    }
    return fmax(fmin(x, 0x1p40), -0x1p40);
}

/* `mode` is how much is asked: a texel, two that are filtered, two as they are, or two that may be
 * beside a cube's face. */
enum mode { POINT, LINEAR, PAIR, SEAMLESS };

static struct span span_at(const struct pt_texture *t, int axis, double x, int32_t offset,
                           enum mode mode)
{
    struct span s = {{0, 0}, 0};
    if (mode == POINT) {
        s.at[0] = index_of(t, axis, ((int64_t)floor(x * FRACTION) + offset) >> WEIGHT_BITS);
        return s;
    }
    int64_t p = (int64_t)floor(x * FRACTION + 0.5) - FRACTION / 2 + offset;
    if (mode == LINEAR && t->address[axis] == PT_TEXTURE_CLAMP) {
        int64_t last = (int64_t)(t->size[axis] - 1) * FRACTION;
        p = p < 0 ? 0 : p > last ? last : p;
    }
    s.at[0] = mode == SEAMLESS ? (int32_t)(p >> 8) : index_of(t, axis, p >> 8);
    s.at[1] = mode == SEAMLESS ? s.at[0] + 1 : index_of(t, axis, (p >> 8) + 1);
    s.upper = (uint32_t)(p & (FRACTION - 1));
    return s;
}

/* ---- texels of a level ----------------------------------------------------------------------- */

/* The texel at x, y of a slice is a footprint's `i`. */
static void put(const struct pt_texture *t, uint32_t x, uint32_t y, uint32_t slice, unsigned i,
                struct pt_footprint *footprint)
{
    unsigned side = pt_texture_layout_side_log(t), inside = (1u << side) - 1;
    footprint->at[i] = (uint8_t)((x & inside) + ((y & inside) << side));
    slice += t->first_slice;
    if (t->n_word_levels)
        footprint->address[i] = pt_texture_tile_find(t, x >> side, y >> side, slice);
    else if (t->layers && slice >= t->slices)
        footprint->address[i] = PT_TEXTURE_NOTHING;
    else
        footprint->address[i] = t->texels + (uint64_t)slice * t->slice + (y >> side) * t->pitch +
                                (uint64_t)(x >> side) * t->texel_bytes;
}

static void put_texel(const struct pt_texture *t, const struct span *span, uint32_t layer,
                      unsigned i, unsigned at, struct pt_footprint *footprint)
{
    int32_t x = span[0].at[i & 1], y = span[1].at[i >> 1 & 1],
            z = t->layers ? (int32_t)layer : span[2].at[i >> 2];
    if (x < 0 || y < 0 || z < 0)
        footprint->address[at] = PT_TEXTURE_BORDER_COLOUR;
    else
        put(t, (uint32_t)x, (uint32_t)y, (uint32_t)z, at, footprint);
}

static bool is_beyond(const struct pt_texture *t, int axis, int32_t i)
{
    return i < 0 || i >= (int32_t)t->size[axis];
}

/* Texels beyond an edge are the next face's; a corner's fourth is none. */
static void put_seamless(const struct pt_texture *t, const struct span *span, uint32_t slice,
                         unsigned i, unsigned at_texel, struct pt_footprint *footprint)
{
    int32_t at[2] = {span[0].at[i & 1], span[1].at[i >> 1 & 1]};
    uint32_t face = slice % PT_TEXTURE_FACES;
    if (is_beyond(t, 0, at[0]) || is_beyond(t, 1, at[1]))
        pt_texture_cube_fold(t->size[0], &face, at);
    put(t, (uint32_t)at[0], (uint32_t)at[1], slice - slice % PT_TEXTURE_FACES + face, at_texel,
        footprint);
}

static uint32_t split(uint32_t part, uint32_t by)
{
    return (part * by + FRACTION / 2) / FRACTION;
}

/* Of the texels of a level, x fastest, which have `whole` together. Returns which take part: also
 * those whose weight is rounded to 0, but none beyond a whole coordinate. */
static unsigned weigh(const struct span *span, uint32_t whole, uint32_t *weight)
{
    uint32_t a = span[0].upper, b = span[1].upper, c = span[2].upper;
    uint32_t near = split(whole, FRACTION - c);
    for (unsigned z = 0; z <= (c != 0); z++) {
        uint32_t *w = weight + 4 * z, part = z ? whole - near : near;
        uint32_t upper = split(part, a), lower = part - upper;
        w[3] = split(upper, b);
        w[1] = upper - w[3];
        w[0] = split(lower, FRACTION - b);
        w[2] = lower - w[0];
    }
    return 0xff & (a ? 0xff : 0x55) & (b ? 0xff : 0x33) & (c ? 0xff : 0x0f);
}

/* ---- textures that native code samples ------------------------------------------------------- */

static uint8_t direct_texel(const struct pt_texture *t)
{
    bool is_whole =
        t->texel == PT_TEXEL_F32 || t->texel == PT_TEXEL_U32 || t->texel == PT_TEXEL_S32;
    if (is_whole && t->n_channels == 1)
        return PT_TEXTURE_DIRECT_WORD;
    return t->texel == PT_TEXEL_UNORM8 && t->n_channels == 4 ? PT_TEXTURE_DIRECT_BYTES : 0;
}

/* Offsets of texels are signed numbers of 32 bits. */
static bool is_within_2_gib(const struct pt_texture *t)
{
    const uint64_t most = 1u << 31;
    return t->pitch < most &&
           (uint64_t)t->size[0] * t->texel_bytes + (t->size[1] - 1) * t->pitch < most;
}

void pt_texture_set_direct(struct pt_texture *t)
{
    bool is_clamped =
        t->address[0] == PT_TEXTURE_CLAMP && t->address[1] == PT_TEXTURE_CLAMP && !t->is_normalized;
    t->direct = 0;
    if (!direct_texel(t) || t->axes > 2 || t->layers || t->is_layered || t->is_cube ||
        t->n_levels != 1 || t->is_srgb || t->block || !is_within_2_gib(t))
        return;
    t->direct = direct_texel(t);
    if (t->axes == 2 && is_clamped && !t->is_linear && t->memory != PT_TEXTURE_LINEAR)
        t->direct |= PT_TEXTURE_DIRECT_POINT;
    if ((t->axes == 1) == (t->memory == PT_TEXTURE_LINEAR))
        t->direct |= PT_TEXTURE_DIRECT_WHOLE;
}

/* ---- footprints ------------------------------------------------------------------------------ */

/* Of a cube's face, from -1 to 1, in texels: as a normalised coordinate. */
static double place_on_face(const struct pt_texture *t, double at)
{
    double half = ldexp(1, pt_texture_fraction_bits(t) - 1);
    return (floor(at * half) + half) / (2 * half) * t->size[0];
}

/* At a corner of a cube three texels meet: the weight of the fourth, by thirds, goes to the two
 * beside it and what is left to the one across. Returns which of them there are. */
static uint32_t drop_corner(const struct pt_texture *t, const struct span *span, uint32_t present,
                            uint32_t *weight)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t third = (weight[i] + 1) / 3;
        if (!(present >> i & 1) || !is_beyond(t, 0, span[0].at[i & 1]) ||
            !is_beyond(t, 1, span[1].at[i >> 1]))
            continue;
        weight[i ^ 1] += third;
        weight[i ^ 2] += third;
        weight[i ^ 3] += weight[i] - 2 * third;
        weight[i] = 0;
        return present & ~(1u << i);
    }
    return present;
}

/* Where a sample falls in a level. Returns the slice. */
static uint32_t locate_spans(const struct pt_texture *t, const struct pt_sample *s, enum mode mode,
                             struct span *span)
{
    uint32_t layers = t->is_cube ? t->layers / PT_TEXTURE_FACES : t->layers;
    uint32_t layer = !t->is_layered ? 0 : s->layer < layers ? s->layer : layers - 1;
    double at[PT_TEXTURE_AXES] = {0};
    if (t->is_cube)
        layer = layer * PT_TEXTURE_FACES + pt_texture_cube_face(s->coordinate, at);
    for (int i = 0; i < t->axes; i++)
        span[i] =
            span_at(t, i, t->is_cube ? place_on_face(t, at[i]) : place(t, i, s->coordinate[i]),
                    s->offset[i], mode);
    return layer;
}

static void locate_level(const struct pt_texture *t, const struct pt_sample *s, uint32_t whole,
                         struct pt_footprint *footprint)
{
    struct span span[PT_TEXTURE_AXES] = {0};
    bool is_seamless = t->is_seamless && t->is_linear;
    enum mode mode = is_seamless ? SEAMLESS : t->is_linear ? LINEAR : POINT;
    uint32_t layer = locate_spans(t, s, mode, span), present = 1,
             first = footprint->n_planes * PT_TEXTURE_PLANE;
    if (t->axes == 1 && !t->layers)
        /* has a y, which is 0: halfway to the border, where that has a colour */
        span[1] = span_at(t, 1, 0, s->offset[1], mode);
    if (footprint->is_filtered)
        present = weigh(span, whole, footprint->weight + first);
    if (is_seamless)
        present = drop_corner(t, span, present, footprint->weight + first);
    for (unsigned left = present; left; left >>= PT_TEXTURE_PLANE)
        footprint->present[footprint->n_planes++] = left & ((1u << PT_TEXTURE_PLANE) - 1);
    for (; present; present &= present - 1) {
        unsigned i = (unsigned)__builtin_ctz(present);
        (is_seamless ? put_seamless : put_texel)(t, span, layer, i, first + i, footprint);
    }
}

/* `upper` is what the upper one of two levels counts; this is it, or the lower one. */
static void locate_probes(const struct pt_texture *t, const struct pt_sample *s, uint32_t upper,
                          bool is_upper, struct pt_footprint *footprint)
{
    struct pt_texture_probes probes;
    pt_texture_probe_place(s, upper, is_upper, &probes);
    for (unsigned i = 0; i < probes.n; i++) {
        struct pt_sample one = *s;
        uint32_t *weight = footprint->weight + footprint->n_planes * PT_TEXTURE_PLANE;
        for (unsigned axis = 0; axis < 2; axis++)
            one.offset[axis] += probes.at[i][axis];
        locate_level(t, &one, probes.weight[i], footprint);
        for (unsigned k = 0; k < PT_TEXTURE_PLANE; k++)
            weight[k] <<= probes.lost_bits;
        if (!probes.weight[i]) /* a NaN there does not count, as it does with a weight */
            footprint->present[footprint->n_planes - 1] = 0;
    }
}

void pt_texture_locate(const struct pt_texture *t, const struct pt_sample *s,
                       struct pt_footprint *footprint)
{
    uint32_t level = (uint32_t)s->level / FRACTION, upper = (uint32_t)s->level % FRACTION;
    footprint->n_planes = 0;
    if (!t->is_mip_linear) {
        level = ((uint32_t)s->level + FRACTION / 2) / FRACTION;
        upper = 0;
    }
    footprint->weight_bits = (uint8_t)(s->has_probes ? PT_TEXTURE_PROBE_WEIGHT_BITS : WEIGHT_BITS);
    footprint->is_filtered = t->is_linear || upper || s->has_probes;
    if (t->memory == PT_TEXTURE_LINEAR)
        return;
    for (unsigned i = 0; i <= (upper != 0); i++) {
        struct pt_texture l = pt_texture_layout_find(t, level + i);
        if (s->has_probes)
            locate_probes(&l, s, upper, i, footprint);
        else
            locate_level(&l, s, i ? upper : FRACTION - upper, footprint);
    }
}

void pt_texture_locate_whole(const struct pt_texture *t, const struct pt_sample *s,
                             struct pt_footprint *footprint)
{
    struct span span[PT_TEXTURE_AXES] = {0};
    footprint->is_filtered = false;
    uint32_t layer = s->is_clamped && s->layer >= t->layers ? t->layers - 1 : s->layer;
    bool is_there =
        (t->layers ? layer < t->layers : (t->axes == 1) == (t->memory == PT_TEXTURE_LINEAR)) &&
        (uint32_t)s->level < t->n_levels;
    footprint->n_planes = 0;
    if (!is_there)
        return;
    struct pt_texture l = s->level ? pt_texture_layout_find(t, (uint32_t)s->level) : *t;
    for (int i = 0; i < t->axes; i++) {
        uint32_t at = s->coordinate[i] + (uint32_t)(s->offset[i] / FRACTION);
        if (s->is_clamped)
            at = (uint32_t)clamp((int32_t)at, l.size[i]);
        span[i].at[0] = (int32_t)at;
        is_there &= at < l.size[i];
    }
    footprint->present[0] = 1;
    footprint->n_planes = is_there;
    put_texel(&l, span, layer, 0, 0, footprint);
}

void pt_texture_locate_gather(const struct pt_texture *t, const struct pt_sample *s,
                              struct pt_footprint *footprint)
{
    static const uint8_t corner[] = {2, 3, 1, 0};
    struct span span[PT_TEXTURE_AXES] = {0};
    uint32_t layer = locate_spans(t, s, PAIR, span);
    footprint->is_filtered = false;
    footprint->present[0] = 0xf;
    footprint->n_planes = 1;
    for (unsigned i = 0; i < sizeof corner; i++)
        put_texel(t, span, layer, corner[i], i, footprint);
}
