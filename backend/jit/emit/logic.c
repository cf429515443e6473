/* Emitters of bit manipulation, logic and shifts (PTX ISA 9.7.1.13 ..., 9.7.8). */
#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"

static bool give(struct jit_op *op, LLVMValueRef value)
{
    op->d[0] = value;
    return true;
}

/* ---- logic ------------------------------------------------------------------------------------------------- */

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

/* ---- shifts: by the width or more clears, or fills with the sign ------------------------------------------- */

static LLVMValueRef min_const(struct jit_op *op, LLVMValueRef n, unsigned bits, uint64_t top)
{
    return jit_binary(op, "llvm.umin", n, jit_int_const(op, bits, top));
}

/* value << n or value >> n, `bits` wide; n is 32 bits wide and any number. */
static LLVMValueRef shift(struct jit_op *op, LLVMValueRef value, LLVMValueRef n, unsigned bits,
                          bool is_left)
{
    LLVMValueRef is_inside = BUILD(ICmp, LLVMIntULT, n, jit_int_const(op, 32, bits));
    n = jit_resize(op, n, bits, false);
    value = is_left ? BUILD(Shl, value, n) : BUILD(LShr, value, n);
    jit_check_proven(op->j, value, "amount"); /* beyond the width there is no result, which select leaves out */
    return BUILD(Select, is_inside, value, jit_int_const(op, bits, 0));
}

bool jit_emit_shl(struct jit_op *op)
{
    return give(op, shift(op, op->a[0], op->a[1], jit_form_bits(op, 0), true));
}

