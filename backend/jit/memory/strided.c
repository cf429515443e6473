/* Accesses of lanes at a constant stride: side by side, a few elements apart or in falling order as
 * vectors; else gathered. */
#include "backend/jit/memory/strided.h"

#include <string.h>

#include "backend/jit/analysis/def_use.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/llvm/cpu.h"
#include "backend/jit/memory/access.h"
#include "backend/jit/memory/contiguous.h"
#include "backend/jit/memory/gather.h"
#include "backend/jit/memory/prefetch.h"

/* All lanes a few elements apart, or in falling order: vector accesses. */
static bool is_near(const struct jit *j, const struct jit_access *a, int64_t stride)
{
    int64_t apart = stride / a->bytes;
    bool is_few = apart == 2 || apart == 4;
    return a->n == 1 && stride % a->bytes == 0 &&
           (apart == -1 ||
            (is_few && a->bytes >= 4 && (a->is_load || j->unit->cpu->has_fast_masked_store)));
}

/* The other way round. */
static LLVMValueRef reversed(const struct jit *j, LLVMValueRef vector)
{
    int lanes[64];
    for (unsigned i = 0; i < j->unit->width; i++)
        lanes[i] = (int)(j->unit->width - 1 - i);
    return jit_shuffle(j, vector, NULL, lanes, j->unit->width);
}

/* The last vector ends with the last lane's element: between elements of lanes there is no page
 * without any. */
static LLVMValueRef load_few_apart(const struct jit *j, const struct jit_access *a,
                                   LLVMValueRef pointer, int apart)
{
    LLVMValueRef part[4];
    int lanes[64], width = (int)j->unit->width, each = width / apart; /* lanes that a part holds */
    for (int i = 0; i < apart; i++) {
        int at = i + 1 < apart ? i * width : (apart * width - apart + 1) - width;
        jit_contiguous_load(j, a, jit_access_element(j, a, pointer, (unsigned)at), NULL, &part[i]);
    }
    for (int i = 0; i < apart; i += 2) {
        int late = i + 2 == apart ? apart - 1 : 0; /* elements by which the second begins early */
        for (int k = 0; k < width; k++)
            lanes[k] = k % (2 * each) < each ? k % each * apart : width + k % each * apart + late;
        part[i] = jit_shuffle(j, part[i], part[i + 1], lanes, j->unit->width);
    }
    if (apart == 2)
        return part[0];
    for (int i = 0; i < width; i++)
        lanes[i] = i < 2 * each ? i : width + i - 2 * each;
    return jit_shuffle(j, part[0], part[2], lanes, j->unit->width);
}

static void store_few_apart(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                            unsigned apart, LLVMValueRef value)
{
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointer)};
    LLVMTypeRef i1 = LLVMInt1TypeInContext(j->code->context);
    LLVMValueRef theirs[64];
    int lanes[64];
    for (unsigned i = 0; i < j->unit->width; i++)
        theirs[i] = LLVMConstInt(i1, i % apart == 0, false);
    for (unsigned i = 0; i < apart; i++) {
        for (unsigned k = 0; k < j->unit->width; k++)
            lanes[k] = (int)((i * j->unit->width + k) / apart);
        LLVMValueRef args[] = {jit_shuffle(j, value, NULL, lanes, j->unit->width),
                               jit_access_element(j, a, pointer, i * j->unit->width),
                               LLVMConstVector(theirs, j->unit->width)};
        jit_access_masked(j, "llvm.masked.store", types, args, 1, a->bytes);
    }
}

/* Of lanes in falling order, where the lowest is. */
static LLVMValueRef lowest(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer)
{
    return jit_at(j, pointer, jit_i64(j, -(uint64_t)(j->unit->width - 1) * a->bytes));
}

static void load_near(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                      int64_t stride, LLVMValueRef *v)
{
    if (stride > 0) {
        v[0] = load_few_apart(j, a, pointer, (int)(stride / a->bytes));
        return;
    }
    jit_contiguous_load(j, a, lowest(j, a, pointer), NULL, v);
    v[0] = reversed(j, v[0]);
}

static void store_near(const struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                       int64_t stride, LLVMValueRef *v)
{
    if (stride > 0) {
        store_few_apart(j, a, pointer, (unsigned)(stride / a->bytes), v[0]);
        return;
    }
    LLVMValueRef values[8] = {reversed(j, v[0])};
    jit_contiguous_store(j, a, lowest(j, a, pointer), NULL, values);
}

void jit_strided_emit(const struct jit *j, const struct jit_access *a, unsigned copy,
                      LLVMValueRef address, LLVMValueRef *v)
{
    LLVMValueRef pointer = jit_access_pointer(j, a, address);
    bool is_far = a->space == PT_SPACE_GLOBAL || a->space == PT_SPACE_GENERIC;
    int64_t size = a->bytes * a->n, stride = size;
    if (jit_def_use_shape(j->facts, a->base, &stride) != JIT_AFFINE)
        stride = size;
    bool asks = !j->mask[copy] || !j->unit->f->blocks.v[j->block].loop;
    bool is_dense = stride == size || is_near(j, a, stride);
    if (is_far && asks && is_dense && stride > 0 && a->base->kind == PT_OPND_REG)
        jit_prefetch_emit(j, a->base->index, copy, pointer, (unsigned)stride * j->unit->width);
    if (stride == size && a->is_load)
        jit_contiguous_load(j, a, pointer, j->mask[copy], v);
    else if (stride == size)
        jit_contiguous_store(j, a, pointer, j->mask[copy], v);
    else if (!is_dense)
        jit_gather_access_strided(j, a, pointer, stride, v);
    else if (a->is_load)
        load_near(j, a, pointer, stride, v);
    else
        store_near(j, a, pointer, stride, v);
}

void jit_strided_emit_if(const struct jit *j, const struct jit_access *a, unsigned copy,
                         struct jit_ways *ways, LLVMValueRef is_contiguous, LLVMValueRef address,
                         const LLVMValueRef *v)
{
    LLVMBasicBlockRef run = jit_new_block(j, "run"), others = jit_new_block(j, "others");
    LLVMValueRef values[8];
    memcpy(values, v, sizeof values);
    LLVMBuildCondBr(j->code->b, is_contiguous, run, others);
    jit_continue_in(j, run);
    jit_strided_emit(j, a, copy, address, values);
    jit_access_end_way(j, ways, values);
    jit_continue_in(j, others);
}
