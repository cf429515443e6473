/* Special registers: %tid, %laneid, %ntid, %ctaid, %lanemask_lt, %clock and the like. */
#include "backend/jit/value/special_registers.h"

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/sreg.h"

/* Linear index of the first thread of a chunk. */
static LLVMValueRef first_thread(const struct jit *j, unsigned copy)
{
    LLVMValueRef g =
        LLVMBuildMul(j->code->b, j->group, jit_i32(j, j->unit->width * j->facts->copies), "");
    return LLVMBuildAdd(j->code->b, g, jit_i32(j, copy * j->unit->width), "");
}

/* A field that stays as it is while native code runs. */
static LLVMValueRef fixed_field(const struct jit *j, LLVMValueRef pointer, size_t offset)
{
    LLVMValueRef value = jit_field(j, LLVMInt32TypeInContext(j->code->context), pointer, offset);
    jit_set_invariant(j, value);
    return value;
}

static LLVMValueRef block_dim(const struct jit *j, unsigned d)
{
    if (j->facts->uniformity->shape.block[0])
        return jit_i32(j, j->facts->uniformity->shape.block[d]);
    return fixed_field(j, j->code->launch,
                       offsetof(struct pt_launch, block) + d * sizeof(uint32_t));
}

/* Blocks have a thread in each dimension. */
static LLVMValueRef of_dim(const struct jit *j, LLVMValueRef quotient)
{
    return jit_check_proven(j->code, quotient, "divisor");
}

/* %tid, %laneid …: from the linear index, in all lanes or in lane 0. */
static LLVMValueRef of_thread(const struct jit *j, enum pt_sreg sreg, unsigned copy, unsigned lanes)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef t = jit_spread(j, first_thread(j, copy), lanes);
    if (lanes > 1)
        t = LLVMBuildAdd(j->code->b, t, jit_steps(j, i32, 1), "");
    const uint32_t *block = j->facts->uniformity->shape.block;
    bool is_line = block[0] && block[1] == 1 && block[2] == 1;
    LLVMValueRef x = jit_spread(j, block_dim(j, 0), lanes),
                 y = jit_spread(j, block_dim(j, 1), lanes);
    switch (sreg) {
    case PT_SREG_tid_x:
        return is_line ? t : of_dim(j, LLVMBuildURem(j->code->b, t, x, ""));
    case PT_SREG_tid_y:
        return is_line ? LLVMConstNull(LLVMTypeOf(t))
                       : of_dim(j, LLVMBuildURem(j->code->b,
                                                 of_dim(j, LLVMBuildUDiv(j->code->b, t, x, "")), y,
                                                 ""));
    case PT_SREG_tid_z:
        return is_line ? LLVMConstNull(LLVMTypeOf(t))
                       : of_dim(j, LLVMBuildUDiv(j->code->b,
                                                 of_dim(j, LLVMBuildUDiv(j->code->b, t, x, "")), y,
                                                 ""));
    case PT_SREG_laneid:
        return LLVMBuildAnd(j->code->b, t, jit_spread(j, jit_i32(j, PT_WARP_SIZE - 1), lanes), "");
    default: /* %warpid */
        return LLVMBuildLShr(j->code->b, t, jit_spread(j, jit_i32(j, 5), lanes), "");
    }
}

/* %lanemask_eq and its kind: bits of a warp. */
static LLVMValueRef lane_mask(const struct jit *j, enum pt_sreg sreg, unsigned copy, unsigned lanes)
{
    LLVMValueRef lane = of_thread(j, PT_SREG_laneid, copy, lanes), all, above;
    LLVMTypeRef type = LLVMTypeOf(lane);
    all = LLVMBuildShl(j->code->b, LLVMConstAllOnes(type), lane, "");            /* ge */
    above = LLVMBuildShl(j->code->b, jit_const(type, UINT32_MAX - 1), lane, ""); /* gt */
    jit_check_proven(j->code, all, "amount"); /* a lane of a warp: below 32 */
    jit_check_proven(j->code, above, "amount");
    switch (sreg) {
    case PT_SREG_lanemask_ge:
        return all;
    case PT_SREG_lanemask_gt:
        return above;
    case PT_SREG_lanemask_lt:
        return LLVMBuildNot(j->code->b, all, "");
    case PT_SREG_lanemask_le:
        return LLVMBuildNot(j->code->b, above, "");
    default:
        return LLVMBuildXor(j->code->b, all, above, "");
    }
}

static bool is_clock(enum pt_sreg sreg)
{
    _Static_assert(PT_SREG_globaltimer_hi == PT_SREG_clock + 3, "sreg.def");
    return (sreg >= PT_SREG_clock && sreg <= PT_SREG_globaltimer_hi) || sreg == PT_SREG_clock64 ||
           sreg == PT_SREG_globaltimer;
}

/* Those that are rarely read: by a call. But for clocks they stay as they are while a CTA runs, of
 * which the call is given. */
static LLVMValueRef of_cta(const struct jit *j, enum pt_sreg sreg)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context),
                i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(j->code->context, 0), i32, i32};
    LLVMValueRef args[] = {j->code->cta, jit_i32(j, sreg), j->code->id[0]};
    LLVMValueRef value = jit_help(j, "jit_help_sreg", LLVMFunctionType(i64, types, 3, false), args);
    if (!is_clock(sreg))
        jit_set_pure(j, value);
    unsigned bits = pt_type_bits(pt_sreg_type(sreg));
    return LLVMBuildTrunc(j->code->b, value, LLVMIntTypeInContext(j->code->context, bits), "");
}

LLVMValueRef jit_special_registers_read(const struct jit *j, enum pt_sreg sreg, unsigned copy,
                                        unsigned lanes)
{
    switch (sreg) {
    case PT_SREG_tid_x:
    case PT_SREG_tid_y:
    case PT_SREG_tid_z:
    case PT_SREG_laneid:
    case PT_SREG_warpid:
        return of_thread(j, sreg, copy, lanes);
    case PT_SREG_ntid_x:
    case PT_SREG_ntid_y:
    case PT_SREG_ntid_z:
        return jit_spread(j, block_dim(j, (unsigned)(sreg - PT_SREG_ntid_x)), lanes);
    case PT_SREG_ctaid_x:
    case PT_SREG_ctaid_y:
    case PT_SREG_ctaid_z:
        return jit_spread(j, j->code->id[sreg - PT_SREG_ctaid_x], lanes);
    case PT_SREG_nctaid_x:
    case PT_SREG_nctaid_y:
    case PT_SREG_nctaid_z:
        return jit_spread(j,
                          fixed_field(j, j->code->launch,
                                      offsetof(struct pt_launch, grid) +
                                          (size_t)(sreg - PT_SREG_nctaid_x) * sizeof(uint32_t)),
                          lanes);
    case PT_SREG_lanemask_eq:
    case PT_SREG_lanemask_le:
    case PT_SREG_lanemask_lt:
    case PT_SREG_lanemask_ge:
    case PT_SREG_lanemask_gt:
        return lane_mask(j, sreg, copy, lanes);
    default:
        return jit_spread(j, of_cta(j, sreg), lanes);
    }
}
