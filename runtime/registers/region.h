/* Scheduling regions: a stretch of blocks that the assembler makes one of, short conditional
 * ones guarded. */
#ifndef PTERA_RUNTIME_REGISTERS_REGION_H
#define PTERA_RUNTIME_REGISTERS_REGION_H

#include "runtime/registers/code.h"

struct pt_region {
    uint32_t first, end; /* blocks */
    uint32_t insns;
    bool is_short_loop; /* a whole loop, short enough to be unrolled */
};

/* The region that begins with the block. */
struct pt_region pt_region_find(const struct pt_code *code, uint32_t first);
/* Whenever the region runs, this block of it does. */
bool pt_region_always_runs(const struct pt_code *code, const struct pt_region *r, uint32_t block);
/* Registers live behind the region, where it is a loop also behind each turn, as a set. */
void pt_region_live_out(const struct pt_code *code, const struct pt_region *r, uint64_t *set);

#endif
