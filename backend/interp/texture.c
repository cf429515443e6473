/* Textures: tex. PTX ISA 9.7.10. A handle is the address of a struct pt_texture; what sampling
 * computes is in backend/semantics/texture.h. */
#include "backend/interp/access.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/interp/pick.h"
#include "backend/interp/texture_wide.h"
#include "ir/row.h"

struct fetch {
    /* slots; `layer` only of textures that have layers */
    uint32_t handle, layer, coordinate[PT_TEXTURE_AXES], result[PT_TEXTURE_CHANNELS];
    uint32_t axes;
    bool is_whole, is_layered; /* the coordinates are integers; there is a layer */
};

static const uint32_t *words_of(const struct pt_frame *f, uint32_t slot)
{
    return (const uint32_t *)((const char *)f + slot);
}

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

PT_ACCESS static __attribute__((noinline)) void
read_texels(const struct pt_footprint *footprint, uint32_t bytes,
            uint32_t texel[PT_TEXTURE_TEXELS][PT_TEXTURE_CHANNELS])
{
    for (uint32_t left = footprint->present; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (footprint->address[i])
            read_texel(footprint->address[i], bytes, texel[i]);
    }
}

/* Makes `t` the texture of lane `i`. False after reporting. */
static bool find_texture(const struct pt_code *c, struct pt_frame *f, uint32_t i, uint64_t handle,
                         struct pt_texture *t)
{
    const struct fetch *k = c->ptr;
    if (handle % 16) {
        pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << i, handle, "no texture has this handle");
        return false;
    }
    read_texture(handle, t);
    if (t->key != pt_texture_key(handle)) {
        pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << i, handle, "no texture has this handle");
        return false;
    }
    if (t->axes != k->axes || (t->layers != 0) != k->is_layered) {
        pt_fail_at(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, 1u << i, handle,
                   "the texture has another number of dimensions, or layers and should not");
        return false;
    }
    return true;
}

static bool may_read(const struct pt_code *c, struct pt_frame *f, uint32_t i,
                     const struct pt_footprint *footprint, uint32_t bytes)
{
    uint64_t address[PT_WARP_SIZE] = {0};
    for (uint32_t left = pt_is_observed(f) ? footprint->present : 0; left; left &= left - 1) {
        address[i] = footprint->address[__builtin_ctz(left)];
        if (address[i] && !pt_observe_access(c, f, 1u << i, address, bytes, PT_USE_READ, NULL))
            return false;
    }
    return true;
}

/* One lane by itself. */
static bool fetch_lane(const struct pt_code *c, struct pt_frame *f, uint32_t i,
                       const struct pt_texture *t, struct pt_samples *s)
{
    const struct fetch *k = c->ptr;
    struct pt_footprint footprint;
    uint32_t texel[PT_TEXTURE_TEXELS][PT_TEXTURE_CHANNELS], coordinate[PT_TEXTURE_AXES] = {0};
    uint32_t layer = k->is_layered ? s->layer[i] : 0, result[PT_TEXTURE_CHANNELS];
    for (uint32_t n = 0; n < k->axes; n++)
        coordinate[n] = s->coordinate[n][i];
    if (k->is_whole)
        pt_texture_locate_whole(t, coordinate, layer, &footprint);
    else
        pt_texture_locate(t, coordinate, layer, &footprint);
    if (!may_read(c, f, i, &footprint, t->texel_bytes))
        return false;
    f->state->acting = 1u << i;
    read_texels(&footprint, t->texel_bytes, texel);
    f->state->acting = 0;
    pt_texture_filter(t, &footprint, texel, result);
    for (uint32_t n = 0; n < PT_TEXTURE_CHANNELS; n++)
        s->result[n][i] = result[n];
    return true;
}

/* Lanes that have one texture; those of handle 0 have none. */
static bool fetch_same(const struct pt_code *c, struct pt_frame *f, uint32_t lanes, uint64_t handle,
                       struct pt_samples *s)
{
    struct pt_texture t;
    if (!handle)
        return true;
    f->state->acting = lanes & -lanes;
    if (!find_texture(c, f, (uint32_t)__builtin_ctz(lanes), handle, &t))
        return false;
    f->state->acting = lanes;
    uint32_t left = pt_is_observed(f) ? lanes : pt_texture_wide_sample(&t, s, lanes);
    for (; left; left &= left - 1)
        if (!fetch_lane(c, f, (uint32_t)__builtin_ctz(left), &t, s))
            return false;
    f->state->acting = 0;
    return true;
}

