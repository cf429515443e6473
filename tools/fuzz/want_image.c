/* Operands for wishes: textures and surfaces. */
#include "tools/fuzz/draw.h"

#include <string.h>

#include "ir/row.h"
#include "tools/fuzz/corner.h"
#include "tools/fuzz/image.h"

static bool is_op(const struct drawn *d, const char *prefix)
{
    return !strncmp(pt_op_id(d->form.op), prefix, strlen(prefix));
}

static enum image_use use_of(const struct drawn *d)
{
    bool is_surface = is_op(d, "su");
    return !is_surface                               ? IMAGE_TEXTURE
           : pt_op_effects(d->form.op) & PT_FX_WRITE ? IMAGE_TARGET
                                                     : IMAGE_SURFACE;
}

bool draw_is_image(const struct drawn *d, const struct pt_slot *slot)
{
    return slot->kind == PT_SLOT_MEM && image_is_used(d->form.op);
}

const char *draw_image(struct gen *g, struct drawn *d, const struct pt_slot *slot)
{
    char name[32];
    enum image_use use = use_of(d);
    unsigned shape = image_shape(&d->form), n = gen_temp(g);
    bool has_name = slot->type == PT_texref || slot->type == PT_surfref,
         may_be_register = !has_name || slot->flags & PT_SLOT_WIDER;
    while (shape == IMAGE_SHAPES || !image_may_be(shape, use))
        shape = gen_below(g, IMAGE_SHAPES);
    image_name(shape, use, name);
    g->images |= UINT32_C(1) << (use * IMAGE_SHAPES + shape);
    if (!may_be_register || (has_name && gen_chance(g, 50)))
        return gen_format(g, "%s", name);
    d->before = gen_format(g, "%smov.u64 %%x%u, %s;\n", d->before, n, name);
    return gen_format(g, "%%x%u", n);
}

bool draw_coordinate(struct gen *g, const struct drawn *d, const struct pt_slot *slot,
                     uint32_t *value)
{
    enum { STEP = 16, STEPS = 6 }; /* what the widest access is aligned to */
    bool is_value = slot->name == d->wish->group->letter && d->wish->class >= CORNER_FALSE;
    if (!is_op(d, "su") || is_value)
        return false;
    *value = pt_form_has(&d->form, PT_M_trap) ? 0 : STEP * (gen_below(g, STEPS) - 1);
    return true;
}

bool draw_may_be_outside(const struct drawn *d)
{
    bool is_place = d->wish->group->letter == 'c' && d->wish->class > CORNER_ZERO;
    return is_op(d, "su") && pt_form_has(&d->form, PT_M_trap) && is_place;
}

const char *gen_images_text(struct gen *g)
{
    char name[32], *text = gen_format(g, "%s", "");
    for (unsigned use = 0; use < IMAGE_USES; use++)
        for (unsigned i = 0; i < IMAGE_SHAPES; i++)
            if (g->images >> (use * IMAGE_SHAPES + i) & 1) {
                image_name(i, use, name);
                text = gen_format(g, "%s.global .%s %s;\n", text,
                                  use == IMAGE_TEXTURE ? "texref" : "surfref", name);
            }
    return text;
}
