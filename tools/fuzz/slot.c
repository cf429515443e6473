/* What a slot of an instruction takes. */
#include "tools/fuzz/draw.h"

#include <string.h>

bool draw_class(const struct pt_slot *slot, enum pt_type type, enum gen_class *class)
{
    unsigned bits = pt_type_bits(type);
    if (bits == 8 && (slot->flags & PT_SLOT_WIDER))
        bits = 16;
    *class = bits == 1 ? GEN_P : bits == 16 ? GEN_H : bits == 32 ? GEN_R : GEN_D;
    return bits == 16 || bits == 32 || bits == 64 || type == PT_pred;
}

bool draw_constant(struct gen *g, const struct pt_slot *slot, enum pt_type type, char *text,
                   size_t n)
{
    unsigned bits = pt_type_bits(type);
    int64_t value;
    if (slot->n_values & PT_SLOT_ONE_OF) {
        value = slot->value[gen_below(g, slot->n_values & 0xf)];
    } else if (slot->n_values) {
        unsigned steps = (unsigned)(slot->value[1] - slot->value[0]) / (unsigned)slot->value[2] + 1;
        value = slot->value[0] + (int64_t)gen_below(g, steps) * slot->value[2];
    } else if (slot->kind == PT_SLOT_IMM) {
        value = gen_below(g, 256);
    } else if (type == PT_f32 || type == PT_f64) {
        snprintf(text, n, type == PT_f32 ? "0f%08llX" : "0d%016llX",
                 (unsigned long long)gen_special(g, bits));
        return true;
    } else if (bits < 16 || pt_type_class(type) == PT_CLASS_F || pt_type_class(type) > PT_CLASS_F) {
        return false;
    } else {
        value = (int64_t)gen_special(g, bits);
        if (pt_type_class(type) == PT_CLASS_S && bits < 64 && value >> (bits - 1))
            value -= INT64_C(1) << bits;
    }
    if (pt_type_class(type) == PT_CLASS_S || slot->kind == PT_SLOT_IMM)
        snprintf(text, n, "%lld", (long long)value);
    else
        snprintf(text, n, "%llu", (unsigned long long)value);
    return true;
}

void draw_selector(struct gen *g, struct drawn *d, const struct pt_slot *slot, bool has_to)
{
    unsigned parts = slot->parts;
    bool is_half = parts == 2 || (parts == 1 && gen_chance(g, 50));
    unsigned choices = parts > 1 ? 2 * parts : is_half ? 2 : 4;
    if (!(slot->flags & PT_SLOT_SELECTED) && !has_to &&
        !((slot->flags & PT_SLOT_SELECT) && g->has_selectors && gen_chance(g, 40)))
        return;
    strcat(d->operands, is_half ? ".h" : ".b");
    for (unsigned i = parts; i--;) {
        bool is_mask = parts > 1 && pt_slot_is_dest(slot);
        if (!is_mask || !i || gen_chance(g, 50))
            strcat(d->operands, gen_format(g, "%u", is_mask ? i : gen_below(g, choices)));
    }
}

bool draw_is_folded_wrong(const struct drawn *d)
{
    bool is_convert = !strncmp(d->spelling, "cvt.", 4), is_mad = !strncmp(d->spelling, "mad.", 4);
    return pt_form_has(&d->form, PT_M_approx) || pt_form_has(&d->form, PT_M_full) ||
           !strncmp(d->spelling, "slct.", 5) || (is_convert && pt_form_has(&d->form, PT_M_sat)) ||
           (is_mad && pt_form_has(&d->form, PT_M_hi));
}
