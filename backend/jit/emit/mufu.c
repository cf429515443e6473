/* The approximate functions of f32, exact: the arithmetic of backend/semantics/mufu_wide.h in
 * instructions of AVX-512 that look up bytes and multiply them. Arguments that are not plain, as
 * there, are the lane function's (jit_op.is_plain).
 *
 * The rows of segments lie byte by byte in vectors of 64 or 128 entries: a lane's four bytes all
 * have the segment's number, and each lookup puts one of them in its place. xl is what lies below
 * the segment's number, less half of what that may be.
 */
#include "backend/jit/emit/mufu.h"

#include <stdio.h>
#include <string.h>

#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/semantics/mufu_rows.h"

enum { LANES = 16, BYTES = 64, ENTRIES = 128 };

/* ---- rows ------------------------------------------------------------------------------------ */

/* What a segment's row holds: two numbers of 32 bits (mufu_rows.h). */
struct row {
    uint32_t sum, c2_c1;
};

/* One function's segments, of 2^bits arguments each; the shift `a` of its products; raise: what is
 * added to them; flip: which bits of its number an argument has the other way round. */
struct segments {
    const char *name;
    const struct row *rows;
    unsigned n, bits, a;
    uint32_t raise, flip;
};

#define ROW(bits, n, a, linear, all, odd, c0, c1, c2)                            \
    {PT_MUFU_WIDE_SUM(n, (n) << ((bits) - 16), a, linear, all, odd, c0, c1) +    \
         ((bits) == 17 ? (uint32_t)(((c1) - (linear)) * (1 << (15 - (a)))) : 0), \
     PT_MUFU_WIDE_C2_C1(linear, c1, c2)},
