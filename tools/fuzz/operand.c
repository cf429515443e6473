/* Operands of an instruction that is drawn. */
#include "tools/fuzz/draw.h"
#include "tools/fuzz/corner.h"

#include <string.h>

static void add_dest(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                     enum gen_class class)
{
    if ((slot->flags & PT_SLOT_WIDER) && class != GEN_P && gen_chance(g, 20) && class < GEN_D &&
        !g->for_gpu)
        class ++;
    const char *name = NULL;
    enum pt_type type = pt_slot_type(slot, &d->form);
    bool is_float = (type == PT_f32 && class == GEN_R) || (type == PT_f64 && class == GEN_D),
         is_value = d->values && class != GEN_H && gen_chance(g, 75);
    is_value &= !(slot->flags & PT_SLOT_INOUT); /* it is read, too */
    if (is_value) {
        d->made[d->n_made] = gen_new_value(g, class, is_float && gen_chance(g, 50));
        name = d->made[d->n_made++].name;
    }
    for (bool taken = !is_value; taken;) {
        name = gen_format(g, "%%%s%c%u", d->uniform ? "u" : "", "phrd"[class],
                          gen_below(g, d->uniform ? GEN_UNIFORM_POOL : GEN_POOL));
        taken = false;
        for (unsigned i = 0; i < d->n_written; i++)
            taken |= !strcmp(d->written[i], name);
    }
    d->type[d->n_written] = type;
    d->written[d->n_written++] = name;
    strcat(d->operands, name);
}

/* A register with the same value, of which the assembler knows nothing. */
static const char *hidden(struct gen *g, struct drawn *d, enum gen_class class, const char *source)
{
    static const char *const names[] = {NULL, "s", "t", "x"};
    unsigned bits = 8u << class;
    const char *name = gen_format(g, "%%%s%u", names[class], gen_temp(g));
    d->before =
        gen_format(g, "%sor.b%u %s, %s, %%nought%u;\n", d->before, bits, name, source, bits);
    return name;
}

static bool add_source(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                       enum pt_type type, enum gen_class class, const struct gen_place *place)
{
    char text[64];
    bool hides = g->for_gpu && class != GEN_P && draw_is_folded_wrong(d);
    bool is_open =
        hides ||
        (g->for_gpu && (type == PT_f32 || type == PT_f64 || pt_type_bits(d->form.type[0]) == 16));
    bool wants = slot->kind == PT_SLOT_VALUE && class != GEN_P && !d->has_constant &&
                 !(slot->flags & PT_SLOT_SELECTED) && gen_chance(g, 16) && !is_open;
    if (wants && draw_constant(g, slot, type, text, sizeof text)) {
        d->has_constant = true;
        strcat(d->operands, text);
        return true;
    }
    if ((slot->flags & PT_SLOT_WIDER) && class != GEN_P && gen_chance(g, 20) && class < GEN_D)
        class ++;
    if ((slot->flags & PT_SLOT_NOT) && class == GEN_P && gen_chance(g, 25))
        strcat(d->operands, "!");
    if ((slot->flags & PT_SLOT_MINUS) && g->has_selectors && !strchr(d->operands, '-') &&
        gen_chance(g, 25))
        strcat(d->operands, "-");
    bool is_float = (type == PT_f32 && class == GEN_R) || (type == PT_f64 && class == GEN_D);
    const char *value =
        is_float && !d->uniform && !hides ? gen_preferred(g, place, class, true) : NULL;
    if (!value)
        value = d->uniform ? gen_uniform_source(g, place, class) : gen_source(g, place, class);
    strcat(d->operands, hides ? hidden(g, d, class, value) : value);
    draw_selector(g, d, slot, false);
    return true;
}

static bool add_parts(struct gen *g, struct drawn *d, const struct pt_slot *slot, unsigned n,
                      const char *between, const struct gen_place *place)
{
    for (unsigned i = 0; i < n; i++) {
        strcat(d->operands, i ? between : "");
        d->element = *between == ',' ? i + 1 : 0;
        if (!draw_operand(g, d, pt_slot_sub(slot, i), place))
            return false;
    }
    d->element = 0;
    return true;
}

static bool add_vector(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                       const struct gen_place *place)
{
    unsigned lo, hi;
    pt_slot_count(slot, &d->form, &lo, &hi);
    bool has_braces = !((slot->flags & PT_SLOT_BY_VEC) && hi == 1);
    strcat(d->operands, has_braces ? "{" : "");
    unsigned n = d->wish && lo < hi && lo != 3 && gen_chance(g, 50) ? lo : hi;
    bool is_good = n >= 1 && n <= (d->wish ? 8u : 4u) && add_parts(g, d, slot, n, ", ", place);
    strcat(d->operands, has_braces ? "}" : "");
    return is_good;
}

