/* Instructions of the machine over parts of operands: what LLVM has intrinsics for, or assembly. A
 * packed pair has twice the elements of a register, f64 has too. */
#include "backend/jit/emit/parts.h"

#include <stdio.h>
#include <string.h>

#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"

enum { PARTS = 4, OPERANDS = 3, ELEMENTS = 16 };

unsigned jit_parts_lanes(const struct jit_op *op, unsigned bits)
{
    unsigned most = op->j->unit->cpu->vector_bytes / (bits / 8);
    return op->lanes < most ? op->lanes : most;
}

bool jit_parts_fill(const struct jit_op *op, unsigned bits)
{
    return op->lanes >= op->j->unit->cpu->vector_bytes / (bits / 8);
}

static LLVMValueRef part_of(struct jit_op *op, LLVMValueRef value, unsigned part, unsigned n)
{
    int lanes[ELEMENTS];
    if (n == op->lanes)
        return value;
    for (unsigned i = 0; i < n; i++)
        lanes[i] = (int)(part * n + i);
    return jit_shuffle(op->j, value, NULL, lanes, n);
}

LLVMValueRef jit_parts_make(struct jit_op *op, unsigned bits, const void *what, LLVMValueRef *args,
                            unsigned n, jit_part *make)
{
    LLVMValueRef parts[PARTS], some[OPERANDS];
    unsigned lanes = jit_parts_lanes(op, bits), n_parts = op->lanes / lanes;
    for (unsigned p = 0; p < n_parts; p++) {
        for (unsigned i = 0; i < n; i++)
            some[i] = part_of(op, args[i], p, lanes);
        parts[p] = make(op, what, some, n);
    }
    return jit_concat(op->j, parts, n_parts);
}

LLVMValueRef jit_parts_all(const struct jit_op *op, unsigned bits)
{
    LLVMTypeRef type =
        LLVMIntTypeInContext(op->j->code->context, op->j->unit->cpu->vector_bytes / (bits / 8));
    return LLVMConstAllOnes(type);
}

LLVMValueRef jit_parts_call(struct jit_op *op, const char *name, LLVMValueRef *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(op->j->code->module, id, NULL, 0);
    return LLVMBuildCall2(op->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

/* ---- f32 ------------------------------------------------------------------------------------- */

enum {
    QUIET = 8,          /* no exceptions */
    MODE = 4,           /* rounding as the mode says */
    SIGN_OF_RESULT = 4, /* of VRANGE */
    QUIET_NANS = 0x22,  /* of VFIXUPIMM: the first operand; where the second is NaN, that, quiet */
};

struct rounded {
    const char *name;
    uint32_t mode;
};

static LLVMValueRef round_part(struct jit_op *op, const void *what, LLVMValueRef *args, unsigned n)
{
    const struct rounded *r = what;
    char intrinsic[64];
    LLVMValueRef all[OPERANDS + 1];
    memcpy(all, args, n * sizeof *args);
    all[n] = jit_i32(op->j, QUIET | r->mode);
    snprintf(intrinsic, sizeof intrinsic, "llvm.x86.avx512.%s.512", r->name);
    return jit_parts_call(op, intrinsic, all, n + 1);
}

LLVMValueRef jit_parts_round(struct jit_op *op, const char *name, enum jit_rounding rounding,
                             LLVMValueRef *args, unsigned n)
{
    struct rounded r = {name, rounding};
    return jit_parts_make(op, 32, &r, args, n, round_part);
}

static LLVMValueRef pick_part(struct jit_op *op, const void *what, LLVMValueRef *args, unsigned n)
{
    const bool *larger = what;
    LLVMValueRef all[] = {args[0],
                          args[1],
                          jit_i32(op->j, SIGN_OF_RESULT + *larger),
                          args[0],
                          jit_parts_all(op, 32),
                          jit_i32(op->j, MODE)};
    (void)n;
    return jit_parts_call(op, "llvm.x86.avx512.mask.range.ps.512", all, 6);
}

LLVMValueRef jit_parts_pick(struct jit_op *op, LLVMValueRef x, LLVMValueRef y, bool larger)
{
    LLVMValueRef args[] = {x, y};
    return jit_parts_make(op, 32, &larger, args, 2, pick_part);
}

static LLVMValueRef quiet_part(struct jit_op *op, const void *what, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef ints = jit_int_type(op->j, 32, jit_parts_lanes(op, 32));
    LLVMValueRef all[] = {args[0],
                          args[0],
                          jit_const(ints, QUIET_NANS),
                          jit_i32(op->j, 0),
                          jit_parts_all(op, 32),
                          jit_i32(op->j, MODE)};
    (void)what;
    (void)n;
    return jit_parts_call(op, "llvm.x86.avx512.mask.fixupimm.ps.512", all, 6);
}

LLVMValueRef jit_parts_quiet(struct jit_op *op, LLVMValueRef x)
{
    return jit_parts_make(op, 32, NULL, &x, 1, quiet_part);
}
