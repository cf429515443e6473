/* The instructions of a block in the order they run. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_BLOCK_ORDER_H
#define PTERA_BACKEND_JIT_ANALYSIS_BLOCK_ORDER_H

#include "backend/jit/jit.h"

/* First those that compute addresses and other values of the whole chunk from what is there at the
 * block's start, so that accesses can be tested together; then the rest. */
struct jit_order {
    uint32_t *insns, n, n_early;
};

struct jit_order jit_block_order_find(const struct jit_facts *a, uint32_t block, bool divides);

/* The same of blocks that follow block `from`, one after the other, as if they were one. The
 * branches at their ends are left out. What comes first may run though lanes go elsewhere. */
struct jit_order jit_block_order_find_behind(const struct jit_facts *a, uint32_t from, bool divides,
                                             const uint32_t *blocks, unsigned n_blocks);

#endif