/* "[image, {coordinates}]" */
static bool add_image(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                      const struct gen_place *place)
{
    if (draw_may_be_outside(d))
        return false;
    const char *image = draw_image(g, d, pt_slot_sub(slot, 0));
    strcat(d->operands, gen_format(g, "[%s", image));
    for (unsigned i = 1; i < slot->n_sub; i++) {
        strcat(d->operands, ", ");
        d->is_place = true;
        bool ok = draw_operand(g, d, pt_slot_sub(slot, i), place);
        d->is_place = false;
        if (!ok)
            return false;
    }
    strcat(d->operands, "]");
    d->is_granted |= pt_slot_sub(slot, 0)->name == d->wish->group->letter;
    return true;
}

bool draw_operand(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                  const struct gen_place *place)
{
    enum pt_type type = pt_slot_type(slot, &d->form);
    enum gen_class class;
    char text[64];
    if (d->wish && draw_is_image(d, slot))
        return add_image(g, d, slot, place);
    if (d->wish && slot->kind != PT_SLOT_PAIR && slot->kind != PT_SLOT_VEC)
        return draw_wanted(g, d, slot, place);
    switch (slot->kind) {
    case PT_SLOT_VALUE:
    case PT_SLOT_REG:
        if (!draw_class(slot, type, &class) ||
            d->n_written == (d->uniform ? GEN_UNIFORM_POOL : GEN_POOL))
            return false;
        if (!pt_slot_is_dest(slot))
            return add_source(g, d, slot, type, class, place);
        add_dest(g, d, slot, class);
        draw_selector(g, d, slot, false);
        return true;
    case PT_SLOT_IMM:
    case PT_SLOT_FIMM:
        if (!draw_constant(g, slot, type, text, sizeof text))
            return false;
        strcat(d->operands, text);
        return true;
    case PT_SLOT_PAIR:
        return add_parts(g, d, slot, 2, "|", place);
    case PT_SLOT_VEC:
        return add_vector(g, d, slot, place);
    default:
        return false;
    }
}

bool draw_operands(struct gen *g, struct drawn *d, const struct gen_place *place)
{
    d->operands[0] = 0;
    d->before = "";
    d->n_written = d->n_made = 0;
    d->element = 0;
    d->has_constant = d->is_granted = false;
    for (unsigned i = 0; i < pt_form_operands(&d->form); i++) {
        strcat(d->operands, i ? ", " : "");
        if (!draw_operand(g, d, pt_form_slot(&d->form, i), place))
            return false;
    }
    return d->n_written > 0 || d->wish;
}

/* Makes the one NaN of all NaNs in a register of a floating-point type. */
static const char *settle_nan(struct gen *g, enum pt_type type, const char *name)
{
    unsigned n = gen_temp(g), m = gen_temp(g);
    const char *spelling = pt_type_name(type);
    switch (type) {
    case PT_f16:
    case PT_bf16:
        return gen_format(g, "\nsetp.nan.%s %%q%u, %s, %s;\nselp.b16 %s, 0x7fff, %s, %%q%u;",
                          spelling, n, name, name, name, name, n);
    case PT_f16x2:
    case PT_bf16x2:
        return gen_format(g,
                          "\nsetp.nan.%s %%q%u|%%q%u, %s, %s;\nand.b32 %%t%u, %s, "
                          "0xffff0000;\nor.b32 %%t%u, %%t%u, 0x7fff;\n"
                          "selp.b32 %s, %%t%u, %s, %%q%u;\nand.b32 %%t%u, %s, 0xffff;\nor.b32 "
                          "%%t%u, %%t%u, 0x7fff0000;\n"
                          "selp.b32 %s, %%t%u, %s, %%q%u;",
                          spelling, n, m, name, name, n, name, n, n, name, n, name, n, m, name, m,
                          m, name, m, name, m);
    case PT_f32:
        return gen_format(g, "\nsetp.nan.f32 %%q%u, %s, %s;\nselp.b32 %s, 0x7fffffff, %s, %%q%u;",
                          n, name, name, name, name, n);
    case PT_f64:
        return gen_format(
            g, "\nsetp.nan.f64 %%q%u, %s, %s;\nselp.b64 %s, 0x7fffffffffffffff, %s, %%q%u;", n,
            name, name, name, name, n);
    default:
        return "";
    }
}

const char *draw_settled(struct gen *g, const struct drawn *d)
{
    const char *text = "";
    for (unsigned i = 0; g->for_gpu && i < d->n_written; i++)
        text = gen_format(g, "%s%s", text, settle_nan(g, d->type[i], d->written[i]));
    return text;
}
