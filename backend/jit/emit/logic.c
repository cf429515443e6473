/* Emitters of logic and shifts (PTX ISA 9.7.8). */
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = value;
    return true;
}

/* ---- logic ----------------------------------------------------------------------------------- */

bool jit_emit_and(struct jit_op *op)
{
    return give(op, BUILD(And, op->a[0], op->a[1]));
}

bool jit_emit_or(struct jit_op *op)
{
    return give(op, BUILD(Or, op->a[0], op->a[1]));
}

bool jit_emit_xor(struct jit_op *op)
{
    return give(op, BUILD(Xor, op->a[0], op->a[1]));
}

bool jit_emit_not(struct jit_op *op)
{
    return give(op, BUILD(Not, op->a[0]));
}

bool jit_emit_cnot(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef is_zero = BUILD(ICmp, LLVMIntEQ, op->a[0], jit_int_const(op, bits, 0));
    return give(op, jit_extend(op, is_zero, bits, false));
}

/* The function of x and y whose table has the result for x, y in bit 2 * x + y. */
static LLVMValueRef of_two(struct jit_op *op, unsigned table, LLVMValueRef x, LLVMValueRef y)
{
    if (table & 8) /* of the complement: that is not true at 1, 1 */
        return BUILD(Not, of_two(op, ~table & 15, x, y));
    switch (table) {
    case 0:
        return jit_int_const(op, 32, 0);
    case 1:
        return BUILD(Not, BUILD(Or, x, y));
    case 2:
        return BUILD(And, BUILD(Not, x), y);
    case 3:
        return BUILD(Not, x);
    case 4:
        return BUILD(And, x, BUILD(Not, y));
    case 5:
        return BUILD(Not, y);
    case 6:
        return BUILD(Xor, x, y);
    default:
        return BUILD(Not, BUILD(And, x, y));
    }
}

/* By a: what it is at a = 0, and where a = 1 makes a difference. */
static LLVMValueRef of_three(struct jit_op *op, unsigned table)
{
    unsigned at0 = table & 15, at1 = table >> 4 & 15;
    LLVMValueRef low = of_two(op, at0, op->a[1], op->a[2]);
    if (at0 == at1)
        return low;
    LLVMValueRef changes = of_two(op, at0 ^ at1, op->a[1], op->a[2]);
    return BUILD(Xor, low, BUILD(And, op->a[0], changes));
}

bool jit_emit_lop3(struct jit_op *op)
{
    return give(op, of_three(op, (unsigned)jit_immediate(op, 4)));
}

bool jit_emit_lop3_bool(struct jit_op *op)
{
    LLVMValueRef d = of_three(op, (unsigned)jit_immediate(op, 4)), q = op->a[op->n - 1];
    LLVMValueRef is_set = BUILD(ICmp, LLVMIntNE, d, jit_int_const(op, 32, 0));
    op->d[0] = d;
    op->d[1] = jit_has(op, PT_M_or) ? BUILD(Or, is_set, q) : BUILD(And, is_set, q);
    return true;
}

/* ---- shifts: by the width or more clears, or fills with the sign ----------------------------- */

bool jit_emit_shl(struct jit_op *op)
{
    return give(op, jit_shift(op, op->a[0], op->a[1], jit_form_bits(op, 0), true));
}

bool jit_emit_shr(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    if (!jit_form_signed(op, 0))
        return give(op, jit_shift(op, op->a[0], op->a[1], bits, false));
    LLVMValueRef n = jit_resize(op, jit_min_const(op, op->a[1], 32, bits - 1), bits, false);
    return give(op, jit_check_proven(op->j->code, BUILD(AShr, op->a[0], n), "amount"));
}

/* The upper word of b:a shifted left, or the lower one of it shifted right. */
bool jit_emit_shf(struct jit_op *op)
{
    bool is_right = jit_has(op, PT_M_r);
    LLVMValueRef n = op->a[2], args[] = {op->a[1], op->a[0], n};
    LLVMValueRef d =
        jit_intrinsic(op->j, is_right ? "llvm.fshr" : "llvm.fshl", jit_ints(op, 32), args, 3);
    if (!jit_has(op, PT_M_wrap)) {
        LLVMValueRef is_all = BUILD(ICmp, LLVMIntUGE, n, jit_int_const(op, 32, 32));
        d = BUILD(Select, is_all, op->a[is_right], d);
    }
    return give(op, d);
}
