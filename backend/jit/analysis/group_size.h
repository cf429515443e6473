/* How many chunks a group has (thread coarsening), which share what is the same for all of their
 * lanes. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_GROUP_SIZE_H
#define PTERA_BACKEND_JIT_ANALYSIS_GROUP_SIZE_H

#include "backend/jit/jit.h"

/* What is known of the kernel's values, and shape->copies. */
void jit_group_size_choose(struct jit_facts *a, struct pt_uniformity_shape *shape);

/* Finds a->row. */
void jit_group_size_find_rows(struct jit_facts *a, const struct pt_uniformity_shape *shape);

#endif
