/* What an instruction costs on a GPU: its row in the instruction table tells the unit, unit and
 * types the rest. */
#include "runtime/registers/insn_cost.h"

/* Rows that are not named: ALU. */
static const uint8_t units[PT_OP_COUNT] = {
#define UNIT(unit, op) [PT_OP_##op] = PT_UNIT_##unit,
#include "runtime/registers/units.def"
};

static enum pt_memory memory_of(enum pt_space space)
{
    switch (space) {
    case PT_SPACE_SHARED:
    case PT_SPACE_SHARED_CLUSTER:
        return PT_MEMORY_SHARED;
    case PT_SPACE_LOCAL:
        return PT_MEMORY_LOCAL;
    case PT_SPACE_PARAM:
    case PT_SPACE_CONST:
        return PT_MEMORY_CONSTANT;
    default:
        return PT_MEMORY_GLOBAL;
    }
}

static int32_t latency_of(const struct pt_insn_cost *c)
{
    if (c->is_load)
        return c->memory == PT_MEMORY_SHARED ? 24 : c->memory == PT_MEMORY_CONSTANT ? 8 : 60;
    if (c->effects & PT_FX_ATOMIC)
        return 60;
    switch (c->unit) {
    case PT_UNIT_SHUFFLE:
    case PT_UNIT_VOTE:
    case PT_UNIT_TENSOR:
    case PT_UNIT_MATRIX_MEMORY:
        return 24;
    case PT_UNIT_MUFU:
    case PT_UNIT_DIVIDE:
        return 20;
    default:
        return c->is_f64 ? 8 : 5;
    }
}

struct pt_insn_cost pt_insn_cost_of(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    uint32_t effects = form->effects;
    struct pt_insn_cost c = {
        .op = form->op,
        .effects = effects,
        .unit = units[form->op],
        .memory = (uint8_t)memory_of(space),
        .vec = form->vec,
        .is_load = effects & PT_FX_READ && !(effects & (PT_FX_WRITE | PT_FX_ATOMIC)) &&
                   space != PT_SPACE_PARAM,
        .is_fence =
            effects & (PT_FX_FENCE | PT_FX_VOLATILE | PT_FX_CTA | PT_FX_CLUSTER | PT_FX_CALL),
        .is_integer = !effects,
    };
    for (unsigned t = 0; t < form->n_types; t++) {
        c.is_wide |= pt_type_bits(form->type[t]) == 64;
        c.is_narrow |= pt_type_bits(form->type[t]) == 16;
        c.is_f64 |= effects & PT_FX_FP && form->type[t] == PT_f64;
    }
    c.is_read_only = c.memory == PT_MEMORY_CONSTANT || pt_form_has(form, PT_M_nc);
    c.is_slow = c.unit == PT_UNIT_DIVIDE && (c.is_wide || effects & PT_FX_FP);
    c.latency = latency_of(&c);
    return c;
}
