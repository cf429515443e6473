/* Addresses of variables and functions, and of the windows of parameters and constants. */
#include "backend/jit/value/symbol.h"

#include <stdio.h>

#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/object/object.h"
#include "ir/layout.h"

/* An address as an integer: that of the variable where the loader puts it. */
static LLVMValueRef named(const struct jit *j, const char *prefix, uint32_t index, uint64_t offset)
{
    char name[32];
    snprintf(name, sizeof name, "%s%u", prefix, index);
    LLVMValueRef global = LLVMGetNamedGlobal(j->code->module, name);
    if (!global)
        global = LLVMAddGlobal(j->code->module, LLVMInt8TypeInContext(j->code->context), name);
    LLVMValueRef at = LLVMConstPtrToInt(global, LLVMInt64TypeInContext(j->code->context));
    return LLVMBuildAdd(j->code->b, at, jit_i64(j, offset), "");
}

/* The shared address of an offset in the CTA's window, which of a cluster's CTAs is not the first
 * alone. */
static LLVMValueRef in_window(const struct jit *j, uint64_t offset)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context),
                i64 = LLVMInt64TypeInContext(j->code->context);
    if (!j->unit->options->has_cluster)
        return jit_i64(j, offset);
    LLVMValueRef window = jit_field(j, i32, j->code->cta, offsetof(struct pt_cta, window));
    return LLVMBuildAdd(j->code->b, LLVMBuildZExt(j->code->b, window, i64, ""), jit_i64(j, offset),
                        "");
}

LLVMValueRef jit_symbol_window(const struct jit *j, enum pt_space space)
{
    if (space == PT_SPACE_PARAM)
        return LLVMBuildPtrToInt(j->code->b, j->code->params,
                                 LLVMInt64TypeInContext(j->code->context), "");
    uint32_t first = pt_layout_first_constant(j->unit->m);
    return first == PT_NONE ? jit_i64(j, 0)
                            : named(j, JIT_SYMBOL, first, 0 - j->unit->m->symbols.v[first].offset);
}

LLVMValueRef jit_symbol_address(const struct jit *j, const struct pt_operand *o)
{
    if (o->kind == PT_OPND_FUNC)
        return named(j, JIT_FUNC, o->index, 0);
    const struct pt_symbol *s = &j->unit->m->symbols.v[o->index];
    LLVMTypeRef i64 = LLVMInt64TypeInContext(j->code->context);
    uint64_t offset = (uint64_t)o->imm;
    switch ((enum pt_space)s->space) {
    case PT_SPACE_SHARED:
        offset += j->unit->snapshot->shared[o->index];
        if (o->flags & PT_OPND_GENERIC)
            return LLVMBuildAdd(j->code->b, LLVMBuildPtrToInt(j->code->b, j->code->shared, i64, ""),
                                in_window(j, offset), "");
        return in_window(j, offset);
    case PT_SPACE_LOCAL: /* an offset in the thread's window */
        return jit_i64(j, s->offset + offset);
    case PT_SPACE_PARAM: /* of the kernel */
    case PT_SPACE_CONST:
        if (o->flags & PT_OPND_GENERIC)
            return LLVMBuildAdd(j->code->b, jit_symbol_window(j, (enum pt_space)s->space),
                                jit_i64(j, s->offset + offset), "");
        return jit_i64(j, s->offset + offset);
    default:
        return named(j, JIT_SYMBOL, o->index, offset);
    }
}

LLVMValueRef jit_symbol_constant_place(const struct jit *j, const struct pt_operand *o)
{
    bool is_constant =
        o->kind == PT_OPND_SYM && j->unit->m->symbols.v[o->index].space == PT_SPACE_CONST;
    return is_constant ? named(j, JIT_SYMBOL, o->index, (uint64_t)o->imm) : NULL;
}
