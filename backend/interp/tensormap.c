/* tensormap.replace. PTX ISA 9.7.9.28. Values lose the bits that their field has no room for, as on
 * an H100. */
#include "backend/interp/address.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"

/* What is written: `bits` bits from bit `at` on become the value less `bias`. */
struct field {
    uint32_t map, value; /* slots */
    uint32_t at, bits, bias;
    uint32_t stride; /* bits == 0: this stride, or all of the address */
    bool is_address;
    bool sets_tf32, clears_swizzle;
};

static void change(const struct field *d, uint64_t *map, uint64_t value)
{
    if (d->is_address)
        map[PT_TENSORMAP_ADDRESS] = value;
    else if (!d->bits)
        pt_tensormap_put_stride(map, d->stride, value);
    else
        pt_tensormap_put(map, d->at, d->bits, (uint32_t)value - d->bias);
    if (d->sets_tf32)
        pt_tensormap_put(map, PT_TENSORMAP_TF32, 1, 1);
    if (d->clears_swizzle)
        pt_tensormap_put(map, PT_TENSORMAP_SWIZZLE_HIGH, 1, 0);
}

enum { FIELD_WORDS = 8 /* all fields lie in the first half */ };

PT_ACCESS static void change_at(const struct field *d, uint64_t address, uint64_t value)
{
    uint64_t *map = (uint64_t *)(uintptr_t)address, old[FIELD_WORDS], new[FIELD_WORDS];
    for (uint32_t i = 0; i < FIELD_WORDS; i++)
        old[i] = new[i] = map[i];
    change(d, new, value);
    for (uint32_t i = 0; i < FIELD_WORDS; i++)
        if (new[i] != old[i])
            map[i] = new[i];
}

PT_HANDLER(replace)
{
    const struct field *d = c->ptr;
    const uint64_t *map = (const uint64_t *)((const char *)f + d->map);
    const uint64_t *value = (const uint64_t *)((const char *)f + d->value);
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (map[i] % PT_TENSORMAP_ALIGN)
            return pt_fail_at(c, f, PT_FAULT_MISALIGNED, 1u << i, map[i], NULL);
        if (pt_is_observed(f) &&
            !pt_observe_access(c, f, 1u << i, map, PT_TENSORMAP_BYTES, PT_USE_WRITE, NULL))
            return NULL;
        f->state->acting = 1u << i;
        change_at(d, map[i], value[i]);
    }
    f->state->acting = 0;
    return c + 1;
}

static pt_handler select_replace(struct pt_select *s, const struct pt_operand *value,
                                 struct field field)
{
    struct field *d = pt_operands_array(s, sizeof *d);
    *d = field;
    d->map = pt_address_generic(s, &s->operands[0], pt_form_space(s->form));
    d->value = pt_operands_source(s, value, 8);
    s->code->ptr = d;
    return d->map == UINT32_MAX || d->value == UINT32_MAX ? NULL : replace;
}

pt_handler PT_DO(tensormap_address)(struct pt_select *s)
{
    return select_replace(s, &s->operands[1], (struct field){.is_address = true});
}

pt_handler PT_DO(tensormap_rank)(struct pt_select *s)
{
    return select_replace(s, &s->operands[1], (struct field){.at = PT_TENSORMAP_RANK, .bits = 3});
}

pt_handler PT_DO(tensormap_dim)(struct pt_select *s)
{
    const struct pt_operand *o = s->operands;
    uint32_t i = (uint32_t)o[1].imm;
    struct field field = {.stride = i};
    if (PT_HAS(s, global_stride) && i > 3)
        return pt_refuse(s, "a fifth stride");
    if (PT_HAS(s, box_dim))
        field = (struct field){.at = PT_TENSORMAP_BOX + 8 * i, .bits = 8, .bias = 1};
    else if (PT_HAS(s, global_dim))
        field = (struct field){.at = PT_TENSORMAP_SIZE + 32 * i, .bits = 32, .bias = 1};
    else if (PT_HAS(s, element_stride))
        field = (struct field){.at = PT_TENSORMAP_STEP + 3 * i, .bits = 3, .bias = 1};
    return select_replace(s, &o[2], field);
}

/* Another element type leaves the bit for tf32 as it is. */
static pt_handler select_element(struct pt_select *s)
{
    struct pt_operand type = s->operands[1];
    struct field field = {.at = PT_TENSORMAP_TYPE, .bits = 4};
    if (type.imm >= PT_ELEMENT_TF32) {
        field.sets_tf32 = true;
        type.imm = type.imm == PT_ELEMENT_TF32 ? PT_ELEMENT_F32 : PT_ELEMENT_F32_FTZ;
    }
    return select_replace(s, &type, field);
}

pt_handler PT_DO(tensormap_field)(struct pt_select *s)
{
    const struct pt_operand *value = &s->operands[1];
    if (PT_HAS(s, elemtype))
        return select_element(s);
    if (PT_HAS(s, interleave_layout))
        return select_replace(s, value, (struct field){.at = PT_TENSORMAP_INTERLEAVE, .bits = 2});
    if (PT_HAS(s, fill_mode))
        return select_replace(s, value, (struct field){.at = PT_TENSORMAP_FILL, .bits = 1});
    return select_replace(
        s, value, (struct field){.at = PT_TENSORMAP_SWIZZLE, .bits = 2, .clears_swizzle = true});
}
