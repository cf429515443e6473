/* Sets of operations: which of the latest are known to be over before something. */
#ifndef PTERA_CUDA_BEFORE_H
#define PTERA_CUDA_BEFORE_H

#include <stdbool.h>
#include <stdint.h>

enum { PT_CU_BEFORE_LATEST = 1024 /* so many operations are remembered */ };

/* Operations that are known to be over before something: by their numbers from `base` on. All
 * before `base` are forgotten. */
struct pt_cu_before {
    uint64_t base;
    uint64_t bits[PT_CU_BEFORE_LATEST / 64];
    uint64_t own; /* the operation's own number; 0: it has none yet */
};

bool pt_cu_before_has(const struct pt_cu_before *b, uint64_t number);
void pt_cu_before_add(struct pt_cu_before *b, uint64_t number);
/* Returns whether that is something new. */
bool pt_cu_before_join(struct pt_cu_before *to, const struct pt_cu_before *from);
/* All that an operation knows, and itself. */
void pt_cu_before_join_over(struct pt_cu_before *to, const struct pt_cu_before *from);

#endif
