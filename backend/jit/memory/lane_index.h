/* Indexes of lanes that thread indexes alone tell apart: how far each lane is from the first. */
#ifndef PTERA_BACKEND_JIT_MEMORY_LANE_INDEX_H
#define PTERA_BACKEND_JIT_MEMORY_LANE_INDEX_H

#include "backend/jit/analysis/address_form.h"
#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

/* What tells the lanes' addresses apart: indexes, or the addresses. */
struct jit_indexes {
    LLVMValueRef first, from_first; /* that of lane 0; how far each lane is from it */
    LLVMTypeRef type;
    int64_t stride; /* from an element to the next */
    bool is_split;
    struct jit_split split;
};

/* Of indexes what the text says: what they are added to, and the stride. False if they are none. */
bool jit_lane_index_split(const struct jit *j, const struct jit_access *a, struct jit_indexes *x);

/* The same, and their values. */
bool jit_lane_index_find(const struct jit *j, const struct jit_access *a, unsigned copy,
                         struct jit_indexes *x);

/* The address of an element that has this index. */
LLVMValueRef jit_lane_index_address(const struct jit *j, const struct jit_access *a, unsigned copy,
                                    const struct jit_indexes *x, LLVMValueRef index);

/* Indexes of elements so far apart differ by it. */
LLVMValueRef jit_lane_index_distance(const struct jit_indexes *x, int elements);

/* i1: elements from that index on, up to the `last` behind it, wrap nowhere, and are aligned. They
 * begin at `address`. */
LLVMValueRef jit_lane_index_fits(const struct jit *j, const struct jit_access *a, unsigned copy,
                                 const struct jit_indexes *x, LLVMValueRef lowest, int last,
                                 LLVMValueRef *address);

#endif