static void put_results(struct pt_frame *f, const struct fetch *k, const struct pt_samples *s)
{
    for (uint32_t n = 0; n < PT_TEXTURE_CHANNELS; n++) {
        uint32_t *to = (uint32_t *)((char *)f + k->result[n]);
        if (f->mask == UINT32_MAX)
            memcpy(to, s->result[n], sizeof s->result[n]);
        else
            for (uint32_t left = f->mask; left; left &= left - 1)
                to[__builtin_ctz(left)] = s->result[n][__builtin_ctz(left)];
    }
}

PT_HANDLER(fetch)
{
    const struct fetch *k = c->ptr;
    const uint64_t *handle = (const uint64_t *)((const char *)f + k->handle);
    struct pt_samples s = {.layer = k->is_layered ? words_of(f, k->layer) : NULL,
                           .is_whole = k->is_whole};
    for (uint32_t n = 0; n < k->axes; n++)
        s.coordinate[n] = words_of(f, k->coordinate[n]);
    f->state->code = c;
    for (uint32_t left = f->mask; left;) {
        uint64_t one = handle[__builtin_ctz(left)];
        uint32_t lanes = pt_texture_wide_same(handle, one) & left;
        if (!fetch_same(c, f, lanes, one, &s))
            return NULL;
        left &= ~lanes;
    }
    put_results(f, k, &s);
    return c + 1;
}

/* ---- selecting ------------------------------------------------------------------------------- */

/* Without braces there is one coordinate. */
static uint32_t bind_coordinate(struct pt_select *s, const struct pt_operand *o, uint32_t i)
{
    return pt_operands_source(s, o->kind == PT_OPND_VEC ? &s->func->operands.v[o->index + i] : o,
                              4);
}

static bool bind_coordinates(struct pt_select *s, const struct pt_operand *o, struct fetch *k)
{
    if (k->is_layered && (k->layer = bind_coordinate(s, o, 0)) == UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < k->axes; i++) {
        k->coordinate[i] = bind_coordinate(s, o, i + k->is_layered);
        if (k->coordinate[i] == UINT32_MAX)
            return false;
    }
    return true;
}

/* What is there so far: four words by handle, without sampler, offsets, depth or predicate. */
static bool is_plain(const struct pt_select *s)
{
    const struct pt_operand *o = s->operands;
    const struct pt_operand *in = &s->func->operands.v[o[1].index];
    return s->insn->n_operands == 2 && PT_BITS(s, 0) == 32 && s->form->type[0] != PT_f16x2 &&
           o[0].kind == PT_OPND_VEC && o[0].imm == PT_TEXTURE_CHANNELS && o[1].imm == 2 &&
           in->kind == PT_OPND_REG;
}

/* {d},[a,c] */
static pt_handler select_fetch(struct pt_select *s, uint32_t axes, bool is_layered, bool is_whole)
{
    struct fetch *k = pt_operands_array(s, sizeof *k);
    const struct pt_operand *all = s->func->operands.v, *in = &all[s->operands[1].index];
    if (!is_plain(s))
        return pt_refuse(s, NULL);
    k->axes = axes;
    k->is_layered = is_layered;
    k->is_whole = is_whole;
    k->handle = pt_operands_source(s, in, 8);
    for (uint32_t i = 0; i < PT_TEXTURE_CHANNELS; i++)
        k->result[i] = pt_operands_dest(s, &all[s->operands[0].index + i]);
    s->code->ptr = k;
    return k->handle != UINT32_MAX && bind_coordinates(s, in + 1, k) ? fetch : NULL;
}

#define TEX(id, axes, is_layered)                          \
    pt_handler PT_DO(tex_##id)(struct pt_select * s)       \
    {                                                      \
        return select_fetch(s, axes, is_layered, false);   \
    }                                                      \
    pt_handler PT_DO(tex_##id##_s32)(struct pt_select * s) \
    {                                                      \
        return select_fetch(s, axes, is_layered, true);    \
    }

TEX(1d, 1, false)
TEX(2d, 2, false)
TEX(3d, 3, false)
TEX(a1d, 1, true)
TEX(a2d, 2, true)