bool jit_emit_shr(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    if (!jit_form_signed(op, 0))
        return give(op, shift(op, op->a[0], op->a[1], bits, false));
    LLVMValueRef n = jit_resize(op, min_const(op, op->a[1], 32, bits - 1), bits, false);
    return give(op, jit_check_proven(op->j, BUILD(AShr, op->a[0], n), "amount"));
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

/* ---- counts ------------------------------------------------------------------------------------------------ */

bool jit_emit_popc(struct jit_op *op)
{
    return give(op, jit_resize(op, jit_unary(op, "llvm.ctpop", op->a[0]), 32, false));
}

static LLVMValueRef leading_zeros(struct jit_op *op, LLVMValueRef value)
{
    LLVMValueRef args[] = {value, LLVMConstInt(LLVMInt1TypeInContext(op->j->context), 0, false)};
    return jit_resize(op, jit_intrinsic(op->j, "llvm.ctlz", LLVMTypeOf(value), args, 2), 32, false);
}

bool jit_emit_clz(struct jit_op *op)
{
    return give(op, leading_zeros(op, op->a[0]));
}

bool jit_emit_brev(struct jit_op *op)
{
    return give(op, jit_unary(op, "llvm.bitreverse", op->a[0]));
}

bool jit_emit_bfind(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef value = op->a[0];
    if (jit_form_signed(op, 0))
        value = BUILD(Xor, value, BUILD(AShr, value, jit_int_const(op, bits, bits - 1)));
    LLVMValueRef n = leading_zeros(op, value);
    if (!jit_has(op, PT_M_shiftamt))
        n = BUILD(Sub, jit_int_const(op, 32, bits - 1), n);
    LLVMValueRef is_none = BUILD(ICmp, LLVMIntEQ, value, jit_int_const(op, bits, 0));
    return give(op, BUILD(Select, is_none, jit_int_const(op, 32, UINT32_MAX), n));
}

/* ---- fields ------------------------------------------------------------------------------------------------ */

/* The low n bits, n being 32 bits wide and any number. */
static LLVMValueRef low_ones(struct jit_op *op, LLVMValueRef n, unsigned bits)
{
    return BUILD(Not, shift(op, jit_int_const(op, bits, UINT64_MAX), n, bits, true));
}

/* A position or length: the 32-bit forms read its low byte. */
static LLVMValueRef field_count(struct jit_op *op, LLVMValueRef n, unsigned bits)
{
    return bits == 32 ? BUILD(And, n, jit_int_const(op, 32, 255)) : n;
}

/* Bit `pos + len - 1` of the source, or its top bit where that is beyond: all ones or zeros; zeros for no length. */
static LLVMValueRef field_sign(struct jit_op *op, LLVMValueRef pos, LLVMValueRef len, unsigned bits)
{
    LLVMValueRef top = jit_int_const(op, 32, bits - 1), one = jit_int_const(op, 32, 1);
    LLVMValueRef at = BUILD(Sub, BUILD(Add, pos, len), one);
    /* Either alone may be beyond, and their sum may wrap. */
    LLVMValueRef is_beyond =
        BUILD(Or, BUILD(ICmp, LLVMIntUGT, pos, top), BUILD(ICmp, LLVMIntUGT, len, top));
    at = BUILD(Select, is_beyond, top, min_const(op, at, 32, bits - 1));
    LLVMValueRef left = jit_resize(op, BUILD(Sub, top, at), bits, false); /* at <= top */
    LLVMValueRef high = jit_check_proven(op->j, BUILD(Shl, op->a[0], left), "amount");
    LLVMValueRef sign = BUILD(AShr, high, jit_int_const(op, bits, bits - 1));
    LLVMValueRef is_empty = BUILD(ICmp, LLVMIntEQ, len, jit_int_const(op, 32, 0));
    return BUILD(Select, is_empty, jit_int_const(op, bits, 0), sign);
}

bool jit_emit_bfe(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef pos = field_count(op, op->a[1], bits), len = field_count(op, op->a[2], bits);
    LLVMValueRef keep = low_ones(op, len, bits);
    LLVMValueRef field = BUILD(And, shift(op, op->a[0], pos, bits, false), keep);
    if (!jit_form_signed(op, 0))
        return give(op, field);
    keep = BUILD(And, keep, shift(op, jit_int_const(op, bits, UINT64_MAX), pos, bits, false));
    LLVMValueRef fill = BUILD(And, field_sign(op, pos, len, bits), BUILD(Not, keep));
    return give(op, BUILD(Or, field, fill));
}

bool jit_emit_bfi(struct jit_op *op)
{
    unsigned bits = jit_form_bits(op, 0);
    LLVMValueRef pos = field_count(op, op->a[2], bits), len = field_count(op, op->a[3], bits);
    LLVMValueRef mask = shift(op, low_ones(op, len, bits), pos, bits, true);
    LLVMValueRef field = BUILD(And, shift(op, op->a[0], pos, bits, true), mask);
    return give(op, BUILD(Or, field, BUILD(And, op->a[1], BUILD(Not, mask))));
}

static LLVMValueRef wrapped(struct jit_op *op, LLVMValueRef n)
{
    return jit_has(op, PT_M_wrap) ? BUILD(And, n, jit_int_const(op, 32, 31)) : n;
}

bool jit_emit_bmsk(struct jit_op *op)
{
    LLVMValueRef ones = low_ones(op, wrapped(op, op->a[1]), 32);
    return give(op, shift(op, ones, wrapped(op, op->a[0]), 32, true));
}

bool jit_emit_szext(struct jit_op *op)
{
    LLVMValueRef n = wrapped(op, op->a[1]), keep = low_ones(op, n, 32);
    LLVMValueRef d = BUILD(And, op->a[0], keep), zero = jit_int_const(op, 32, 0);
    if (!jit_form_signed(op, 0))
        return give(op, d);
    LLVMValueRef fill = BUILD(And, field_sign(op, zero, n, 32), BUILD(Not, keep));
    return give(op, BUILD(Or, d, fill));
}

/* ---- prmt -------------------------------------------------------------------------------------------------- */

/* The byte at which a mode begins, in bits: 8 * (c & 3). */
static LLVMValueRef first_byte(struct jit_op *op)
{
    LLVMValueRef n = BUILD(And, op->a[2], jit_int_const(op, 32, 3));
    return BUILD(Shl, n, jit_int_const(op, 32, 3));
}

/* a, and what lies `bits` above it in b:a and b:a again: likewise below, where is_right is false. */
static LLVMValueRef slide(struct jit_op *op, LLVMValueRef bits, bool is_right)
{
    LLVMValueRef args[] = {op->a[is_right], op->a[!is_right], bits};
    return jit_intrinsic(op->j, is_right ? "llvm.fshr" : "llvm.fshl", jit_ints(op, 32), args, 3);
}

/* The part of a at `from` bits (below 32), in all of d: `mask` is as wide as the part, `ones` has a one at the foot of each. */
static LLVMValueRef repeat(struct jit_op *op, LLVMValueRef from, uint32_t mask, uint32_t ones)
{
    LLVMValueRef low = jit_check_proven(op->j, BUILD(LShr, op->a[0], from), "amount");
    LLVMValueRef part = BUILD(And, low, jit_int_const(op, 32, mask));
    return BUILD(Mul, part, jit_int_const(op, 32, ones));
}

/* The bytes of a, but for those above (below) the first, which become as that. */
static LLVMValueRef clamp_bytes(struct jit_op *op, bool is_left)
{
    LLVMValueRef n = first_byte(op), byte = repeat(op, n, 0xff, 0x01010101);
    LLVMValueRef keep =
        BUILD(Shl, jit_int_const(op, 32, is_left ? ~UINT32_C(0xff) : UINT32_MAX), n);
    jit_check_proven(op->j, keep, "amount"); /* at most 24 */
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
    jit_check_proven(op->j, top, "amount"); /* at most 24 */
    top = BUILD(Select, is_plain, top, BUILD(AShr, top, jit_int_const(op, 32, 31)));
    return BUILD(Shl, BUILD(LShr, top, jit_int_const(op, 32, 24)), jit_int_const(op, 32, 8 * i));
}

/* Bytes from two vectors of bytes, four a lane: byte i of a lane is number pick[i] of the eight that a and b have there. */
static LLVMValueRef pick_bytes(struct jit_op *op, LLVMValueRef a, LLVMValueRef b,
                               const uint32_t *pick)
{
    LLVMValueRef index[4 * 64];
    LLVMTypeRef i32 = LLVMInt32TypeInContext(op->j->context);
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
