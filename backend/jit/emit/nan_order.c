/* Arithmetic of f64 whose NaN is that of the first operand which is one: the machine's instructions
 * have it so, too, in an order of their own. They are named in assembly, as LLVM exchanges operands
 * and takes any NaN for as good as another.
 */
#include "backend/jit/emit/nan_order.h"

#include <stdio.h>
#include <string.h>

#include "backend/jit/emit/helpers.h"
#include "backend/jit/emit/parts.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"

enum { BITS = 64 };

/* What VFIXUPIMM makes of two operands by the class of the second one: four bits a class, NaNs
 * first. */
enum {
    KEEP_UNLESS_NAN = 0x22,       /* the first; the second, made quiet, where that is NaN */
    TAKE_UNLESS_NAN = 0x11111100, /* the second; the first where that is NaN */
};

/* ---- instructions ---------------------------------------------------------------------------- */

/* AT&T's order: the last source first. Three sources: what is added is where the result goes. The
 * encoding is named, since LLVM's assembler exchanges sources of a sum or product where that makes
 * it shorter. */
static void write_text(const struct jit_op *op, const char *name, unsigned n, char *text,
                       size_t size)
{
    const struct jit_cpu *cpu = op->j->unit->cpu;
    const char *vector = !cpu->has_vex ? "" : cpu->has_mask_registers ? "{evex} v" : "{vex3} v";
    const char *suffix = op->lanes > 1 ? "pd" : "sd";
    const char *operands = n == 3                                       ? "$2, $1, $0"
                           : n == 1 && (op->lanes > 1 || !cpu->has_vex) ? "$1, $0"
                           : n == 1                                     ? "$1, $1, $0"
                           : cpu->has_vex                               ? "$2, $1, $0"
                                                                        : "$2, $0";
    snprintf(text, size, "%s%s%s %s", vector, name, suffix, operands);
}

