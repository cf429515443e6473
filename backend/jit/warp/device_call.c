/* Calls of device functions, which the runtime provides: lane by lane, in ascending order. Others
 * were expanded (ir/inline.h). */
#include "backend/jit/warp/device_call.h"

#include "backend/jit/analysis/call_info.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/fault.h"
#include "backend/jit/value/registers.h"

/* ---- the call -------------------------------------------------------------------------------- */

/* A call, with the values of registers that it passes: allocas, of all lanes of a chunk. */
struct call {
    struct jit_call_info info;
    LLVMValueRef args[JIT_CALL_ARGS], result;
};

static LLVMValueRef bytes_alloca(const struct jit *j, unsigned bytes)
{
    LLVMValueRef at =
        jit_alloca(j, LLVMArrayType2(LLVMInt64TypeInContext(j->code->context), bytes / 8), "");
    LLVMSetAlignment(at, 16);
    return at;
}

static LLVMValueRef spread_register(const struct jit *j, const struct jit_call_pass *pass,
                                    unsigned copy, bool is_result)
{
    LLVMTypeRef type = LLVMVectorType(jit_type(j, pass->type, 1), j->unit->width);
    LLVMValueRef lanes = jit_alloca(j, type, "");
    if (!is_result)
        LLVMBuildStore(j->code->b,
                       jit_registers_read(j, pass->o, copy, pass->type, j->unit->width, false),
                       lanes);
    return lanes;
}

/* Where the lane has the value. */
static LLVMValueRef place_of(const struct jit *j, const struct jit_call_pass *pass,
                             LLVMValueRef lanes, LLVMValueRef lane, LLVMValueRef thread)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    if (!pass->variable) {
        LLVMValueRef index = LLVMBuildZExt(j->code->b, lane, i64, "");
        return jit_at(j, lanes, LLVMBuildMul(j->code->b, index, jit_i64(j, pass->bytes), ""));
    }
    LLVMValueRef base = jit_field(j, pointer, j->code->cta, offsetof(struct pt_cta, local));
    LLVMValueRef at = jit_field(j, i64, j->code->launch, offsetof(struct pt_launch, local_stride));
    at = LLVMBuildMul(j->code->b, at, LLVMBuildZExt(j->code->b, thread, i64, ""), "");
    at = LLVMBuildAdd(j->code->b, at, jit_i64(j, pass->variable->offset), "");
    return jit_at(j, base, at);
}

static LLVMValueRef call_function(const struct jit *j, LLVMValueRef thread, uint32_t device,
                                  LLVMValueRef args, LLVMValueRef result)
{
    static const char name[] = "jit_device_function";
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i8 = LLVMInt8TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, pointer, i32, i32, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(i8, types, 6, false);
    LLVMValueRef f = LLVMGetNamedFunction(j->code->module, name);
    if (!f)
        f = LLVMAddFunction(j->code->module, name, type);
    LLVMValueRef values[] = {j->code->cta,       j->code->fault, thread,
                             jit_i32(j, device), args,           result};
    LLVMValueRef ok = LLVMBuildCall2(j->code->b, type, f, values, 6, "");
    ok = LLVMBuildTrunc(j->code->b, ok, LLVMInt1TypeInContext(j->code->context), "");
    return ok;
}

static void call_lane(const struct jit *j, const struct call *call, LLVMValueRef lane,
                      unsigned copy, LLVMValueRef args, LLVMValueRef result)
{
    LLVMValueRef thread =
        LLVMBuildMul(j->code->b, j->group, jit_i32(j, j->unit->width * j->facts->copies), "");
    thread = LLVMBuildAdd(j->code->b, thread, jit_i32(j, copy * j->unit->width), "");
    thread = LLVMBuildAdd(j->code->b, thread, lane, "");
    for (unsigned i = 0; i < call->info.n; i++) {
        const struct jit_call_pass *pass = &call->info.args[i];
        LLVMBuildMemCpy(j->code->b, jit_at(j, args, jit_i64(j, pass->at)), 1,
                        place_of(j, pass, call->args[i], lane, thread), 1, jit_i64(j, pass->bytes));
    }
    LLVMValueRef ok = call_function(j, thread, call->info.device, args, result);
    LLVMBasicBlockRef fail = jit_new_block(j, "fails"), on = jit_new_block(j, "");
    LLVMBuildCondBr(j->code->b, ok, on, fail);
    jit_continue_in(j, fail);
    jit_fault_leave(j, PT_RUN_FAULT); /* the runtime's side has said why */
    jit_continue_in(j, on);
    if (call->info.has_result)
        LLVMBuildMemCpy(j->code->b, place_of(j, &call->info.result, call->result, lane, thread), 1,
                        result, 1, jit_i64(j, call->info.result.bytes));
}

/* A loop over the lanes that are on. */
static void call_chunk(const struct jit *j, const struct call *call, unsigned copy,
                       LLVMValueRef args, LLVMValueRef result)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMValueRef mask = j->mask[copy] ? j->mask[copy] : jit_mask_all(j);
    LLVMValueRef bits = LLVMBuildBitCast(
        j->code->b, mask, LLVMIntTypeInContext(j->code->context, j->unit->width), "");
    LLVMValueRef left = jit_alloca(j, i32, "left");
    LLVMBuildStore(j->code->b, LLVMBuildZExtOrBitCast(j->code->b, bits, i32, ""), left);
    LLVMBasicBlockRef head = jit_new_block(j, "lanes"), body = jit_new_block(j, "lane");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMBuildBr(j->code->b, head);
    jit_continue_in(j, head);
    LLVMValueRef now = LLVMBuildLoad2(j->code->b, i32, left, "");
    LLVMBuildCondBr(j->code->b, LLVMBuildICmp(j->code->b, LLVMIntNE, now, jit_i32(j, 0), ""), body,
                    after);
    jit_continue_in(j, body);
    LLVMValueRef find[] = {now, LLVMConstInt(LLVMInt1TypeInContext(j->code->context), 1, false)};
    LLVMValueRef lane =
        jit_check_proven(j->code, jit_intrinsic(j, "llvm.cttz", i32, find, 2), "nonzero");
    LLVMValueRef rest = LLVMBuildSub(j->code->b, now, jit_i32(j, 1), "");
    LLVMBuildStore(j->code->b, LLVMBuildAnd(j->code->b, now, rest, ""), left);
    call_lane(j, call, lane, copy, args, result);
    LLVMBuildBr(j->code->b, head);
    jit_continue_in(j, after);
}

bool jit_device_call_emit(const struct jit *j)
{
    struct call call = {0};
    const struct jit_call_info *info = &call.info;
    const struct jit_call_pass *result = &info->result;
    if (!jit_call_info_find(j->facts, j->insn, &call.info))
        return jit_refuse(j->unit, "a call");
    LLVMValueRef args = bytes_alloca(j, PT_DEVICE_BYTES), bytes = bytes_alloca(j, PT_DEVICE_BYTES);
    for (unsigned u = 0; u < j->facts->copies; u++) {
        for (unsigned i = 0; i < info->n; i++)
            if (!info->args[i].variable)
                call.args[i] = spread_register(j, &info->args[i], u, false);
        bool is_register = info->has_result && !result->variable;
        if (is_register)
            call.result = spread_register(j, result, u, true);
        call_chunk(j, &call, u, args, bytes);
        if (is_register) {
            LLVMTypeRef type = LLVMVectorType(jit_type(j, result->type, 1), j->unit->width);
            jit_registers_write(j, result->o, u, LLVMBuildLoad2(j->code->b, type, call.result, ""),
                                j->unit->width, false);
        }
    }
    return true;
}
