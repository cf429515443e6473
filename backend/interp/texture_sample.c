/* Textures as they lie in memory, and their samples for native code, which has coordinates in
 * vectors and wants no warp for them. */
#include "backend/interp/texture_sample.h"

#include "backend/interp/access.h"
#include "backend/interp/texture_point.h"
#include "backend/interp/texture_wide.h"

PT_ACCESS static __attribute__((noinline)) void read_texture(uint64_t handle, struct pt_texture *t)
{
    for (size_t at = 0; at < sizeof *t; at += 16)
        pt_copy16((char *)t + at, (const char *)(uintptr_t)handle + at);
}

/* Texels lie at multiples of their size. */
PT_ACCESS_INLINE void read_texel(uint64_t address, uint32_t bytes, uint32_t *texel)
{
    const void *from = (const void *)(uintptr_t)address;
    switch (bytes) {
    case 1:
        *texel = *(const uint8_t *)from;
        break;
    case 2:
        *texel = *(const uint16_t *)from;
        break;
    case 4:
        *texel = *(const uint32_t *)from;
        break;
    case 8:
        texel[0] = ((const uint32_t *)from)[0];
        texel[1] = ((const uint32_t *)from)[1];
        break;
    default:
        pt_copy16(texel, from);
    }
}

PT_ACCESS __attribute__((noinline)) void
pt_texture_read_texels(const struct pt_footprint *footprint, uint32_t bytes,
                       uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS])
{
    for (uint32_t n = 0; n < footprint->n_planes; n++)
        for (uint32_t left = footprint->present[n]; left; left &= left - 1) {
            uint32_t i = PT_TEXTURE_PLANE * n + (uint32_t)__builtin_ctz(left);
            if (footprint->address[i] == PT_TEXTURE_NOTHING)
                memset(texel[i], 0, sizeof texel[i]);
            else if (footprint->address[i])
                read_texel(footprint->address[i], bytes, texel[i]);
        }
}

bool pt_texture_find(uint64_t handle, uint32_t axes, bool is_layered, bool is_cube,
                     struct pt_texture *t, struct pt_fault *fault)
{
    bool is_texture = handle % 16 == 0;
    if (is_texture) {
        read_texture(handle, t);
        is_texture = t->key == pt_texture_key(handle);
    }
    if (is_texture && !t->axes) /* a reference that is bound to nothing */
        return true;
    if (is_texture && t->axes == axes && t->is_layered == is_layered && t->is_cube == is_cube)
        return true;
    *fault = (struct pt_fault){
        .kind = is_texture ? PT_FAULT_ILLEGAL_INSTRUCTION : PT_FAULT_ILLEGAL_ADDRESS,
        .has_address = true,
        .address = handle,
        .detail = is_texture ? "the texture has other dimensions, or layers or faces and should not"
                             : "no texture has this handle"};
    return false;
}

/* ---- without a warp -------------------------------------------------------------------------- */

/* A lane by itself. */
static void sample_lane(const struct pt_texture *t, const struct pt_samples *s, uint32_t i)
{
    struct pt_footprint footprint;
    struct pt_sample sample = {.layer = s->layer ? s->layer[i] : 0};
    uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS], result[PT_TEXTURE_CHANNELS];
    for (uint32_t n = 0; n < t->axes; n++)
        sample.coordinate[n] = s->coordinate[n][i];
    if (!s->is_whole)
        sample.level = pt_texture_level(t, PT_TEXTURE_BASE_LEVEL);
    (s->is_whole ? pt_texture_locate_whole : pt_texture_locate)(t, &sample, &footprint);
    pt_texture_read_texels(&footprint, t->texel_bytes, texel);
    pt_texture_filter(t, &footprint, texel, result);
    for (uint32_t n = 0; n < PT_TEXTURE_CHANNELS; n++)
        s->result[n][i] = result[n];
}

static void put_zeros(const struct pt_samples *s, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1)
        for (uint32_t n = 0; n < PT_TEXTURE_CHANNELS; n++)
            s->result[n][__builtin_ctz(left)] = 0;
}

/* Lanes that have one texture. */
static bool sample_same(uint64_t handle, uint32_t sampling, struct pt_samples *s, uint32_t lanes,
                        struct pt_fault *fault)
{
    struct pt_texture t;
    if (!handle) {
        put_zeros(s, lanes);
        return true;
    }
    if (!pt_texture_find(handle, sampling & PT_SAMPLING_AXES, sampling & PT_SAMPLING_LAYERED, false,
                         &t, fault)) {
        fault->lanes = lanes & -lanes;
        return false;
    }
    if (!t.axes) {
        put_zeros(s, lanes);
        return true;
    }
    for (uint32_t left = pt_texture_wide_sample(&t, s, lanes); left; left &= left - 1)
        sample_lane(&t, s, (uint32_t)__builtin_ctz(left));
    return true;
}

/* Each texture's results take the place of those of lanes that come later alone. */
static bool sample_apart(struct pt_sampled *s, uint32_t sampling, struct pt_samples samples,
                         uint32_t lanes, struct pt_fault *fault)
{
    uint32_t result[PT_TEXTURE_CHANNELS][PT_WARP_SIZE] __attribute__((aligned(64)));
    samples.result = result;
    for (uint32_t left = lanes; left;) {
        uint64_t handle = s->handle[__builtin_ctz(left)];
        uint32_t same = pt_texture_wide_same(s->handle, handle) & left;
        if (!sample_same(handle, sampling, &samples, same, fault))
            return false;
        left &= ~same;
        for (uint32_t n = 0; n < PT_TEXTURE_CHANNELS; n++)
            for (uint32_t i = same; i; i &= i - 1)
                s->result[n][__builtin_ctz(i)] = result[n][__builtin_ctz(i)];
    }
    return true;
}

bool pt_texture_sample(struct pt_sampled *s, uint32_t sampling, uint32_t lanes,
                       struct pt_fault *fault)
{
    if (pt_texture_point_sample(s, sampling, lanes))
        return true;
    struct pt_samples samples = {
        .coordinate = {s->coordinate[0], s->coordinate[1], s->coordinate[2]},
        .layer = sampling & PT_SAMPLING_LAYERED ? s->layer : NULL,
        .is_whole = sampling & PT_SAMPLING_WHOLE,
        .result = s->result};
    if (sampling & PT_SAMPLING_SHARED)
        return sample_same(s->handle[0], sampling, &samples, lanes, fault);
    return sample_apart(s, sampling, samples, lanes, fault);
}
