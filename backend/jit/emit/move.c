/* Emitters of data movement (PTX ISA 9.7.9). */
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = value;
    return true;
}

/* ---- prmt ------------------------------------------------------------------------------------ */

/* The byte at which a mode begins, in bits: 8 * (c & 3). */
static LLVMValueRef first_byte(struct jit_op *op)
{
    LLVMValueRef n = BUILD(And, op->a[2], jit_int_const(op, 32, 3));
    return BUILD(Shl, n, jit_int_const(op, 32, 3));
}

/* a, and what lies `bits` above it in b:a and b:a again: likewise below, where is_right is
 * false. */
static LLVMValueRef slide(struct jit_op *op, LLVMValueRef bits, bool is_right)
{
    LLVMValueRef args[] = {op->a[is_right], op->a[!is_right], bits};
    return jit_intrinsic(op->j, is_right ? "llvm.fshr" : "llvm.fshl", jit_ints(op, 32), args, 3);
}

/* The part of a at `from` bits (below 32), in all of d: `mask` is as wide as the part, `ones` has a
 * one at the foot of each. */
static LLVMValueRef repeat(struct jit_op *op, LLVMValueRef from, uint32_t mask, uint32_t ones)
{
    LLVMValueRef low = jit_check_proven(op->j->code, BUILD(LShr, op->a[0], from), "amount");
    LLVMValueRef part = BUILD(And, low, jit_int_const(op, 32, mask));
    return BUILD(Mul, part, jit_int_const(op, 32, ones));
}

/* The bytes of a, but for those above (below) the first, which become as that. */
static LLVMValueRef clamp_bytes(struct jit_op *op, bool is_left)
{
    LLVMValueRef n = first_byte(op), byte = repeat(op, n, 0xff, 0x01010101);
    LLVMValueRef keep =
        BUILD(Shl, jit_int_const(op, 32, is_left ? ~UINT32_C(0xff) : UINT32_MAX), n);
    jit_check_proven(op->j->code, keep, "amount"); /* at most 24 */
    keep = is_left ? keep : BUILD(Not, keep);
    return BUILD(Or, BUILD(And, op->a[0], keep), BUILD(And, byte, BUILD(Not, keep)));
}

/* What a mode makes of a and b (table in PTX ISA 9.7.8.7); NULL: there is none. */
static LLVMValueRef prmt_mode(struct jit_op *op)
{
    LLVMValueRef n;
    if (jit_has(op, PT_M_f4e))
        return slide(op, first_byte(op), true);
    if (jit_has(op, PT_M_b4e)) {
        n = BUILD(Sub, jit_int_const(op, 32, 24), first_byte(op));
        return jit_unary(op, "llvm.bswap", slide(op, n, false));
    }
    if (jit_has(op, PT_M_rc8))
        return repeat(op, first_byte(op), 0xff, 0x01010101);
    if (jit_has(op, PT_M_ecl) || jit_has(op, PT_M_ecr))
        return clamp_bytes(op, jit_has(op, PT_M_ecl));
    if (!jit_has(op, PT_M_rc16))
        return NULL;
    n = BUILD(And, op->a[2], jit_int_const(op, 32, 1));
    return repeat(op, BUILD(Shl, n, jit_int_const(op, 32, 4)), 0xffff, 0x00010001);
}

/* Byte i of d by nibble i of a selector in a register. */
static LLVMValueRef pick_byte(struct jit_op *op, unsigned i)
{
    LLVMValueRef zero = jit_int_const(op, 32, 0);
    LLVMValueRef c = BUILD(LShr, op->a[2], jit_int_const(op, 32, 4 * i));
    LLVMValueRef is_a = BUILD(ICmp, LLVMIntEQ, BUILD(And, c, jit_int_const(op, 32, 4)), zero);
    LLVMValueRef is_plain = BUILD(ICmp, LLVMIntEQ, BUILD(And, c, jit_int_const(op, 32, 8)), zero);
    LLVMValueRef below = BUILD(And, BUILD(Not, c), jit_int_const(op, 32, 3));
    LLVMValueRef top = BUILD(Shl, BUILD(Select, is_a, op->a[0], op->a[1]),
                             BUILD(Shl, below, jit_int_const(op, 32, 3)));
    jit_check_proven(op->j->code, top, "amount"); /* at most 24 */
    top = BUILD(Select, is_plain, top, BUILD(AShr, top, jit_int_const(op, 32, 31)));
    return BUILD(Shl, BUILD(LShr, top, jit_int_const(op, 32, 24)), jit_int_const(op, 32, 8 * i));
}

/* Bytes from two vectors of bytes, four a lane: byte i of a lane is number pick[i] of the eight
 * that a and b have there. */
static LLVMValueRef pick_bytes(struct jit_op *op, LLVMValueRef a, LLVMValueRef b,
                               const uint32_t *pick)
{
    LLVMValueRef index[4 * 64];
    LLVMTypeRef i32 = LLVMInt32TypeInContext(op->j->code->context);
    for (unsigned i = 0; i < 4 * op->lanes; i++) {
        uint32_t from = pick[i % 4], at = i / 4 * 4 + from % 4 + (from > 3 ? 4 * op->lanes : 0);
        index[i] = LLVMConstInt(i32, at, false);
    }
    return BUILD(ShuffleVector, a, b, LLVMConstVector(index, 4 * op->lanes));
}

static LLVMValueRef pick_by_constant(struct jit_op *op, uint32_t selector)
{
    uint32_t pick[4], sign[4];
    LLVMTypeRef bytes = jit_int_type(op->j, 8, 4 * op->lanes);
    for (unsigned i = 0; i < 4; i++) {
        pick[i] = selector >> 4 * i & 7;
        sign[i] = i + (selector >> 4 * i & 8 ? 4 : 0);
    }
    LLVMValueRef d =
        pick_bytes(op, BUILD(BitCast, op->a[0], bytes), BUILD(BitCast, op->a[1], bytes), pick);
    if (selector & 0x8888)
        d = pick_bytes(op, d, BUILD(AShr, d, jit_const(bytes, 7)), sign);
    return BUILD(BitCast, d, jit_ints(op, 32));
}

bool jit_emit_prmt(struct jit_op *op)
{
    uint64_t c;
    LLVMValueRef d = prmt_mode(op);
    if (d)
        return give(op, d);
    if (jit_is_const(op->a[2], &c))
        return give(op, pick_by_constant(op, (uint32_t)c));
    d = pick_byte(op, 0);
    for (unsigned i = 1; i < 4; i++)
        d = BUILD(Or, d, pick_byte(op, i));
    return give(op, d);
}
