/* mov in its forms: bits go where they are told; vectors and pairs are packed and unpacked. */
#include "backend/jit/value/move.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/value/operands.h"

static LLVMValueRef shift_in(const struct jit *j, LLVMValueRef value, LLVMTypeRef type, unsigned by)
{
    value = LLVMBuildZExt(j->code->b, value, type, "");
    return LLVMBuildShl(j->code->b, value, jit_const(type, by), "");
}

static void as_integers(const struct jit *j, struct jit_op *op, enum pt_type type)
{
    for (unsigned i = 0; i < op->n; i++)
        op->a[i] = LLVMBuildBitCast(j->code->b, op->a[i],
                                    jit_int_type(j, pt_type_bits(type), op->lanes), "");
}

bool jit_move_emit(const struct jit *j, struct jit_op *op, const struct jit_operands *all)
{
    unsigned bits = pt_type_bits((enum pt_type)op->form->type[0]);
    LLVMTypeRef type = jit_int_type(j, bits, op->lanes);
    switch ((enum pt_op)op->form->op) {
    case PT_OP_mov_pack: {
        LLVMValueRef value = LLVMConstNull(type);
        as_integers(j, op, all->source[0].type);
        for (unsigned i = 0; i < op->n; i++)
            value =
                LLVMBuildOr(j->code->b, value, shift_in(j, op->a[i], type, bits / op->n * i), "");
        op->d[0] = value;
        return true;
    }
    case PT_OP_mov_unpack:
        for (unsigned i = 0; i < all->n_dests; i++) {
            LLVMTypeRef part = jit_int_type(j, bits / all->n_dests, op->lanes);
            LLVMValueRef low =
                LLVMBuildLShr(j->code->b, op->a[0], jit_const(type, bits / all->n_dests * i), "");
            op->d[i] = LLVMBuildTrunc(j->code->b, low, part, "");
        }
        return true;
    case PT_OP_mov_vec:
        for (unsigned i = 0; i < op->n; i++)
            op->d[i] = op->a[i];
        return true;
    case PT_OP_mov:
    case PT_OP_mov_sreg:
    case PT_OP_mov_addr:
    case PT_OP_mov_func:
        op->d[0] = op->a[0];
        return true;
    default:
        return false;
    }
}
