/* Accesses of lanes side by side: vectors of memory, and how lanes lie in them. */
#include "backend/jit/access.h"

/* A mask whose lanes stand for n elements each. */
static LLVMValueRef spread_mask(struct jit *j, LLVMValueRef mask, unsigned n)
{
    int lanes[256];
    for (unsigned i = 0; i < n * j->width; i++)
        lanes[i] = (int)(i / n);
    return n == 1 ? mask : jit_shuffle(j, mask, NULL, lanes, n * j->width);
}

/* Elements i, i + n, i + 2n …: those of one register. */
static LLVMValueRef take_every(struct jit *j, LLVMValueRef all, unsigned i, unsigned n)
{
    int lanes[64];
    for (unsigned k = 0; k < j->width; k++)
        lanes[k] = (int)(k * n + i);
    return n == 1 ? all : jit_shuffle(j, all, NULL, lanes, j->width);
}

/* One after the other: x0 y0 x1 y1 … of n vectors, n a power of two. */
static LLVMValueRef interleave(struct jit *j, LLVMValueRef *v, unsigned n)
{
    LLVMValueRef half[8];
    unsigned each = j->width;
    int lanes[256];
    for (unsigned i = 0; i < n; i++)
        half[i] = v[i];
    for (unsigned count = n; count > 1; count /= 2, each *= 2) {
        for (unsigned i = 0; i < 2 * each; i++)
            lanes[i] = (int)i;
        for (unsigned i = 0; i < count / 2; i++)
            half[i] = jit_shuffle(j, half[2 * i], half[2 * i + 1], lanes, 2 * each);
    }
    for (unsigned i = 0; i < n * j->width; i++)
        lanes[i] = (int)(i % n * j->width + i / n);
    return n == 1 ? v[0] : jit_shuffle(j, half[0], NULL, lanes, n * j->width);
}

void jit_load_run(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                  LLVMValueRef mask, LLVMValueRef *v)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width * a->n);
    LLVMValueRef all;
    if (!mask) {
        all = jit_load_at(j, a, type, pointer, a->bytes);
    } else {
        LLVMTypeRef types[] = {type, LLVMTypeOf(pointer)};
        LLVMValueRef args[] = {pointer, spread_mask(j, mask, a->n), LLVMConstNull(type)};
        all = jit_masked(j, "llvm.masked.load", types, args, 0, a->bytes);
    }
    for (unsigned i = 0; i < a->n; i++)
        v[i] = take_every(j, all, i, a->n);
}

void jit_store_run(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                   LLVMValueRef mask, LLVMValueRef *v)
{
    LLVMValueRef all = interleave(j, v, a->n);
    if (!mask) {
        jit_store_at(j, a, all, pointer);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(all), LLVMTypeOf(pointer)};
    LLVMValueRef args[] = {all, pointer, spread_mask(j, mask, a->n)};
    jit_masked(j, "llvm.masked.store", types, args, 1, a->bytes);
}

bool jit_is_near(const struct jit *j, const struct jit_access *a, int64_t stride)
{
    return j->target->has_mask_registers && a->n == 1 && a->bytes >= 4 &&
           (stride == 2 * (int64_t)a->bytes || stride == 4 * (int64_t)a->bytes);
}

static LLVMValueRef near_mask(struct jit *j, unsigned apart)
{
    LLVMValueRef lanes[64];
    for (unsigned i = 0; i < j->width; i++)
        lanes[i] = LLVMConstInt(LLVMInt1TypeInContext(j->context), i % apart == 0, false);
    return LLVMConstVector(lanes, j->width);
}

LLVMValueRef jit_load_near(struct jit *j, const struct jit_access *a, LLVMValueRef pointer,
                           unsigned apart)
{
    LLVMTypeRef type = LLVMVectorType(a->element, j->width);
    LLVMTypeRef types[] = {type, LLVMTypeOf(pointer)};
    LLVMValueRef part[4];
    int lanes[64];
    for (unsigned i = 0; i < apart; i++) {
        LLVMValueRef at = jit_element(j, a, pointer, i * j->width);
        LLVMValueRef args[] = {at, near_mask(j, apart), LLVMConstNull(type)};
        part[i] = jit_masked(j, "llvm.masked.load", types, args, 0, a->bytes);
    }
    unsigned each = j->width / apart; /* lanes that a part holds */
    for (unsigned i = 0; i < j->width; i++)
        lanes[i] = (int)(i % (2 * each) / each * j->width + i % each * apart);
    for (unsigned i = 0; i < apart; i += 2)
        part[i] = jit_shuffle(j, part[i], part[i + 1], lanes, j->width);
    if (apart == 2)
        return part[0];
    for (unsigned i = 0; i < j->width; i++)
        lanes[i] = (int)(i < 2 * each ? i : j->width + i - 2 * each);
    return jit_shuffle(j, part[0], part[2], lanes, j->width);
}

void jit_store_near(struct jit *j, const struct jit_access *a, LLVMValueRef pointer, unsigned apart,
                    LLVMValueRef value)
{
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointer)};
    int lanes[64];
    for (unsigned i = 0; i < apart; i++) {
        for (unsigned k = 0; k < j->width; k++)
            lanes[k] = (int)((i * j->width + k) / apart);
        LLVMValueRef args[] = {jit_shuffle(j, value, NULL, lanes, j->width),
                               jit_element(j, a, pointer, i * j->width), near_mask(j, apart)};
        jit_masked(j, "llvm.masked.store", types, args, 1, a->bytes);
    }
}
