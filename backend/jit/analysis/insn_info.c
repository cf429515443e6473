/* What is known of an instruction by itself: which unit runs it, what it has an effect on, who
 * takes part. */
#include "backend/jit/analysis/insn_info.h"

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/bitset.h"
#include "backend/jit/emit/lane_call.h"
#include "backend/jit/jit.h"
#include "backend/jit/object/snapshot.h"
#include "backend/order.h"

bool jit_insn_info_is_idle(const struct pt_form *form)
{
    switch (form->op) {
    case PT_OP_cp_async_commit:
    case PT_OP_cp_async_wait:
    case PT_OP_cp_bulk_commit:
    case PT_OP_cp_bulk_wait:
    case PT_OP_wgmma_fence:
    case PT_OP_wgmma_commit:
    case PT_OP_wgmma_wait:
        return true;
    default:
        return false;
    }
}

bool jit_insn_info_is_read(const struct jit_facts *a, const struct pt_operand *d)
{
    return d->kind == PT_OPND_REG && jit_set_has(a->read, d->index);
}

bool jit_insn_info_is_ordered(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    const struct pt_operand *o = &a->unit->f->operands.v[insn->operands];
    bool commutes = pt_form_has(form, PT_M_add) || pt_form_has(form, PT_M_min) ||
                    pt_form_has(form, PT_M_max) || pt_form_has(form, PT_M_and) ||
                    pt_form_has(form, PT_M_or) || pt_form_has(form, PT_M_xor);
    return !commutes || (form->effects & PT_FX_FP) ||
           (o->kind != PT_OPND_MEM && jit_insn_info_is_read(a, o));
}

bool jit_insn_info_is_batched(const struct jit_facts *a, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(a->unit->m, insn);
    const struct pt_operand *d = &a->unit->f->operands.v[insn->operands];
    if (insn->guard || (form->effects & ~(uint32_t)PT_FX_FP) || d->kind != PT_OPND_REG ||
        a->regs[d->index].shape != JIT_VECTOR)
        return false;
    return jit_lane_call_is_needed(a->unit, form);
}

bool jit_insn_info_is_sync(const struct jit_facts *a, uint32_t block)
{
    const struct pt_insn *first = &a->unit->f->insns.v[a->unit->f->blocks.v[block].first];
    return jit_insn_info_is_barrier(pt_insn_form(a->unit->m, first));
}

bool jit_insn_info_block_has_effect(const struct jit_facts *a, uint32_t block, uint32_t effect)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])->effects & effect)
            return true;
    return false;
}

bool jit_insn_info_has_effect(const struct jit_facts *a, uint32_t effect)
{
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_insn_info_block_has_effect(a, b, effect))
            return true;
    return false;
}

/* An access that all lanes of a warp do before any goes on. */
static bool is_ordering_point(const struct pt_form *form)
{
    bool is_access = form->effects & (PT_FX_READ | PT_FX_WRITE);
    return (form->effects & PT_FX_ATOMIC) || (is_access && pt_order_of(form) != PT_ORDER_PLAIN);
}

bool jit_insn_info_has_ordering_points(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        if (is_ordering_point(pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])))
            return true;
    return false;
}

/* Those whose order could be observed: warps do them one after the other. */
bool jit_insn_info_tells_order(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++) {
        const struct pt_form *form = pt_insn_form(a->unit->m, &a->unit->f->insns.v[i]);
        bool is_atomic = form->effects & PT_FX_ATOMIC;
        if (is_ordering_point(form) &&
            (!is_atomic || jit_insn_info_is_ordered(a, &a->unit->f->insns.v[i])))
            return true;
    }
    return false;
}

/* Accesses that checked code leaves to the interpreter, which checks them. */
static bool is_left_to_check(const struct jit_facts *a, const struct pt_form *form)
{
    bool is_one = form->op == PT_OP_cp_async ||
                  (form->effects & PT_FX_WARP && form->effects & (PT_FX_READ | PT_FX_WRITE));
    return is_one && jit_is_checked(a->unit);
}

