/* Calls of device functions, which the runtime provides: lane by lane, in ascending order. Others were expanded (ir/inline.h). */
#include "backend/jit/warp/device_call.h"

#include "backend/jit/analysis/call_info.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/check.h"
#include "backend/jit/llvm/debug_info.h"
#include "backend/jit/value/registers.h"

/* ---- the call ---------------------------------------------------------------------------------------- */

static LLVMValueRef bytes_alloca(struct jit *j, unsigned bytes)
{
    LLVMValueRef at = jit_alloca(j, LLVMArrayType2(LLVMInt64TypeInContext(j->context), bytes / 8), "");
    LLVMSetAlignment(at, 16);
    return at;
}

static void spread_register(struct jit *j, struct jit_call_pass *pass, unsigned copy, bool is_result)
{
    LLVMTypeRef type = LLVMVectorType(jit_type(j, pass->type, 1), j->width);
    pass->lanes = jit_alloca(j, type, "");
    if (!is_result)
        LLVMBuildStore(j->b, jit_registers_read(j, pass->o, copy, pass->type, j->width, false),
                       pass->lanes);
}

/* Where the lane has the value. */
static LLVMValueRef place_of(struct jit *j, const struct jit_call_pass *pass, LLVMValueRef lane,
                             LLVMValueRef thread)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    if (!pass->variable) {
        LLVMValueRef index = LLVMBuildZExt(j->b, lane, i64, "");
        return jit_at(j, pass->lanes, LLVMBuildMul(j->b, index, jit_i64(j, pass->bytes), ""));
    }
    LLVMValueRef base = jit_field(j, pointer, j->cta, offsetof(struct pt_cta, local));
    LLVMValueRef at = jit_field(j, i64, j->launch, offsetof(struct pt_launch, local_stride));
    at = LLVMBuildMul(j->b, at, LLVMBuildZExt(j->b, thread, i64, ""), "");
    at = LLVMBuildAdd(j->b, at, jit_i64(j, pass->variable->offset), "");
    return jit_at(j, base, at);
}

static LLVMValueRef call_function(struct jit *j, LLVMValueRef thread, uint32_t device,
                                  LLVMValueRef args, LLVMValueRef result)
{
    static const char name[] = "jit_device_function";
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context), i8 = LLVMInt8TypeInContext(j->context);
    LLVMTypeRef types[] = {pointer, pointer, i32, i32, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(i8, types, 6, false);
    LLVMValueRef f = LLVMGetNamedFunction(j->module, name);
    if (!f)
        f = LLVMAddFunction(j->module, name, type);
    LLVMValueRef values[] = {j->cta, j->fault, thread, jit_i32(j, device), args, result};
    LLVMValueRef ok = LLVMBuildCall2(j->b, type, f, values, 6, "");
    ok = LLVMBuildTrunc(j->b, ok, LLVMInt1TypeInContext(j->context), "");
    return ok;
}

/* Leaves the kernel; the runtime's side has said why. */
static void end_kernel(struct jit *j)
{
    struct pt_place place = jit_debug_info_place(j, (uint32_t)(j->insn - j->f->insns.v));
    LLVMValueRef func = jit_at(j, j->fault, jit_i64(j, offsetof(struct pt_fault, func)));
    LLVMValueRef insn = jit_at(j, j->fault, jit_i64(j, offsetof(struct pt_fault, insn)));
    LLVMBuildStore(j->b, jit_i32(j, place.func), func);
    LLVMBuildStore(j->b, jit_i32(j, place.insn), insn);
    LLVMBuildRet(j->b, jit_i32(j, PT_RUN_FAULT));
}

