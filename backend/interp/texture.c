/* Textures: tex. PTX ISA 9.7.10. A handle is the address of a struct pt_texture; what sampling
 * computes is in backend/semantics/texture.h. */
#include "backend/interp/access.h"
#include "backend/interp/image.h"
#include "backend/interp/observe.h"
#include "backend/interp/pick.h"
#include "backend/interp/texture_sample.h"
#include "backend/interp/texture_wide.h"
#include "backend/semantics/half.h"
#include "ir/row.h"

#define ABSENT UINT32_MAX /* no slot */

/* What becomes of the four words. */
enum result { WORDS, HALVES, PACKED_HALVES };

enum { TEXEL = 256 }; /* in units of offsets */

struct fetch {
    /* slots; ABSENT where there is none, and `layer` only of textures that have layers */
    uint32_t handle, layer, coordinate[PT_TEXTURE_AXES], offset[PT_TEXTURE_AXES], level, sample;
    uint32_t derivative[2][PT_TEXTURE_AXES];
    uint32_t result[PT_TEXTURE_CHANNELS], resident;
    uint32_t axes, n_results, component; /* `component` of a gather */
    enum result kind;
    bool is_whole, is_layered, is_cube, is_gather, is_multisampled;
    bool has_gradient, has_depth, is_empty; /* `is_empty`: it reads nothing */
};

static const uint32_t *words_of(const struct pt_frame *f, uint32_t slot)
{
    return (const uint32_t *)((const char *)f + slot);
}

/* Makes `t` the texture of lane `i`. False after reporting. */
static bool find_texture(const struct pt_code *c, struct pt_frame *f, uint32_t i, uint64_t handle,
                         struct pt_texture *t)
{
    const struct fetch *k = c->ptr;
    struct pt_fault fault;
    bool is_found =
        pt_texture_find(handle, k->axes, k->is_layered, k->is_cube, t, &fault) ||
        (k->is_multisampled && pt_texture_find(handle, k->axes, !k->is_layered, false, t, &fault));
    if (!is_found) {
        pt_fail_at(c, f, fault.kind, 1u << i, handle, fault.detail);
        return false;
    }
    if (!k->has_gradient || t->anisotropy <= 1 ||
        !(t->is_seamless || (t->is_srgb && t->texel == PT_TEXEL_UNORM8)))
        return true;
    pt_fail_at(c, f, PT_FAULT_ILLEGAL_INSTRUCTION, 1u << i, handle,
               t->is_seamless ? "gradients of an anisotropic seamless cube are not supported yet"
                              : "gradients of an anisotropic sRGB texture are not supported yet");
    return false;
}

/* Offsets have four bits, of gathers six. In one dimension the next four are y's, which is there
 * for a border. */
static void set_offsets(const struct pt_frame *f, const struct fetch *k, uint32_t i,
                        struct pt_sample *sample)
{
    unsigned unused = k->is_gather ? 26 : 28;
    for (uint32_t n = 0; n < k->axes; n++)
        sample->offset[n] = ((int32_t)(words_of(f, k->offset[n])[i] << unused) >> unused) * TEXEL;
    if (k->axes == 1)
        sample->offset[1] = ((int32_t)(words_of(f, k->offset[0])[i] << 24) >> 28) * TEXEL;
}

static void set_gradient(const struct pt_frame *f, const struct fetch *k, uint32_t i,
                         const struct pt_texture *t, struct pt_sample *sample)
{
    uint32_t derivative[2][PT_TEXTURE_AXES], n_axes = k->is_cube ? PT_TEXTURE_AXES : k->axes;
    for (uint32_t n = 0; n < 2; n++)
        for (uint32_t axis = 0; axis < n_axes; axis++)
            derivative[n][axis] = words_of(f, k->derivative[n][axis])[i];
    pt_texture_set_gradient(t, derivative, k->has_depth, sample);
}

