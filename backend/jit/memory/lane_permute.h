/* Accesses in an order of lanes that thread indexes give: lane_permute.c, and store_pair.c for two
 * of them. */
#ifndef PTERA_BACKEND_JIT_MEMORY_LANE_PERMUTE_H
#define PTERA_BACKEND_JIT_MEMORY_LANE_PERMUTE_H

#include "backend/jit/jit.h"
#include "backend/jit/memory/access.h"

enum { JIT_ORDERED_LANES = 64 }; /* of a chunk, at most */

/* Where lanes lie: at elements of a stretch that begins with the lowest. */
struct jit_lane_order {
    int place[JIT_ORDERED_LANES];
    int last; /* the highest of them */
};

/* Where thread indexes alone tell the addresses apart. False if it is not worth asking how they
 * lie. */
bool jit_lane_permute_access(const struct jit *j, const struct jit_access *a, unsigned copy,
                             LLVMValueRef *v);

/* As jit_access_path_test, where it is known how they lie. */
bool jit_lane_permute_test(const struct jit *j, const struct jit_access *a, const uint64_t *written,
                           LLVMValueRef *test);

/* Lanes of such an access can take their places in registers. */
bool jit_lane_permute_can_access(const struct jit *j, const struct jit_access *a);

/* The order, if it is known while the code is made: of lanes in a stretch of up to two vectors. */
bool jit_lane_permute_find_order(const struct jit *j, const struct jit_access *a, unsigned copy,
                                 struct jit_lane_order *order);

/* In a known order that jit_lane_permute_test has found to fit. */
void jit_lane_permute_access_known(const struct jit *j, const struct jit_access *a, unsigned copy,
                                   const struct jit_lane_order *o, LLVMValueRef *v);

#endif