static void call_lane(struct jit *j, struct jit_call_info *call, LLVMValueRef lane, unsigned copy,
                      LLVMValueRef args, LLVMValueRef result)
{
    LLVMValueRef thread = LLVMBuildMul(j->b, j->group, jit_i32(j, j->width * j->copies), "");
    thread = LLVMBuildAdd(j->b, thread, jit_i32(j, copy * j->width), "");
    thread = LLVMBuildAdd(j->b, thread, lane, "");
    for (unsigned i = 0; i < call->n; i++) {
        const struct jit_call_pass *pass = &call->args[i];
        LLVMBuildMemCpy(j->b, jit_at(j, args, jit_i64(j, pass->at)), 1,
                        place_of(j, pass, lane, thread), 1, jit_i64(j, pass->bytes));
    }
    LLVMValueRef ok = call_function(j, thread, call->device, args, result);
    LLVMBasicBlockRef fail = jit_new_block(j, "fails"), on = jit_new_block(j, "");
    LLVMBuildCondBr(j->b, ok, on, fail);
    jit_continue_in(j, fail);
    end_kernel(j);
    jit_continue_in(j, on);
    if (call->has_result)
        LLVMBuildMemCpy(j->b, place_of(j, &call->result, lane, thread), 1, result, 1,
                        jit_i64(j, call->result.bytes));
}

/* A loop over the lanes that are on. */
static void call_chunk(struct jit *j, struct jit_call_info *call, unsigned copy, LLVMValueRef args,
                       LLVMValueRef result)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->context);
    LLVMValueRef mask = j->mask[copy] ? j->mask[copy] : jit_mask_all(j);
    LLVMValueRef bits =
        LLVMBuildBitCast(j->b, mask, LLVMIntTypeInContext(j->context, j->width), "");
    LLVMValueRef left = jit_alloca(j, i32, "left");
    LLVMBuildStore(j->b, LLVMBuildZExtOrBitCast(j->b, bits, i32, ""), left);
    LLVMBasicBlockRef head = jit_new_block(j, "lanes"), body = jit_new_block(j, "lane");
    LLVMBasicBlockRef after = jit_new_block(j, "");
    LLVMBuildBr(j->b, head);
    jit_continue_in(j, head);
    LLVMValueRef now = LLVMBuildLoad2(j->b, i32, left, "");
    LLVMBuildCondBr(j->b, LLVMBuildICmp(j->b, LLVMIntNE, now, jit_i32(j, 0), ""), body, after);
    jit_continue_in(j, body);
    LLVMValueRef find[] = {now, LLVMConstInt(LLVMInt1TypeInContext(j->context), 1, false)};
    LLVMValueRef lane = jit_check_proven(j, jit_intrinsic(j, "llvm.cttz", i32, find, 2), "nonzero");
    LLVMValueRef rest = LLVMBuildSub(j->b, now, jit_i32(j, 1), "");
    LLVMBuildStore(j->b, LLVMBuildAnd(j->b, now, rest, ""), left);
    call_lane(j, call, lane, copy, args, result);
    LLVMBuildBr(j->b, head);
    jit_continue_in(j, after);
}

bool jit_device_call_emit(struct jit *j)
{
    struct jit_call_info call;
    if (!jit_call_info_find(j, j->insn, &call)) {
        j->why = "a call";
        return false;
    }
    LLVMValueRef args = bytes_alloca(j, PT_DEVICE_BYTES), result = bytes_alloca(j, PT_DEVICE_BYTES);
    for (unsigned u = 0; u < j->copies; u++) {
        for (unsigned i = 0; i < call.n; i++)
            if (!call.args[i].variable)
                spread_register(j, &call.args[i], u, false);
        bool is_register = call.has_result && !call.result.variable;
        if (is_register)
            spread_register(j, &call.result, u, true);
        call_chunk(j, &call, u, args, result);
        if (is_register) {
            LLVMTypeRef type = LLVMVectorType(jit_type(j, call.result.type, 1), j->width);
            jit_registers_write(j, call.result.o, u, call.result.type,
                                LLVMBuildLoad2(j->b, type, call.result.lanes, ""), j->width, false);
        }
    }
    return true;
}