static struct pt_sample sample_of(const struct pt_frame *f, const struct fetch *k, uint32_t i,
                                  const struct pt_texture *t, const struct pt_samples *s)
{
    struct pt_sample sample = {.layer = k->is_layered ? s->layer[i] : 0};
    uint32_t n_coordinates = k->is_cube ? PT_TEXTURE_AXES : k->axes;
    for (uint32_t n = 0; n < n_coordinates; n++)
        sample.coordinate[n] = words_of(f, k->coordinate[n])[i];
    if (k->offset[0] != ABSENT)
        set_offsets(f, k, i, &sample);
    sample.is_clamped = k->level != ABSENT;
    uint32_t level = k->level == ABSENT ? 0 : words_of(f, k->level)[i];
    if (k->is_whole)
        sample.level = (int32_t)level;
    else if (k->has_gradient)
        set_gradient(f, k, i, t, &sample);
    else
        sample.level = pt_texture_level(t, k->level == ABSENT ? PT_TEXTURE_BASE_LEVEL : level);
    return sample;
}

/* CUDA has no arrays of several samples: a texel is sample 0, of layer 0 where there are none. */
static bool has_sample(const struct pt_frame *f, const struct fetch *k, uint32_t i,
                       const struct pt_texture *t, const struct pt_samples *s)
{
    return !k->is_multisampled ||
           (words_of(f, k->sample)[i] == 0 && (t->layers || !k->is_layered || s->layer[i] == 0));
}

static void find_footprint(const struct pt_frame *f, const struct fetch *k, uint32_t i,
                           const struct pt_texture *t, const struct pt_samples *s,
                           struct pt_footprint *footprint)
{
    footprint->n_planes = 0;
    footprint->is_filtered = false;
    if (k->is_empty || !has_sample(f, k, i, t, s))
        return;
    struct pt_sample sample = sample_of(f, k, i, t, s);
    (k->is_gather  ? pt_texture_locate_gather
     : k->is_whole ? pt_texture_locate_whole
                   : pt_texture_locate)(t, &sample, footprint);
}

/* Puts the addresses of a lane's texels from `first` on. */
static void put_addresses(const struct pt_footprint *footprint, unsigned first, uint32_t lane,
                          uint64_t address[PT_TEXTURE_TOLD][PT_WARP_SIZE])
{
    unsigned n = footprint->n_planes * PT_TEXTURE_PLANE;
    for (unsigned i = first; i < n && i < first + PT_TEXTURE_TOLD; i++)
        if (pt_texture_has(footprint, i) && footprint->address[i] != PT_TEXTURE_NOTHING)
            address[i - first][lane] = footprint->address[i];
}

static bool may_read(const struct pt_code *c, struct pt_frame *f, uint32_t lanes,
                     const struct pt_texture *t, const struct pt_samples *s)
{
    unsigned first = 0, n = 0;
    do {
        uint64_t address[PT_TEXTURE_TOLD][PT_WARP_SIZE] = {{0}};
        for (uint32_t left = lanes; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            struct pt_footprint footprint;
            find_footprint(f, c->ptr, i, t, s, &footprint);
            put_addresses(&footprint, first, i, address);
            n = footprint.n_planes > n ? footprint.n_planes : n;
        }
        struct pt_texels texels = {t, (const uint64_t(*)[PT_WARP_SIZE])address, PT_TEXTURE_TOLD};
        if (!pt_observe_texels(c, f, lanes, &texels, t->texel_bytes))
            return false;
        first += PT_TEXTURE_TOLD;
    } while (first < n * PT_TEXTURE_PLANE);
    return true;
}

/* One lane by itself. */
static void fetch_lane(const struct pt_code *c, struct pt_frame *f, uint32_t i,
                       const struct pt_texture *t, struct pt_samples *s)
{
    const struct fetch *k = c->ptr;
    struct pt_footprint footprint;
    uint32_t texel[PT_TEXTURE_FOOTPRINT][PT_TEXTURE_CHANNELS], result[PT_TEXTURE_CHANNELS];
    find_footprint(f, k, i, t, s, &footprint);
    f->state->acting = 1u << i;
    pt_texture_read_texels(&footprint, t->texel_bytes, texel);
    f->state->acting = 0;
    if (k->is_gather)
        pt_texture_gather(t, &footprint, k->component, texel, result);
    else
        pt_texture_filter(t, &footprint, texel, result);
    for (uint32_t n = 0; n < PT_TEXTURE_CHANNELS; n++)
        s->result[n][i] = result[n];
}