#define SEGMENTS(name, NAME, n, bits, a, raise, flip)                                    \
    enum { PT_MUFU_WIDE_FIRST_##NAME = __COUNTER__ + 1 };                                \
    static const struct row name##_rows[n] = {PT_MUFU_##NAME(PT_MUFU_WIDE_##NAME, ROW)}; \
    static const struct segments name##_segments = {#name, name##_rows, n, bits, a, raise, flip};
SEGMENTS(rcp, RCP, 128, 16, 13, 0x47e7, 0)
SEGMENTS(rsq, RSQ, 128, 17, 14, 0x7fff, 64)
SEGMENTS(sqrt, SQRT, 128, 17, 15, 0x7fff, 64)
SEGMENTS(ex2, EX2, 64, 17, 13, 0x77e2, 0)
SEGMENTS(lg2, LG2, 64, 17, 12, 0x3345, 0)
SEGMENTS(sin, SIN, 64, 17, 11, 0, 0)
#undef ROW

/* ---- instructions ---------------------------------------------------------------------------- */

static LLVMValueRef each(struct jit_op *op, uint32_t value)
{
    return jit_const(jit_ints(op, 32), value);
}

static LLVMValueRef real(struct jit_op *op, double value)
{
    return jit_const_real(jit_floats(op, 32), value);
}

static LLVMTypeRef byte_type(struct jit_op *op)
{
    return jit_int_type(op->j, 8, BYTES);
}

/* An instruction by LLVM's name behind "llvm.x86.avx512.". */
static LLVMValueRef machine(struct jit_op *op, const char *name, LLVMValueRef *args, unsigned n)
{
    char intrinsic[64];
    snprintf(intrinsic, sizeof intrinsic, "llvm.x86.avx512.%s", name);
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMTypeRef types[] = {jit_floats(op, 32), jit_ints(op, 32)};
    unsigned n_types = LLVMIntrinsicIsOverloaded(id) ? 2 : 0;
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(op->j->code->module, id, types, n_types);
    return LLVMBuildCall2(op->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

static LLVMValueRef shl(struct jit_op *op, LLVMValueRef v, unsigned n)
{
    return BUILD(Shl, v, each(op, n));
}

static LLVMValueRef shr(struct jit_op *op, LLVMValueRef v, unsigned n)
{
    return BUILD(LShr, v, each(op, n));
}

static LLVMValueRef sar(struct jit_op *op, LLVMValueRef v, unsigned n)
{
    return BUILD(AShr, v, each(op, n));
}

static LLVMValueRef bits_of(struct jit_op *op, LLVMValueRef v)
{
    return jit_to_bits(op, v, 32);
}

static LLVMValueRef real_of(struct jit_op *op, LLVMValueRef v)
{
    return jit_from_bits(op, v, 32);
}

/* To an integer, toward zero; out of range as the machine has it. */
static LLVMValueRef truncate(struct jit_op *op, LLVMValueRef v)
{
    enum { CURRENT = 4 };
    LLVMContextRef c = op->j->code->context;
    LLVMValueRef args[] = {v, each(op, 0), LLVMConstInt(LLVMInt16TypeInContext(c), 0xffff, false),
                           jit_i32(op->j, CURRENT)};
    return machine(op, "mask.cvttps2dq.512", args, 4);
}

/* To f32, toward zero. */
static LLVMValueRef cut(struct jit_op *op, LLVMValueRef v)
{
    enum { TO_ZERO_QUIET = 11 };
    LLVMValueRef args[] = {v, jit_i32(op->j, TO_ZERO_QUIET)};
    return machine(op, "sitofp.round", args, 2);
}

/* sum + the products of four bytes of a lane, those of b with a sign, or of two halves. */
static LLVMValueRef dot(struct jit_op *op, const char *name, LLVMValueRef sum, LLVMValueRef a,
                        LLVMValueRef b)
{
    LLVMValueRef args[] = {sum, a, b};
    return machine(op, name, args, 3);
}

/* Bytes of each lane: byte i has the bits from at[i] on. */
static LLVMValueRef windows(struct jit_op *op, LLVMValueRef v, const unsigned at[4])
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(op->j->code->context);
    LLVMValueRef from[BYTES];
    for (unsigned i = 0; i < BYTES; i++)
        from[i] = LLVMConstInt(i8, at[i % 4] + (i & 4) * 8, false);
    LLVMValueRef args[] = {LLVMConstVector(from, BYTES), BUILD(BitCast, v, byte_type(op))};
    return BUILD(BitCast, machine(op, "pmultishift.qb.512", args, 2), jit_ints(op, 32));
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* A mask of byte k of each lane. LLVM would make it again for each use, which takes as long as two
 * lookups: that it is a constant is kept from it, once a function. */
static LLVMValueRef byte_mask(struct jit_op *op, unsigned k)
{
    struct jit_code *c = op->j->code;
    if (!c->byte_masks[k]) {
        static const char constraints[] = "=^Yk,0";
        LLVMTypeRef i64 = LLVMInt64TypeInContext(c->context);
        LLVMTypeRef type = LLVMFunctionType(i64, &i64, 1, false);
        LLVMValueRef keep = LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1,
                                             false, false, LLVMInlineAsmDialectATT, false);
        LLVMValueRef mask = jit_i64(op->j, UINT64_C(0x1111111111111111) << k);
        mask = LLVMBuildCall2(c->allocas, type, keep, &mask, 1, "");
        c->byte_masks[k] = LLVMBuildBitCast(c->allocas, mask, jit_int_type(op->j, 1, BYTES), "");
    }
    return c->byte_masks[k];
}

/* The function's tables in memory, once a module: for each byte of the sums, then of C2 and C1, its
 * entries. */
static LLVMValueRef find_tables(struct jit_op *op, const struct segments *s)
{
    struct jit_code *c = op->j->code;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(c->context);
    LLVMValueRef table = LLVMGetNamedGlobal(c->module, s->name), bytes[8 * ENTRIES];
    if (table)
        return table;
    for (unsigned i = 0; i < 8 * s->n; i++) {
        const struct row *row = &s->rows[i % s->n ^ s->flip];
        uint64_t word = (uint64_t)row->c2_c1 << 32 | row->sum;
        bytes[i] = LLVMConstInt(i8, word >> (8 * (i / s->n)) & 0xff, false);
    }
    table = LLVMAddGlobal(c->module, LLVMArrayType2(i8, 8 * s->n), s->name);
    LLVMSetInitializer(table, LLVMConstArray2(i8, bytes, 8 * s->n));
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetAlignment(table, BYTES);
    return table;
}

/* Where they are is kept from LLVM, which would hold them all in registers throughout a loop, and
 * have none left for the loop; it may think that it depends on x. So a function of the same x is
 * still made once. */
static LLVMValueRef hide(struct jit_op *op, LLVMValueRef at, LLVMValueRef x)
{
    static const char constraints[] = "=r,0,v";
    LLVMTypeRef types[] = {LLVMTypeOf(at), LLVMTypeOf(x)};
    LLVMTypeRef type = LLVMFunctionType(types[0], types, 2, false);
    LLVMValueRef keep = LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, false,
                                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef args[] = {at, x}, hidden = LLVMBuildCall2(op->b, type, keep, args, 2, "");
    jit_set_pure(op->j, hidden);
    return hidden;
}

static LLVMValueRef load(struct jit_op *op, LLVMValueRef tables, unsigned at)
{
    LLVMValueRef v = BUILD(Load2, byte_type(op), jit_at(op->j, tables, jit_i64(op->j, at)));
    LLVMSetAlignment(v, BYTES);
    jit_set_invariant(op->j, v);
    return v;
}

/* The entry of table `t`, which byte k of each lane of `at` numbers, in place of that byte. */
static LLVMValueRef lookup(struct jit_op *op, const struct segments *s, LLVMValueRef tables,
                           unsigned t, unsigned k, LLVMValueRef at)
{
    LLVMValueRef found, first = load(op, tables, t * s->n);
    if (s->n == ENTRIES) {
        LLVMValueRef args[] = {first, at, load(op, tables, t * s->n + BYTES)};
        found = machine(op, "vpermi2var.qi.512", args, 3);
    } else {
        LLVMValueRef args[] = {first, at};
        found = machine(op, "permvar.qi.512", args, 2);
    }
    return BUILD(Select, byte_mask(op, k), found, at);
}

/* What the parabola of a lane's segment is made of: c1 is extended, c2 in the lower half of a
 * lane. */
struct parabola {
    LLVMValueRef sum, c1, c2;
};

static struct parabola find_row(struct jit_op *op, const struct segments *s, LLVMValueRef x)
{
    const unsigned number[] = {s->bits, s->bits, s->bits, s->bits};
    LLVMValueRef at = BUILD(BitCast, windows(op, x, number), byte_type(op));
    LLVMValueRef tables = hide(op, find_tables(op, s), x), c1 = at, c2 = at, sum = at;
    for (unsigned k = 0; k < 2; k++)
        c1 = lookup(op, s, tables, 4 + k, 2 + k, c1);
    for (unsigned k = 0; k < 2; k++)
        c2 = lookup(op, s, tables, 6 + k, k, c2);
    for (unsigned k = 0; k < 4; k++)
        sum = lookup(op, s, tables, k, k, sum);
    LLVMTypeRef type = jit_ints(op, 32);
    return (struct parabola){BUILD(BitCast, sum, type), sar(op, BUILD(BitCast, c1, type), 16),
                             BUILD(BitCast, c2, type)};
}

/* ---- the parabola ---------------------------------------------------------------------------- */

/* The squarer of pt_mufu_square, of 17 bits of x: those from bit `low` on (-1: with a zero below).
 * Bits i > j of its argument count where i + j >= 18, as 2^(i + j - 18), and the square of the bits
 * from 10 on twice: seven rectangles and a square, which are products of bytes. */
static LLVMValueRef square(struct jit_op *op, LLVMValueRef x, int low)
{
    static const struct {
        uint8_t a[4], b[4]; /* their lowest bits */
        uint32_t in_a, in_b;
    } products[] = {
        {{5, 3, 2, 4}, {13, 15, 16, 14}, 0x0101031f, 0x0101030f},
        {{7, 6, 8, 9}, {11, 12, 10, 10}, 0xfe030107, 0x7f010103},
    };
    LLVMValueRef sum = each(op, 0);
    for (unsigned i = 0; i < 2; i++) {
        unsigned a[4], b[4];
        for (unsigned k = 0; k < 4; k++) {
            a[k] = (unsigned)(products[i].a[k] + low);
            b[k] = (unsigned)(products[i].b[k] + low);
        }
        sum =
            dot(op, "vpdpbusd.512", sum, BUILD(And, windows(op, x, a), each(op, products[i].in_a)),
                BUILD(And, windows(op, x, b), each(op, products[i].in_b)));
    }
    return sum;
}

/* The parabola of x, as `sum` and the rest, which is to be shifted by a. */
static struct parabola evaluate(struct jit_op *op, const struct segments *s, LLVMValueRef x,
                                LLVMValueRef *rest)
{
    struct parabola p = find_row(op, s, x);
    uint32_t all = (1u << s->bits) - 1;
    LLVMValueRef xl = BUILD(Sub, BUILD(And, x, each(op, all)), each(op, (all + 1) / 2));
    *rest = dot(op, "vpdpwssd.512", each(op, s->raise), p.c2, square(op, x, (int)s->bits - 17));
    *rest = BUILD(Add, *rest, BUILD(Mul, p.c1, xl));
    return p;
}

static LLVMValueRef whole(struct jit_op *op, const struct segments *s, LLVMValueRef x)
{
    LLVMValueRef rest;
    struct parabola p = evaluate(op, s, x, &rest);
    return BUILD(Add, p.sum, sar(op, rest, s->a));
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool give(struct jit_op *op, LLVMValueRef bits, LLVMValueRef are_plain)
{
    op->d[0] = real_of(op, bits);
    op->is_plain = jit_all(op->j, are_plain);
    return true;
}

static LLVMValueRef are_normal(struct jit_op *op, LLVMValueRef x)
{
    LLVMValueRef least = each(op, 0x800000);
    return BUILD(ICmp, LLVMIntULT, BUILD(Sub, x, least), each(op, PT_MUFU_INF - 0x800000));
}

static bool rcp(struct jit_op *op)
{
    LLVMValueRef x = bits_of(op, op->a[0]);
    LLVMValueRef down = BUILD(Sub, each(op, (253u << 23) - 1), x);
    LLVMValueRef r = BUILD(Add, shr(op, whole(op, &rcp_segments, x), 2), down);
    LLVMValueRef magnitude = BUILD(And, down, each(op, 0x7fffffff));
    return give(op, r, BUILD(ICmp, LLVMIntSLT, magnitude, each(op, 252u << 23)));
}

/* a * rcp(b), for divisors that pt_mufu_div does not scale: rcp's plain ones. */
static bool quotient(struct jit_op *op)
{
    struct jit_op unit = *op;
    unit.a[0] = op->a[1];
    if (jit_has(op, PT_M_ftz) || op->j->unit->m->sm < 20 || !rcp(&unit))
        return false;
    op->d[0] = BUILD(FMul, unit.d[0], op->a[0]);
    op->is_number = true;
    op->is_plain = unit.is_plain;
    return true;
}

static bool rsqrt(struct jit_op *op)
{
    LLVMValueRef x = bits_of(op, op->a[0]), up = BUILD(Add, x, each(op, PT_MUFU_INF));
    LLVMValueRef y = BUILD(Sub, shr(op, whole(op, &rsq_segments, x), 1), up);
    LLVMValueRef fraction = BUILD(And, up, each(op, 0xffffff));
    LLVMValueRef is_exact = BUILD(ICmp, LLVMIntEQ, fraction, each(op, 0)); /* a power of 4 */
    y = BUILD(Add, shr(op, y, 1), BUILD(ZExt, is_exact, jit_ints(op, 32)));
    return give(op, y, BUILD(ICmp, LLVMIntSLT, up, each(op, PT_MUFU_INF << 1)));
}

static bool root(struct jit_op *op)
{
    LLVMValueRef x = bits_of(op, op->a[0]);
    LLVMValueRef y = BUILD(Add, shr(op, whole(op, &sqrt_segments, x), 1), x);
    return give(op, shr(op, y, 1), are_normal(op, x));
}

/* 2^x, x < 128, subnormal results flushed. A negative argument's fraction is made of its one's
 * complement. */
static LLVMValueRef power(struct jit_op *op, LLVMValueRef x)
{
    LLVMValueRef least = real(op, -128);
    x = BUILD(Select, BUILD(FCmp, LLVMRealOGT, x, least), x, least);
    LLVMValueRef v = truncate(op, BUILD(FMul, x, real(op, 0x1p23)));
    LLVMValueRef fraction = BUILD(And, v, each(op, 0x7fffff));
    LLVMValueRef is_whole = BUILD(ICmp, LLVMIntEQ, fraction, each(op, 0));
    v = BUILD(Add, v, BUILD(Select, is_whole, each(op, 0), sar(op, v, 31)));
    LLVMValueRef r = BUILD(Add, shr(op, whole(op, &ex2_segments, v), 2), v);
    LLVMValueRef is_low = BUILD(ICmp, LLVMIntSLT, v, each(op, -126u << 23));
    return BUILD(Select, is_low, each(op, 0), r);
}

/* Where the result may be subnormal, it is the square of 2^(x / 2). */
static bool ex2(struct jit_op *op)
{
    LLVMValueRef x = op->a[0], are_plain = BUILD(FCmp, LLVMRealOLT, x, real(op, 128));
    if (jit_has(op, PT_M_ftz) || op->j->unit->m->sm < 20)
        return give(op, power(op, x), are_plain);
    LLVMValueRef is_low = BUILD(FCmp, LLVMRealOLT, x, real(op, -126));
    LLVMValueRef half = BUILD(FMul, x, real(op, 0.5));
    LLVMValueRef once = real_of(op, power(op, BUILD(Select, is_low, half, x)));
    LLVMValueRef r = BUILD(Select, is_low, BUILD(FMul, once, once), once);
    return give(op, bits_of(op, r), are_plain);
}

/* v units as an f32, cut. */
static LLVMValueRef pack(struct jit_op *op, LLVMValueRef v, LLVMValueRef unit)
{
    return bits_of(op, BUILD(FMul, cut(op, v), unit));
}

static bool lg2(struct jit_op *op)
{
    LLVMValueRef x = bits_of(op, op->a[0]), rest, zero = each(op, 0);
    struct parabola p = evaluate(op, &lg2_segments, x, &rest);
    LLVMValueRef sum = BUILD(Add, p.sum, shr(op, shl(op, x, 9), 6));
    LLVMValueRef e = BUILD(Sub, shr(op, x, 23), each(op, 127));
    LLVMValueRef flip = sar(op, e, 31), integer = BUILD(Xor, e, flip);
    LLVMValueRef upper = BUILD(Xor, BUILD(Add, sum, sar(op, rest, lg2_segments.a)),
                               BUILD(And, flip, each(op, 0x3ffffff)));
    LLVMValueRef lower = BUILD(And, BUILD(Xor, shr(op, rest, 2), flip), each(op, 0x3ff));
    LLVMValueRef is_fraction = BUILD(ICmp, LLVMIntEQ, integer, zero);
    LLVMValueRef is_tiny = BUILD(ICmp, LLVMIntSLT, upper, each(op, 1u << 20));
    LLVMValueRef v = BUILD(Select, is_tiny, BUILD(Or, shl(op, upper, 10), lower),
                           BUILD(Or, shl(op, upper, 3), shr(op, lower, 7)));
    v = BUILD(Select, is_fraction, v, BUILD(Or, shl(op, integer, 23), shr(op, upper, 3)));
    LLVMValueRef unit = BUILD(Select, is_tiny, real(op, 0x1p-36), real(op, 0x1p-29));
    unit = BUILD(Select, is_fraction, unit, real(op, 0x1p-23));
    LLVMValueRef y = BUILD(Or, pack(op, v, unit), BUILD(And, flip, each(op, PT_MUFU_SIGN)));
    LLVMValueRef is_one = BUILD(ICmp, LLVMIntEQ, x, each(op, 0x3f800000));
    return give(op, BUILD(Select, is_one, zero, y), are_normal(op, x));
}

/* x / 2 pi, toward zero. */
static LLVMValueRef turns(struct jit_op *op, LLVMValueRef x)
{
    LLVMValueRef factor = real(op, 0x1.45f306p-3), p = BUILD(FMul, x, factor);
    LLVMValueRef args[] = {x, factor, BUILD(FNeg, p)};
    LLVMValueRef rest = bits_of(op, jit_intrinsic(op->j, "llvm.fma", LLVMTypeOf(x), args, 3));
    p = bits_of(op, p);
    LLVMValueRef inward = shr(op, BUILD(Xor, rest, p), 31), zero = each(op, 0);
    LLVMValueRef is_exact = BUILD(ICmp, LLVMIntEQ, shl(op, rest, 1), zero);
    return BUILD(Sub, p, BUILD(Select, is_exact, zero, inward));
}

/* Of up to 2^24: more turns than that have no fraction. */
static bool sine_or_cosine(struct jit_op *op, bool is_cosine)
{
    LLVMValueRef x = bits_of(op, op->a[0]), t = turns(op, op->a[0]), rest, one = each(op, 1);
    LLVMValueRef magnitude = real_of(op, BUILD(And, t, each(op, 0x7fffffff)));
    LLVMValueRef fraction = BUILD(FSub, magnitude, jit_unary(op, "llvm.trunc", magnitude));
    LLVMValueRef v = truncate(op, BUILD(FMul, fraction, real(op, 0x1p25))); /* quarters, 2.23 */
    LLVMValueRef q = shr(op, v, 23), sign = each(op, PT_MUFU_SIGN);
    q = is_cosine ? BUILD(Add, q, one) : q;
    LLVMValueRef s = shl(op, shr(op, q, 1), 31);
    s = is_cosine ? s : BUILD(Xor, s, BUILD(And, t, sign));
    LLVMValueRef f = BUILD(Xor, v, BUILD(Neg, BUILD(And, q, one)));
    struct parabola p = evaluate(op, &sin_segments, f, &rest);
    LLVMValueRef upper = BUILD(Add, p.sum, sar(op, rest, sin_segments.a));
    LLVMValueRef lower = BUILD(And, rest, each(op, 0x7ff));
    LLVMValueRef is_tiny = BUILD(ICmp, LLVMIntSLT, upper, each(op, 1u << 19));
    LLVMValueRef fixed = BUILD(Select, is_tiny, BUILD(Or, shl(op, upper, 11), lower),
                               BUILD(Or, shl(op, upper, 4), shr(op, lower, 7)));
    LLVMValueRef unit = BUILD(Select, is_tiny, real(op, 0x1p-37), real(op, 0x1p-30));
    LLVMValueRef angle = BUILD(And, x, each(op, 0x7fffffff));
    return give(op, BUILD(Or, pack(op, fixed, unit), s),
                BUILD(ICmp, LLVMIntULT, angle, each(op, 0x4b800000)));
}

static bool sine(struct jit_op *op)
{
    return sine_or_cosine(op, false);
}

static bool cosine(struct jit_op *op)
{
    return sine_or_cosine(op, true);
}

/* ---- the table ------------------------------------------------------------------------------- */

static jit_emitter *const emitters[PT_OP_COUNT] = {
    [PT_OP_rcp_approx] = rcp,    [PT_OP_rsqrt_approx] = rsqrt,  [PT_OP_sqrt_approx] = root,
    [PT_OP_ex2_approx] = ex2,    [PT_OP_lg2_approx] = lg2,      [PT_OP_sin_approx] = sine,
    [PT_OP_cos_approx] = cosine, [PT_OP_div_approx] = quotient,
};

/* One lane by itself is the lane function's. */
static bool emit(struct jit_op *op)
{
    return op->lanes == LANES && emitters[op->form->op](op);
}

jit_emitter *jit_mufu_emitter(const struct jit_unit *u, const struct pt_form *form)
{
    return u->cpu->has_byte_lookup && emitters[form->op] ? emit : NULL;
}