bool jit_insn_info_is_stepped(const struct jit_facts *a, const struct pt_form *form)
{
    if (is_left_to_check(a, form))
        return true;
    return pt_op_compiled((enum pt_op)form->op) == PT_JIT_CALL &&
           !jit_lane_call_exists(a->unit, form) && !jit_insn_info_is_product(a, form) &&
           !jit_insn_info_is_sampled(form, NULL);
}

static uint32_t sampling_of(const struct pt_form *form)
{
    switch (form->op) {
#define GEOMETRY(name, sampling) \
    case PT_OP_tex_##name:       \
        return sampling;         \
    case PT_OP_tex_##name##_s32: \
        return (sampling) | PT_SAMPLING_WHOLE;
        GEOMETRY(1d, 1)
        GEOMETRY(2d, 2)
        GEOMETRY(3d, 3)
        GEOMETRY(a1d, 1 | PT_SAMPLING_LAYERED)
        GEOMETRY(a2d, 2 | PT_SAMPLING_LAYERED)
#undef GEOMETRY
    default:
        return 0;
    }
}

/* Four words, and nothing behind the address. */
bool jit_insn_info_is_sampled(const struct pt_form *form, uint32_t *sampling)
{
    uint32_t how = sampling_of(form);
    if (sampling)
        *sampling = how;
    return how && pt_form_operands(form) == 2 && pt_form_slot(form, 0)->kind == PT_SLOT_VEC &&
           form->type[0] != PT_f16x2 && pt_type_bits((enum pt_type)form->type[0]) == 32;
}

bool jit_insn_info_has_warp_calls(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        if (jit_insn_info_is_sampled(pt_insn_form(a->unit->m, &a->unit->f->insns.v[i]), NULL))
            return true;
    return jit_insn_info_has_steps(a);
}

bool jit_insn_info_has_steps(const struct jit_facts *a)
{
    for (uint32_t i = 0; i < a->unit->f->insns.n; i++)
        if (jit_insn_info_is_stepped(a, pt_insn_form(a->unit->m, &a->unit->f->insns.v[i])))
            return true;
    return false;
}

bool jit_insn_info_is_plain_load(const struct pt_form *form)
{
    enum pt_space space = pt_form_space(form);
    return (form->op == PT_OP_ld || form->op == PT_OP_ld_nc) && form->effects == PT_FX_READ &&
           pt_order_of(form) == PT_ORDER_PLAIN &&
           (space == PT_SPACE_SHARED || space == PT_SPACE_GLOBAL);
}

static bool talks(const struct jit_facts *a, uint32_t block)
{
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct pt_form *form = pt_insn_form(a->unit->m, &a->unit->f->insns.v[i]);
        if ((form->effects & PT_FX_WARP) || jit_insn_info_is_barrier(form))
            return true;
    }
    return false;
}

static bool reaches_talk(const struct jit_facts *a, uint32_t block, uint64_t *seen)
{
    if (jit_set_has(seen, block))
        return false;
    jit_set_add(seen, block);
    if (talks(a, block))
        return true;
    const struct pt_block *b = &a->unit->f->blocks.v[block];
    for (uint32_t e = 0; e < b->n_succ; e++)
        if (reaches_talk(a, a->unit->f->edges.v[b->succ + e], seen))
            return true;
    return false;
}

uint8_t jit_insn_info_stop(const struct jit_facts *a, uint32_t block)
{
    return a->uniformity->stops ? a->uniformity->stops[block] : PT_STOP_NONE;
}

bool jit_insn_info_is_whole(const struct jit_facts *a, uint32_t block)
{
    if (jit_insn_info_stop(a, block) >= PT_STOP_EACH)
        return true;
    const uint64_t *waits = jit_def_use_waits(a, block);
    uint64_t *seen = pt_arena_alloc(a->unit->arena, a->uniformity->words * sizeof *seen);
    for (uint32_t b = 0; b < a->unit->f->blocks.n; b++)
        if (jit_set_has(waits, b) && reaches_talk(a, b, seen))
            return false;
    return true;
}

bool jit_insn_info_is_product(const struct jit_facts *a, const struct pt_form *form)
{
    return jit_snapshot_product(a->unit->snapshot, form) != NULL;
}
