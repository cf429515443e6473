/* mma: products of matrices by functions for a warp: the warp's registers go to memory, the
 * function for the form multiplies them (struct pt_product), and results come back. Code of its own
 * for each mma was measured: it is no faster, and that of 64, which is not many for a kernel of
 * Triton's, takes LLVM twelve seconds.
 */
#include "backend/jit/warp/mma.h"

#include "backend/jit/emit/lane_call.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/object/object.h"
#include "backend/jit/object/snapshot.h"
#include "backend/jit/value/registers.h"

enum { D, A, B, C }; /* operands; the first three are arguments, too */

/* The registers of an operand. */
static const struct pt_operand *registers(const struct jit *j, unsigned operand, unsigned *n)
{
    const struct pt_operand *o = &j->unit->f->operands.v[j->insn->operands + operand];
    *n = o->kind == PT_OPND_VEC ? (unsigned)o->imm : 1;
    return o->kind == PT_OPND_VEC ? &j->unit->f->operands.v[o->index] : o;
}

static LLVMValueRef place(const struct jit *j, LLVMValueRef memory, unsigned reg, unsigned chunk)
{
    unsigned lane = reg * PT_WARP_SIZE + chunk * j->unit->width;
    return jit_at(j, memory, jit_i64(j, sizeof(uint32_t) * lane));
}

static void put(const struct jit *j, unsigned first, unsigned operand, LLVMValueRef memory)
{
    unsigned n;
    const struct pt_operand *o = registers(j, operand, &n);
    for (unsigned i = 0; i < n; i++)
        for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
            LLVMValueRef value =
                jit_registers_read(j, &o[i], first + u, PT_b32, j->unit->width, true);
            LLVMSetAlignment(LLVMBuildStore(j->code->b, value, place(j, memory, i, u)),
                             4 * j->unit->width);
        }
}

static void get(const struct jit *j, unsigned first, LLVMValueRef memory)
{
    unsigned n;
    const struct pt_operand *o = registers(j, D, &n);
    for (unsigned i = 0; i < n; i++)
        for (unsigned u = 0; u < jit_warp_chunks(j); u++) {
            LLVMTypeRef type = jit_type(j, PT_f32, j->unit->width);
            LLVMValueRef value = LLVMBuildLoad2(j->code->b, type, place(j, memory, i, u), "");
            LLVMSetAlignment(value, 4 * j->unit->width);
            jit_registers_write(j, &o[i], first + u, value, j->unit->width, false);
        }
}

bool jit_mma_emit(const struct jit *j, unsigned first)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef types[] = {pointer, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 3, false);
    LLVMValueRef args[] = {jit_lane_call_memory(j, D), jit_lane_call_memory(j, A),
                           jit_lane_call_memory(j, B)};
    put(j, first, A, args[A]);
    put(j, first, B, args[B]);
    put(j, first, C, args[D]);
    LLVMValueRef function =
        jit_declare(j, JIT_PRODUCT, jit_snapshot_product(j->unit->snapshot, j->form)->name, type);
    LLVMBuildCall2(j->code->b, type, function, args, 3, "");
    get(j, first, args[D]);
    return true;
}
