/* Extended-precision arithmetic (PTX ISA 9.7.2). CC.CF is a predicate register behind those of the
 * function. */
#include "backend/jit/emit/carry.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"

static struct jit_reg *carry_of(const struct jit *j, unsigned *copy)
{
    struct jit_reg *r = &j->facts->regs[j->unit->f->regs.n];
    *copy = r->is_per_copy ? *copy : 0;
    return r;
}

bool jit_carry_is_one(const struct jit *j)
{
    return !(j->form->effects & PT_FX_CARRY_IN) ||
           j->facts->regs[j->unit->f->regs.n].shape == JIT_SCALAR;
}

bool jit_carry_is_shared(const struct jit *j)
{
    return !j->facts->regs[j->unit->f->regs.n].is_per_copy;
}

static LLVMValueRef read_carry(struct jit_op *op, unsigned copy)
{
    const struct jit *j = op->j;
    const struct jit_reg *r = carry_of(j, &copy);
    if (r->shape == JIT_VECTOR)
        return jit_mask_load(j, r->slot[copy]);
    LLVMValueRef carry = BUILD(Load2, r->type, r->slot[copy]);
    return op->lanes > 1 ? jit_splat(j, carry) : carry;
}

static void write_carry(struct jit_op *op, unsigned copy, LLVMValueRef carry)
{
    const struct jit *j = op->j;
    LLVMValueRef mask = j->mask[copy];
    const struct jit_reg *r = carry_of(j, &copy);
    if (r->shape == JIT_VECTOR) {
        carry = op->lanes > 1 ? carry : jit_splat(j, carry);
        if (mask)
            carry = BUILD(Select, mask, carry, jit_mask_load(j, r->slot[copy]));
        jit_mask_store(j, r->slot[copy], carry);
        return;
    }
    if (j->guard)
        carry = BUILD(Select, j->guard, carry, BUILD(Load2, r->type, r->slot[copy]));
    LLVMBuildStore(op->b, carry, r->slot[copy]);
}

/* The half of the product that mad takes. That of 16-bit values is of 32 bits, and its upper half
 * lies above those. */
static LLVMValueRef product(struct jit_op *op)
{
    LLVMTypeRef type = LLVMTypeOf(op->a[0]);
    unsigned bits = pt_type_bits((enum pt_type)op->form->type[0]);
    bool is_signed = pt_type_class((enum pt_type)op->form->type[0]) == PT_CLASS_S;
    if (!pt_form_has(op->form, PT_M_hi))
        return BUILD(Mul, op->a[0], op->a[1]);
    unsigned half = bits < 32 ? 32 : bits;
    LLVMTypeRef wide = jit_int_type(op->j, 2 * half, op->lanes);
    LLVMValueRef a = BUILD(IntCast2, op->a[0], wide, is_signed);
    LLVMValueRef b = BUILD(IntCast2, op->a[1], wide, is_signed);
    LLVMValueRef all = BUILD(Mul, a, b);
    return BUILD(Trunc, BUILD(LShr, all, jit_const(wide, half)), type);
}

/* d = x + y + carry. A subtraction adds the complement and 1; the carry of that sum is the inverse
 * of a borrow. */
bool jit_carry_emit(struct jit_op *op, unsigned copy)
{
    LLVMValueRef x = op->a[0], y = op->a[1];
    bool is_sub = false, is_in = op->form->effects & PT_FX_CARRY_IN;
    switch (op->form->op) {
    case PT_OP_sub_cc:
    case PT_OP_subc:
    case PT_OP_subc_cc:
        is_sub = true;
        y = BUILD(Not, y);
        break;
    case PT_OP_mad_cc:
    case PT_OP_madc:
    case PT_OP_madc_cc:
        x = product(op);
        y = op->a[2];
        break;
    }
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef in = is_in ? BUILD(ZExt, read_carry(op, copy), type) : jit_const(type, is_sub);
    LLVMValueRef sum = BUILD(Add, x, y), all = BUILD(Add, sum, in);
    if (op->form->effects & PT_FX_CARRY_OUT)
        write_carry(op, copy,
                    BUILD(Or, LLVMBuildICmp(op->b, LLVMIntULT, sum, x, ""),
                          LLVMBuildICmp(op->b, LLVMIntULT, all, sum, "")));
    op->d[0] = all;
    return true;
}
