/* Two stores in one stretch of memory, as one: neighbouring stores, of which each fills one half of
 * a stretch of two vectors, become two stores of vectors. */
#include "backend/jit/memory/store_pair.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/memory/lane_index.h"
#include "backend/jit/memory/lane_permute.h"
#include "backend/jit/value/registers.h"

/* j->insn stores to the one half of a stretch, the next instruction, alike, to the other. */
struct pair {
    struct jit_access a[2];
    struct jit_lane_order order; /* of both */
    int apart;                   /* elements from the first's lanes to the second's */
};

/* The second's lanes lie above the first's, if one was made from the other. */
static bool is_above(const struct jit *j, const struct pt_operand *first,
                     const struct pt_operand *second)
{
    uint32_t def = first->kind == PT_OPND_REG ? j->facts->regs[first->index].def : UINT32_MAX;
    const struct pt_insn *insn = def == UINT32_MAX ? NULL : &j->unit->f->insns.v[def];
    for (uint32_t k = 1; insn && k < insn->n_operands; k++) {
        const struct pt_operand *o = &j->unit->f->operands.v[insn->operands + k];
        if (o->kind == PT_OPND_REG && second->kind == PT_OPND_REG && o->index == second->index)
            return false;
    }
    return true;
}

/* Elements of the order and those `apart` from them are all of two vectors. */
static bool fills_stretch(const struct jit *j, const struct jit_lane_order *o, int apart)
{
    bool is_there[2 * JIT_ORDERED_LANES] = {0};
    for (unsigned i = 0; i < j->unit->width; i++) {
        if (o->place[i] + apart >= 2 * (int)j->unit->width)
            return false;
        is_there[o->place[i]] = is_there[o->place[i] + apart] = true;
    }
    for (unsigned e = 0; e < 2 * j->unit->width; e++)
        if (!is_there[e])
            return false;
    return true;
}

static bool find_apart(const struct jit *j, struct jit_lane_order *o, int *apart)
{
    for (int d = 1; d < (int)j->unit->width; d *= 2)
        if (fills_stretch(j, o, d)) {
            *apart = d;
            return true;
        }
    return false;
}

static bool ends_block(const struct jit *j, const struct pt_insn *insn)
{
    uint32_t behind = (uint32_t)(insn - j->unit->f->insns.v) + 1;
    bool is_end = behind == j->unit->f->insns.n;
    for (uint32_t b = 0; b < j->unit->f->blocks.n; b++)
        is_end |= j->unit->f->blocks.v[b].first == behind;
    return is_end;
}

static bool describe_pair(const struct jit *j, struct pair *p)
{
    const struct pt_insn *first = j->insn, *second = first + 1;
    if (first->form != second->form || first->guard != second->guard ||
        first->guard_neg != second->guard_neg || j->form->op != PT_OP_st)
        return false;
    struct jit next = *j;
    next.insn = second;
    return jit_access_try_describe(j, &p->a[0]) && jit_access_try_describe(&next, &p->a[1]) &&
           !p->a[0].is_load && jit_lane_permute_can_access(j, &p->a[0]);
}

/* Of every copy: NULL if it is no pair. */
static bool find_pair(const struct jit *j, unsigned copy, struct pair *p)
{
    struct jit_lane_order second;
    struct jit_indexes x, y;
    int64_t stride;
    if (j->form->op != PT_OP_st || ends_block(j, j->insn) || !describe_pair(j, p) ||
        jit_def_use_shape(j->facts, p->a[0].base, &stride) != JIT_VECTOR ||
        jit_def_use_shape(j->facts, p->a[1].base, &stride) != JIT_VECTOR ||
        !jit_lane_permute_find_order(j, &p->a[0], copy, &p->order) ||
        !jit_lane_permute_find_order(j, &p->a[1], copy, &second) ||
        memcmp(p->order.place, second.place, j->unit->width * sizeof *second.place) != 0 ||
        !find_apart(j, &p->order, &p->apart))
        return false;
    jit_lane_index_split(j, &p->a[0], &x);
    jit_lane_index_split(j, &p->a[1], &y);
    const struct pt_operand *first_at = x.is_split ? x.split.index : p->a[0].base;
    const struct pt_operand *second_at = y.is_split ? y.split.index : p->a[1].base;
    if (!is_above(j, first_at, second_at))
        p->apart = -p->apart;
    return x.is_split == y.is_split &&
           (!x.is_split ||
            (x.split.base->kind == PT_OPND_REG && y.split.base->kind == PT_OPND_REG &&
             x.split.base->index == y.split.base->index && p->a[0].base->imm == p->a[1].base->imm));
}