static LLVMValueRef assemble(struct jit_op *op, const void *name, LLVMValueRef *args, unsigned n)
{
    static const char *const constraints[][3] = {
        /* by number of sources: SSE, AVX, AVX-512 */
        {"=x,x", "=x,x", "=v,v"},
        {"=x,0,x", "=x,x,x", "=v,v,v"},
        {"", "=x,x,x,0", "=v,v,v,0"},
    };
    const struct jit_cpu *cpu = op->j->unit->cpu;
    char text[64];
    LLVMTypeRef type = LLVMTypeOf(args[0]), types[] = {type, type, type};
    LLVMTypeRef f = LLVMFunctionType(type, types, n, false);
    write_text(op, name, n, text, sizeof text);
    const char *where = constraints[n - 1][cpu->has_mask_registers ? 2 : cpu->has_vex];
    LLVMValueRef code = LLVMGetInlineAsm(f, text, strlen(text), where, strlen(where), false, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(op->b, f, code, args, n, "");
    jit_set_pure(op->j, call);
    return call;
}

static LLVMValueRef operate(struct jit_op *op, const char *name, LLVMValueRef *args, unsigned n)
{
    return jit_parts_make(op, BITS, name, args, n, assemble);
}

static LLVMValueRef operate_on_two(struct jit_op *op, const char *name, LLVMValueRef x,
                                   LLVMValueRef y)
{
    LLVMValueRef args[] = {x, y};
    return operate(op, name, args, 2);
}

enum { MODE = 4 }; /* rounding as the mode says */

static LLVMValueRef fix_part(struct jit_op *op, const void *table, LLVMValueRef *args, unsigned n)
{
    const uint32_t *classes = table;
    LLVMValueRef all[] = {args[0],
                          args[1],
                          jit_const(jit_int_type(op->j, 64, jit_parts_lanes(op, BITS)), *classes),
                          jit_i32(op->j, 0),
                          jit_parts_all(op, BITS),
                          jit_i32(op->j, MODE)};
    (void)n;
    return jit_parts_call(op, "llvm.x86.avx512.mask.fixupimm.pd.512", all, 6);
}

static LLVMValueRef fix(struct jit_op *op, uint32_t classes, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef args[] = {x, y};
    return jit_parts_make(op, BITS, &classes, args, 2, fix_part);
}

static bool can_fix(const struct jit_op *op)
{
    return op->j->unit->cpu->has_fixup && jit_parts_fill(op, BITS);
}

/* y where that is NaN, quiet or not; else x. Both are parts. */
static LLVMValueRef unless_nan(struct jit_op *op, LLVMValueRef x, LLVMValueRef y)
{
    static const uint32_t classes = KEEP_UNLESS_NAN;
    LLVMValueRef args[] = {x, y};
    if (can_fix(op))
        return fix_part(op, &classes, args, 2);
    return BUILD(Select, jit_is_nan(op, y), y, x);
}

/* ---- operations ------------------------------------------------------------------------------ */

LLVMValueRef jit_nan_order_add(struct jit_op *op, LLVMValueRef x, LLVMValueRef y)
{
    return operate_on_two(op, "add", x, y);
}

LLVMValueRef jit_nan_order_multiply(struct jit_op *op, LLVMValueRef x, LLVMValueRef y)
{
    return operate_on_two(op, "mul", x, y);
}

static LLVMValueRef subtract_part(struct jit_op *op, const void *what, LLVMValueRef *args,
                                  unsigned n)
{
    LLVMValueRef all[] = {unless_nan(op, args[0], args[1]), args[1]};
    (void)what;
    return assemble(op, "sub", all, n);
}

/* -(y * 1) + x, as fused instructions take NaNs of factors first, and none's sign changes. */
LLVMValueRef jit_nan_order_subtract(struct jit_op *op, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef args[] = {y, jit_const_real(jit_floats(op, 64), 1), x};
    if (op->j->unit->cpu->has_fma)
        return operate(op, "fnmadd231", args, 3);
    args[0] = x;
    args[1] = y;
    return jit_parts_make(op, BITS, NULL, args, 2, subtract_part);
}

LLVMValueRef jit_nan_order_divide(struct jit_op *op, LLVMValueRef x, LLVMValueRef y)
{
    return operate_on_two(op, "div", x, y);
}

/* The machine has factors' NaNs first. llvm/lazy_nan.c knows this form. */
static LLVMValueRef fuse_part(struct jit_op *op, const void *what, LLVMValueRef *args, unsigned n)
{
    LLVMValueRef all[] = {args[0], unless_nan(op, args[1], args[2]), args[2]};
    (void)what;
    return assemble(op, "fmadd231", all, n);
}

LLVMValueRef jit_nan_order_fuse(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z)
{
    LLVMValueRef args[] = {x, y, z};
    return jit_parts_make(op, BITS, NULL, args, 3, fuse_part);
}

LLVMValueRef jit_nan_order_root(struct jit_op *op, LLVMValueRef x)
{
    return operate(op, "sqrt", &x, 1);
}

/* A subtraction leaves a NaN its sign. */
LLVMValueRef jit_nan_order_negate(struct jit_op *op, LLVMValueRef x)
{
    return operate_on_two(op, "sub", jit_const_real(jit_floats(op, 64), -0.0), x);
}

/* A sum with -0 is the value, or the NaN made quiet. */
LLVMValueRef jit_nan_order_abs(struct jit_op *op, LLVMValueRef x)
{
    LLVMValueRef magnitude = jit_unary(op, "llvm.fabs", x);
    if (can_fix(op))
        return fix(op, KEEP_UNLESS_NAN, magnitude, x);
    LLVMValueRef quiet = operate_on_two(op, "add", x, jit_const_real(jit_floats(op, 64), -0.0));
    return BUILD(Select, jit_is_nan(op, x), quiet, magnitude);
}

static LLVMValueRef pick_part(struct jit_op *op, const void *how, LLVMValueRef *args, unsigned n)
{
    enum { SIGN_OF_RESULT = 4 };
    const bool *larger = how;
    LLVMValueRef all[] = {args[0],
                          args[1],
                          jit_i32(op->j, SIGN_OF_RESULT + *larger),
                          args[0],
                          jit_parts_all(op, BITS),
                          jit_i32(op->j, MODE)};
    (void)n;
    return jit_parts_call(op, "llvm.x86.avx512.mask.range.pd.512", all, 6);
}

/* An operand that is NaN is replaced by the other one, if both are, by y. */
LLVMValueRef jit_nan_order_pick(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, bool larger)
{
    if (!can_fix(op))
        return NULL;
    x = fix(op, TAKE_UNLESS_NAN, y, x);
    LLVMValueRef args[] = {x, fix(op, TAKE_UNLESS_NAN, x, y)};
    return jit_parts_make(op, BITS, &larger, args, 2, pick_part);
}
