/* Addresses of lanes one by one, made of what each lane loads. Atomics are done lane by lane; where
 * their addresses were computed in vectors each would be moved out of one, which takes longer than
 * all that is left to do: so the lane's element is loaded again, and its address made of that. If
 * the vector has no other reader LLVM leaves it out. (Zen 4, 2026-11-25: histogram 1.53 of the
 * OpenMP twin's time, 1.76 by way of vectors.)
 */
#include "backend/jit/memory/lane_address.h"

#include <llvm-c/DebugInfo.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/tune.h"
#include "backend/jit/value/registers.h"
#include "backend/order.h"
#include "ir/insn.h"

/* The operand of an instruction that differs between lanes; 0: there are several, or none. */
static unsigned varying(const struct jit *j, const struct pt_operand *o, unsigned n)
{
    unsigned found = 0;
    for (unsigned k = 1; k < n; k++) {
        int64_t stride;
        if (o[k].kind == PT_OPND_IMM || jit_def_use_shape(j->facts, &o[k], &stride) == JIT_SCALAR)
            continue;
        if (found || o[k].kind != PT_OPND_REG)
            return 0;
        found = k;
    }
    return found;
}

static const struct pt_operand *operands(const struct jit *j, uint32_t insn)
{
    return &j->unit->f->operands.v[j->unit->f->insns.v[insn].operands];
}

static enum pt_op op_of(const struct jit *j, uint32_t insn)
{
    return (enum pt_op)pt_insn_form(j->unit->m, &j->unit->f->insns.v[insn])->op;
}

/* The operand of a step of two that is the same in all lanes. */
static const struct pt_operand *uniform(const struct jit *j, uint32_t insn)
{
    const struct pt_operand *o = operands(j, insn);
    return &o[3 - varying(j, o, 3)];
}

/* A step from one lane's value to the next that is known here. */
static bool is_step(const struct jit *j, const struct pt_insn *insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, insn);
    const struct pt_operand *o = &j->unit->f->operands.v[insn->operands];
    enum pt_type type = (enum pt_type)form->type[0];
    uint64_t by;
    bool is_signed = pt_type_class(type) == PT_CLASS_S;
    if (insn->guard || pt_type_bits(type) != 32)
        return false;
    switch ((enum pt_op)form->op) {
    case PT_OP_mov:
        return insn->n_operands == 2 && varying(j, o, 2) == 1;
    case PT_OP_shr:
    case PT_OP_shl:
        return !(is_signed && form->op == PT_OP_shr) && varying(j, o, 3) == 1 &&
               jit_def_use_constant(j->facts, &o[2], &by) && by < 32;
    case PT_OP_and_b:
    case PT_OP_add_int:
    case PT_OP_mul_lo:
        return insn->n_operands == 3 && !pt_form_has(form, PT_M_sat) && varying(j, o, 3);
    default:
        return false;
    }
}

/* Nothing between two instructions of the block writes memory or waits. */
static bool is_quiet(const struct jit *j, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && to - from <= JIT_LANE_ADDRESS_INSNS; i++)
        if (pt_insn_form(j->unit->m, &j->unit->f->insns.v[i])->effects & ~(unsigned)PT_FX_READ)
            return false;
    return to - from <= JIT_LANE_ADDRESS_INSNS;
}

static bool is_load(const struct jit *j, uint32_t insn)
{
    const struct pt_form *form = pt_insn_form(j->unit->m, &j->unit->f->insns.v[insn]);
    return form->effects == PT_FX_READ && pt_form_space(form) == PT_SPACE_GLOBAL &&
           pt_order_of(form) == PT_ORDER_PLAIN && !j->unit->f->insns.v[insn].guard &&
           pt_type_bits((enum pt_type)form->type[0]) == 32;
}

static struct jit_loaded *loaded_by(const struct jit *j, uint32_t insn)
{
    return &j->code->loaded[insn % JIT_LOADED];
}

void jit_lane_address_forget(const struct jit *j)
{
    uint32_t insn = (uint32_t)(j->insn - j->unit->f->insns.v);
    *loaded_by(j, insn) = (struct jit_loaded){.insn = insn};
}