/* Whether vectors can do it: without what is rare. */
static bool is_plain(const struct fetch *k)
{
    return k->level == ABSENT && !k->has_gradient && k->offset[0] == ABSENT && !k->is_gather &&
           !k->is_cube && !k->is_multisampled;
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
    if (!t.axes)
        return true;
    f->state->acting = lanes;
    uint32_t left = lanes;
    if (pt_is_observed(f)) {
        if (!may_read(c, f, lanes, &t, s))
            return false;
    } else if (is_plain(c->ptr)) {
        left = pt_texture_wide_sample(&t, s, lanes);
    }
    for (; left; left &= left - 1)
        fetch_lane(c, f, (uint32_t)__builtin_ctz(left), &t, s);
    f->state->acting = 0;
    return true;
}

static void make_halves(const struct fetch *k, struct pt_samples *s)
{
    for (uint32_t n = 0; k->kind != WORDS && n < PT_TEXTURE_CHANNELS; n++)
        for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
            s->result[n][i] = pt_half_from_f32(s->result[n][i], PT_F16, PT_RN);
    for (uint32_t n = 0; k->kind == PACKED_HALVES && n < k->n_results; n++)
        for (uint32_t i = 0; i < PT_WARP_SIZE; i++)
            s->result[n][i] = s->result[2 * n][i] | s->result[2 * n + 1][i] << 16;
}

static void put_results(struct pt_frame *f, const struct fetch *k, struct pt_samples *s)
{
    make_halves(k, s);
    for (uint32_t n = 0; n < k->n_results; n++) {
        uint32_t *to = (uint32_t *)((char *)f + k->result[n]);
        if (f->mask == UINT32_MAX)
            memcpy(to, s->result[n], sizeof *s->result);
        else
            for (uint32_t left = f->mask; left; left &= left - 1)
                to[__builtin_ctz(left)] = s->result[n][__builtin_ctz(left)];
    }
}

PT_HANDLER(fetch)
{
    const struct fetch *k = c->ptr;
    const uint64_t *handle = (const uint64_t *)((const char *)f + k->handle);
    uint32_t result[PT_TEXTURE_CHANNELS][PT_WARP_SIZE] __attribute__((aligned(64))) = {{0}};
    struct pt_samples s = {.layer = k->is_layered ? words_of(f, k->layer) : NULL,
                           .is_whole = k->is_whole,
                           .result = result};
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
    if (k->resident != ABSENT)
        PT_SET_PRED(1, UINT32_MAX);
    return c + 1;
}

/* ---- selecting ------------------------------------------------------------------------------- */

/* Without braces there is one coordinate. */
static uint32_t bind_coordinate(struct pt_select *s, const struct pt_operand *o, uint32_t i)
{
    return pt_operands_source(s, o->kind == PT_OPND_VEC ? &s->func->operands.v[o->index + i] : o,
                              4);
}

/* Binds k's words from element `first` on of a vector. */
static bool bind_vector(struct pt_select *s, const struct pt_operand *o, uint32_t first,
                        uint32_t *slot, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if ((slot[i] = bind_coordinate(s, o, first + i)) == UINT32_MAX)
            return false;
    return true;
}

/* {d}|p: p is operand 1 of the code. */
static void bind_results(struct pt_select *s, struct fetch *k)
{
    const struct pt_operand *all = s->func->operands.v, *d = &s->operands[0];
    k->resident = ABSENT;
    if (d->kind == PT_OPND_PAIR) {
        k->resident = s->code->o[1] = pt_operands_dest(s, &all[d->index + 1]);
        d = &all[d->index];
    }
    k->n_results = (uint32_t)d->imm;
    k->kind = s->form->type[0] == PT_f16x2 ? PACKED_HALVES
              : s->form->type[0] == PT_f16 ? HALVES
                                           : WORDS;
    for (uint32_t i = 0; i < k->n_results; i++)
        k->result[i] = pt_operands_dest(s, &all[d->index + i]);
}

/* Without braces there is one. */
static bool bind_derivative(struct pt_select *s, const struct pt_operand *o, uint32_t *slot,
                            uint32_t n)
{
    return o->kind == PT_OPND_VEC ? bind_vector(s, o, 0, slot, n)
                                  : (*slot = bind_coordinate(s, o, 0)) != UINT32_MAX;
}

