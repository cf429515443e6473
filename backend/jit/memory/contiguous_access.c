/* Accesses of lanes side by side, or at a constant distance, as one of several ways. */
#include "backend/jit/memory/contiguous_access.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/memory/prefetch.h"

void jit_contiguous_access_emit(struct jit *j, const struct jit_access *a, unsigned copy,
                                LLVMValueRef address, LLVMValueRef *v)
{
    LLVMValueRef pointer = jit_access_pointer(j, a, address);
    bool is_far = a->space == PT_SPACE_GLOBAL || a->space == PT_SPACE_GENERIC;
    int64_t size = a->bytes * a->n, stride = size;
    if (jit_def_use_shape(j, a->base, &stride) != JIT_AFFINE)
        stride = size;
    bool asks = !j->mask[copy] || !j->f->blocks.v[j->block].loop;
    bool is_dense = stride == size || jit_contiguous_is_near(j, a, stride);
    if (is_far && asks && is_dense && stride > 0 && a->base->kind == PT_OPND_REG)
        jit_prefetch_emit(j, a->base->index, copy, pointer, (unsigned)stride * j->width);
    if (stride == size && a->is_load)
        jit_contiguous_load(j, a, pointer, j->mask[copy], v);
    else if (stride == size)
        jit_contiguous_store(j, a, pointer, j->mask[copy], v);
    else if (!is_dense)
        jit_gather_access_strided(j, a, pointer, stride, v);
    else if (a->is_load)
        jit_contiguous_load_near(j, a, pointer, stride, v);
    else
        jit_contiguous_store_near(j, a, pointer, stride, v);
}

void jit_contiguous_access_emit_if(struct jit *j, const struct jit_access *a, unsigned copy,
                                   struct jit_ways *ways, LLVMValueRef is_run, LLVMValueRef address,
                                   const LLVMValueRef *v)
{
    LLVMBasicBlockRef run = jit_new_block(j, "run"), others = jit_new_block(j, "others");
    LLVMValueRef values[8];
    memcpy(values, v, sizeof values);
    LLVMBuildCondBr(j->b, is_run, run, others);
    jit_continue_in(j, run);
    jit_contiguous_access_emit(j, a, copy, address, values);
    jit_access_end_way(j, ways, values);
    jit_continue_in(j, others);
}
