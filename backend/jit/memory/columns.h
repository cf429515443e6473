/* Lanes that have a few units of memory each, at a constant stride, as columns: vectors of the
 * first unit of each lane, of the second … */
#ifndef PTERA_BACKEND_JIT_MEMORY_COLUMNS_H
#define PTERA_BACKEND_JIT_MEMORY_COLUMNS_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

enum { JIT_COLUMNS = 16 };

/* What the lanes touch: of `stride` units from one lane to the next those in the set `wanted`, in
 * which units `first` and `last` are. */
struct jit_columns {
    unsigned unit;   /* bytes of a unit: 2, 4, 8; 3: three bytes as one of 32 bits, the stride 1 */
    unsigned stride; /* units, at most JIT_COLUMNS */
    unsigned align;  /* bytes: of units at least */
    uint32_t wanted;
};

/* A way there is; for stores: that writes no unit but those. */
bool jit_columns_can_access(const struct jit *j, const struct jit_columns *c, bool is_load);

/* Vector accesses for a lane, at least; 0: lanes lie side by side. */
unsigned jit_columns_rows(const struct jit_columns *c);

/* From `pointer`, at lane 0's unit 0: v[unit], of those that are wanted. No byte is loaded in front
 * of the first or behind the last that lanes want. */
void jit_columns_load(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                      LLVMValueRef pointer, LLVMValueRef *v);
void jit_columns_store(const struct jit *j, const struct jit_access *a, const struct jit_columns *c,
                       LLVMValueRef pointer, LLVMValueRef *v);

/* So many bytes of each of a column's words, from the offset on. */
LLVMValueRef jit_columns_part(const struct jit *j, LLVMValueRef words, unsigned offset,
                              unsigned bytes);

#endif
