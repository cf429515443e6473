/* What an operation accesses, but for kernels, which tell it themselves. */
#include "runtime/cuda/op_footprint.h"

#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/footprint.h"

static void add_bytes(struct pt_footprint *f, const void *address, uint64_t bytes, uint32_t use,
                      enum pt_scope scope)
{
    pt_footprint_add(f, &(struct pt_footprint_run){.first = (uintptr_t)address,
                                                   .bytes = bytes,
                                                   .insn = UINT32_MAX,
                                                   .use = use,
                                                   .scope = scope});
}

/* A word is copied or set at once, as a flag that a kernel polls is. */
static enum pt_scope scope_of(uint64_t bytes)
{
    return bytes <= 8 ? PT_SCOPE_SYS : PT_SCOPE_NONE;
}

static void add_copy(struct pt_footprint *f, const struct pt_cu_copy *c)
{
    for (size_t i = 0; i < c->depth * c->height; i++) {
        size_t z = i / c->height, y = i % c->height;
        add_bytes(f, c->from + z * c->from_slice + y * c->from_pitch, c->width, PT_USE_READ,
                  scope_of(c->width));
    }
    for (size_t i = 0; i < c->depth * c->height; i++) {
        size_t z = i / c->height, y = i % c->height;
        add_bytes(f, c->to + z * c->to_slice + y * c->to_pitch, c->width, PT_USE_WRITE,
                  scope_of(c->width));
    }
}

static void add_set(struct pt_footprint *f, const struct pt_cu_set *s)
{
    uint64_t bytes = (uint64_t)s->width * s->element_bytes;
    for (size_t y = 0; y < s->height; y++)
        add_bytes(f, s->to + y * s->pitch, bytes, PT_USE_WRITE, scope_of(bytes));
}

static void add_values(struct pt_footprint *f, const struct pt_cu_op *op)
{
    unsigned n;
    const struct pt_cu_op *parts = pt_cu_op_parts(op, &n);
    for (unsigned i = 0; i < n; i++) {
        bool writes = parts[i].work == PT_CU_WRITE_VALUE;
        if (parts[i].work == PT_CU_EMPTY)
            continue;
        add_bytes(f, parts[i].value.address, parts[i].value.bytes,
                  writes ? PT_USE_WRITE : PT_USE_READ, PT_SCOPE_SYS);
        if (writes)
            pt_footprint_add_release(f, (uintptr_t)parts[i].value.address);
    }
}

void pt_cu_op_footprint_add(const struct pt_cu_op *op, struct pt_footprint *f)
{
    if (op->work == PT_CU_COPY)
        add_copy(f, &op->copy);
    else if (op->work == PT_CU_SET)
        add_set(f, &op->set);
    else if (op->work == PT_CU_FREE_POOLED && !op->free.range->void_frees)
        add_bytes(f, (void *)(uintptr_t)op->free.range->first, op->free.range->bytes, PT_USE_WRITE,
                  PT_SCOPE_NONE);
    else if (op->work == PT_CU_WAIT_VALUE || op->work == PT_CU_WRITE_VALUE ||
             op->work == PT_CU_BATCH)
        add_values(f, op);
}
