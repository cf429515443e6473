/* What textures and surfaces say of themselves: txq, suq, istypep. PTX ISA 9.7.10.3, 9.7.11.4,
 * 9.7.10.4. An H100's driver takes width, height and depth alone. */
#include "backend/semantics/surface.h"
#include "backend/interp/access.h"
#include "backend/interp/image.h"
#include "backend/interp/pick.h"

/* Either; a surface is the shorter one. */
union image {
    uint64_t key;
    struct pt_texture texture;
    struct pt_surface surface;
};
typedef uint32_t answer(const union image *image, uint32_t axis, uint32_t level);

PT_ACCESS static __attribute__((noinline)) void read_image(uint64_t handle, size_t bytes,
                                                           union image *image)
{
    for (size_t at = 0; at < bytes; at += 16)
        pt_copy16((char *)image + at, (const char *)(uintptr_t)handle + at);
}

/* Makes `image` that of lane `i`. False after reporting. */
static bool find(const struct pt_code *c, struct pt_frame *f, uint32_t i, uint64_t handle,
                 bool is_surface, union image *image)
{
    f->state->acting = 1u << i;
    if (handle % 16 == 0) {
        read_image(handle, is_surface ? sizeof image->surface : sizeof image->texture, image);
        if (image->key == (is_surface ? pt_surface_key(handle) : pt_texture_key(handle)))
            return true;
    }
    pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << i, handle,
               is_surface ? "no surface has this handle" : "no texture has this handle");
    return false;
}

/* c->aux: the axis; o[2]: the level. Handle 0 has no size, nor has a level that there is not. */
static const struct pt_code *ask(const struct pt_code *c, struct pt_frame *f, bool is_surface,
                                 answer *size)
{
    const uint64_t *handle = (const uint64_t *)((const char *)f + c->o[1]);
    const uint32_t *level = (const uint32_t *)((const char *)f + c->o[2]);
    uint32_t result[PT_WARP_SIZE] = {0};
    union image image;
    uint64_t known = 0;
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!handle[i])
            continue;
        if (handle[i] != known && !find(c, f, i, handle[i], is_surface, &image))
            return NULL;
        known = handle[i];
        result[i] = size(&image, c->aux, level[i]);
    }
    f->state->acting = 0;
    for (uint32_t left = f->mask; left; left &= left - 1)
        ((uint32_t *)((char *)f + c->o[0]))[__builtin_ctz(left)] = result[__builtin_ctz(left)];
    return c + 1;
}

/* Rows have no y: the layers stand in its place. */
static uint32_t surface_size(const union image *image, uint32_t axis, uint32_t level)
{
    const struct pt_surface *s = &image->surface;
    bool is_row = s->is_layered && !s->size[1];
    if (level)
        return 0;
    return !is_row || !axis ? s->size[axis] : axis == 1 ? s->size[2] : 0;
}

static uint32_t level_size(uint32_t size, uint32_t level)
{
    return size >> level ? size >> level : 1;
}

/* Layers do not become fewer; six faces are one cube, which alone is no layer. */
static uint32_t texture_size(const union image *image, uint32_t axis, uint32_t level)
{
    const struct pt_texture *t = &image->texture;
    uint32_t layers = !t->is_layered ? 0 : t->is_cube ? t->layers / 6 : t->layers;
    if (level >= t->n_levels)
        return 0;
    if (axis < t->axes)
        return level_size(t->size[axis], level);
    if (axis == 1)
        return layers ? layers : t->memory == PT_TEXTURE_ARRAY;
    return t->axes == 2 ? layers : 0;
}

PT_HANDLER(ask_surface)
{
    return ask(c, f, true, surface_size);
}

PT_HANDLER(ask_texture)
{
    return ask(c, f, false, texture_size);
}

static pt_handler select_size(struct pt_select *s, pt_handler handler)
{
    static const struct pt_operand first = {.kind = PT_OPND_IMM, .type = PT_u32};
    const struct pt_operand *o = s->operands, *in = &s->func->operands.v[o[1].index];
    s->code->aux = PT_HAS(s, width) ? 0 : PT_HAS(s, height) ? 1 : 2;
    s->code->o[0] = pt_operands_dest(s, o);
    s->code->o[1] = pt_image_handle(s, in);
    s->code->o[2] = pt_operands_source(s, s->insn->n_operands > 2 ? o + 2 : &first, 4);
    return s->code->o[1] == UINT32_MAX || s->code->o[2] == UINT32_MAX ? NULL : handler;
}

pt_handler PT_DO(suq)(struct pt_select *s)
{
    return select_size(s, ask_surface);
}

pt_handler PT_DO(txq)(struct pt_select *s)
{
    return select_size(s, ask_texture);
}

pt_handler PT_DO(txq_level)(struct pt_select *s)
{
    return select_size(s, ask_texture);
}

/* ---- istypep --------------------------------------------------------------------------------- */

/* Of no handle an H100 says that it is one of a module's references. */
PT_HANDLER(tell)
{
    uint32_t *d = (uint32_t *)((char *)f + c->o[0]);
    *d &= ~f->mask;
    return c + 1;
}

pt_handler PT_DO(istypep)(struct pt_select *s)
{
    s->code->o[0] = pt_operands_dest(s, s->operands);
    return tell;
}