void jit_lane_address_note(const struct jit *j, unsigned copy, LLVMValueRef vector)
{
    if (vector && LLVMIsALoadInst(vector) && !LLVMGetVolatile(vector) &&
        LLVMGetTypeKind(LLVMTypeOf(vector)) == LLVMVectorTypeKind)
        loaded_by(j, (uint32_t)(j->insn - j->unit->f->insns.v))->vector[copy] = vector;
}

/* What the load gave are vectors that were loaded as they are. */
static bool find_vectors(const struct jit *j, uint32_t insn, struct jit_lane_address *at)
{
    const struct jit_loaded *loaded = loaded_by(j, insn);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        if (j->mask[u] || loaded->insn != insn || !loaded->vector[u])
            return false;
        at->loads[u] = loaded->vector[u];
    }
    return true;
}

/* What the step has of other operands is there where j->insn stands. */
static bool keeps_uniform(const struct jit *j, uint32_t insn)
{
    const struct pt_operand *o = op_of(j, insn) == PT_OP_mov ? NULL : uniform(j, insn);
    return !o || o->kind != PT_OPND_REG ||
           jit_def_use_is_unchanged(j->facts, o->index, insn,
                                    (uint32_t)(j->insn - j->unit->f->insns.v), j->block);
}

bool jit_lane_address_find(const struct jit *j, const struct pt_operand *base,
                           struct jit_lane_address *at)
{
    const struct pt_block *block = &j->unit->f->blocks.v[j->block];
    uint32_t insn = (uint32_t)(j->insn - j->unit->f->insns.v), reg;
    const struct pt_operand *o = base;
    at->n = 0;
    do {
        reg = o->kind == PT_OPND_REG ? o->index : 0;
        uint32_t def = reg ? j->facts->regs[reg].only : UINT32_MAX;
        if (def == UINT32_MAX || def < block->first || def >= insn ||
            at->n == JIT_LANE_ADDRESS_STEPS)
            return false;
        at->steps[at->n++] = insn = def;
        o = &j->unit->f->operands.v[j->unit->f->insns.v[def].operands];
        if (is_load(j, def))
            break;
        if (!is_step(j, &j->unit->f->insns.v[def]) || !keeps_uniform(j, def))
            return false;
        o += varying(j, o, j->unit->f->insns.v[def].n_operands);
    } while (true);
    return is_quiet(j, insn, (uint32_t)(j->insn - j->unit->f->insns.v)) &&
           find_vectors(j, insn, at);
}

/* The load is volatile: LLVM would put those of all lanes in front, more than registers hold. */
static LLVMValueRef load_lane(const struct jit *j, LLVMValueRef vector, unsigned lane)
{
    LLVMValueRef from = LLVMGetOperand(vector, 0);
    LLVMValueRef one = LLVMBuildLoad2(j->code->b, jit_i32_of(j),
                                      jit_at(j, from, jit_i64(j, lane * sizeof(uint32_t))), "");
    LLVMSetAlignment(one, sizeof(uint32_t));
    LLVMSetVolatile(one, true);
    LLVMInstructionSetDebugLoc(one, LLVMInstructionGetDebugLoc(vector));
    return one;
}

static LLVMValueRef step(const struct jit *j, uint32_t insn, unsigned copy, LLVMValueRef x)
{
    enum pt_op op = op_of(j, insn);
    if (op == PT_OP_mov)
        return x;
    LLVMValueRef y = jit_registers_read(j, uniform(j, insn), copy, PT_u32, 1, false);
    switch (op) {
    case PT_OP_shr:
        return LLVMBuildLShr(j->code->b, x, y, "");
    case PT_OP_shl:
        return LLVMBuildShl(j->code->b, x, y, "");
    case PT_OP_and_b:
        return LLVMBuildAnd(j->code->b, x, y, "");
    case PT_OP_mul_lo:
        return LLVMBuildMul(j->code->b, x, y, "");
    default:
        return LLVMBuildAdd(j->code->b, x, y, "");
    }
}

LLVMValueRef jit_lane_address_make(const struct jit *j, const struct jit_lane_address *at,
                                   unsigned copy, unsigned lane)
{
    LLVMValueRef x = load_lane(j, at->loads[copy], lane);
    for (uint32_t k = at->n - 1; k--;)
        x = step(j, at->steps[k], copy, x);
    return x;
}