/* Behind the address: a level, derivatives, offsets, a depth to compare with. No texture that CUDA
 * makes has depths: a GPU does as if there were none to compare with, but where it is told
 * derivatives. Of these it takes whole coordinates for numbers. */
static bool bind_options(struct pt_select *s, struct fetch *k)
{
    uint32_t next = 2;
    if (PT_HAS(s, level) && (k->level = bind_coordinate(s, &s->operands[next++], 0)) == UINT32_MAX)
        return false;
    for (uint32_t i = 0, n = k->is_cube ? PT_TEXTURE_AXES : k->axes; PT_HAS(s, grad) && i < 2; i++)
        if (!bind_derivative(s, &s->operands[next++], k->derivative[i], n))
            return false;
    if (next < s->insn->n_operands && s->operands[next].kind == PT_OPND_VEC &&
        !bind_vector(s, &s->operands[next++], 0, k->offset, k->axes))
        return false;
    k->has_gradient = PT_HAS(s, grad);
    k->has_depth = next < s->insn->n_operands;
    k->is_empty =
        k->has_gradient && k->axes == 1 && !k->is_layered && (k->has_depth || k->is_whole);
    k->is_whole = k->is_whole && !k->has_gradient;
    return true;
}

static uint32_t component_of(const struct pt_select *s)
{
    return PT_HAS(s, g) ? 1 : PT_HAS(s, b) ? 2 : PT_HAS(s, a) ? 3 : 0;
}

/* {d},[a,c] and options */
static pt_handler select_fetch(struct pt_select *s, struct fetch form)
{
    const struct pt_operand *in = &s->func->operands.v[s->operands[1].index];
    struct fetch *k = pt_operands_array(s, sizeof *k);
    if (!s->decoder)
        return fetch;
    *k = form;
    k->level = k->offset[0] = k->offset[1] = k->offset[2] = ABSENT;
    k->component = component_of(s);
    bind_results(s, k);
    s->code->ptr = k;
    if ((k->handle = pt_image_handle(s, in)) == UINT32_MAX || !bind_options(s, k))
        return NULL;
    uint32_t n = k->is_cube ? PT_TEXTURE_AXES : k->axes, first = 0;
    if ((k->is_multisampled && !bind_vector(s, in + 1, first++, &k->sample, 1)) ||
        (k->is_layered && !bind_vector(s, in + 1, first++, &k->layer, 1)))
        return NULL;
    return bind_vector(s, in + 1, first, k->coordinate, n) ? fetch : NULL;
}

#define FETCH(id, ...)                                       \
    pt_handler PT_DO(id)(struct pt_select * s)               \
    {                                                        \
        return select_fetch(s, (struct fetch){__VA_ARGS__}); \
    }
#define TEX(geometry, ...)                                     \
    FETCH(tex_##geometry, __VA_ARGS__)                         \
    FETCH(tex_##geometry##_s32, __VA_ARGS__, .is_whole = true) \
    FETCH(tex_level_##geometry, __VA_ARGS__)                   \
    FETCH(tex_level_##geometry##_s32, __VA_ARGS__, .is_whole = true)

TEX(1d, .axes = 1)
TEX(2d, .axes = 2)
TEX(3d, .axes = 3)
TEX(a1d, .axes = 1, .is_layered = true)
TEX(a2d, .axes = 2, .is_layered = true)
FETCH(tex_2dms, .axes = 2, .is_whole = true, .is_multisampled = true)
FETCH(tex_a2dms, .axes = 2, .is_whole = true, .is_layered = true, .is_multisampled = true)
FETCH(tex_cube, .axes = 2, .is_cube = true)
FETCH(tex_acube, .axes = 2, .is_cube = true, .is_layered = true)
FETCH(tex_level_cube, .axes = 2, .is_cube = true)
FETCH(tex_level_acube, .axes = 2, .is_cube = true, .is_layered = true)
FETCH(tld4_2d, .axes = 2, .is_gather = true)
FETCH(tld4_a2d, .axes = 2, .is_gather = true, .is_layered = true)
FETCH(tld4_cube, .axes = 2, .is_gather = true, .is_cube = true)
FETCH(tld4_acube, .axes = 2, .is_gather = true, .is_cube = true, .is_layered = true)