/* i1: so far apart they are. */
static LLVMValueRef fills_both(const struct jit *j, unsigned copy, const struct pair *p)
{
    struct jit_indexes x, y;
    jit_lane_index_find(j, &p->a[0], copy, &x);
    jit_lane_index_find(j, &p->a[1], copy, &y);
    LLVMValueRef apart = LLVMBuildSub(j->code->b, y.first, x.first, "");
    return LLVMBuildICmp(j->code->b, LLVMIntEQ, apart, jit_lane_index_distance(&x, p->apart), "");
}

/* ---- the stores ------------------------------------------------------------------------------ */

bool jit_store_pair_applies(const struct jit *j)
{
    struct pair pair;
    struct jit next = *j;
    next.insn++;
    if (!jit_access_is_trusted(j) || !jit_access_is_trusted(&next))
        return false;
    for (unsigned u = j->first_copy; u < j->end_copy; u++)
        if (!find_pair(j, u, &pair))
            return false;
    return true;
}

/* A half of the stretch: elements from `at` on. */
static void store_half(const struct jit *j, const struct pair *p, int at, LLVMValueRef pointer,
                       LLVMValueRef mask, LLVMValueRef first, LLVMValueRef second)
{
    const struct jit_access *a = &p->a[0];
    int lanes[JIT_ORDERED_LANES], whose[JIT_ORDERED_LANES], width = (int)j->unit->width,
                                                            low = p->apart < 0 ? width : 0;
    int apart = p->apart < 0 ? -p->apart : p->apart;
    for (int i = 0; i < width; i++)
        for (int upper = 0; upper < 2; upper++) {
            int e = p->order.place[i] + upper * apart - at;
            if (e < 0 || e >= width)
                continue;
            lanes[e] = i + (upper ? width - low : low);
            whose[e] = i;
        }
    LLVMValueRef at_half = jit_access_element(j, a, pointer, (unsigned)at), old;
    LLVMValueRef moved = jit_shuffle(j, first, second, lanes, j->unit->width);
    if (mask) {
        LLVMValueRef flow = jit_flow_of(j, mask);
        mask = jit_flow_mask(
            j, jit_shuffle(j, flow, LLVMConstNull(LLVMTypeOf(flow)), whose, j->unit->width));
    }
    if (mask && jit_contiguous_may_rewrite(j, a)) {
        jit_contiguous_load(j, a, at_half, NULL, &old);
        moved = LLVMBuildSelect(j->code->b, mask, moved, old, "");
        mask = NULL;
    }
    jit_contiguous_store(j, a, at_half, mask, &moved);
}

static void store_both(const struct jit *j, unsigned copy, const struct pair *p, LLVMValueRef *v)
{
    const struct jit_access *lower = &p->a[p->apart < 0];
    struct jit_indexes x;
    jit_lane_index_find(j, lower, copy, &x);
    LLVMValueRef lowest =
        LLVMBuildSub(j->code->b, x.first, jit_lane_index_distance(&x, p->order.place[0]), "");
    LLVMValueRef pointer =
        jit_access_pointer(j, lower, jit_lane_index_address(j, lower, copy, &x, lowest));
    store_half(j, p, 0, pointer, j->mask[copy], v[0], v[1]);
    store_half(j, p, (int)j->unit->width, pointer, j->mask[copy], v[0], v[1]);
}

void jit_store_pair_store(const struct jit *j, unsigned copy)
{
    struct pair p;
    LLVMValueRef v[2];
    find_pair(j, copy, &p);
    for (unsigned k = 0; k < 2; k++) {
        const struct jit_access *a = &p.a[k];
        v[k] = jit_registers_read(j, &a->values[0], copy, a->type, j->unit->width, false);
        v[k] = LLVMBuildBitCast(j->code->b, v[k], LLVMVectorType(a->element, j->unit->width), "");
    }
    LLVMBasicBlockRef both = jit_new_block(j, "both"), each = jit_new_block(j, "each");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, fills_both(j, copy, &p), both, each);
    jit_continue_in(j, both);
    store_both(j, copy, &p, v);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, each);
    for (unsigned k = 0; k < 2; k++)
        jit_lane_permute_access_known(j, &p.a[k], copy, &p.order, &v[k]);
    LLVMBuildBr(j->code->b, after);
    jit_continue_in(j, after);
}
