/* Where lanes of a warp stop, in kernels in which a thread may wait for others, and what for. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_SYNC_POINTS_H
#define PTERA_BACKEND_JIT_ANALYSIS_SYNC_POINTS_H

#include "backend/jit/jit.h"
#include "backend/jit/object/frontier.h"

/* What is known of the kernel's values where its warps are resumed one by one: a->uniformity, of
 * groups that are warps. */
void jit_sync_points_find(struct jit_facts *a, struct pt_uniformity_shape *shape);

/* The sync points are such as native code knows. False with unit->why set. */
bool jit_sync_points_are_known(struct jit_facts *a);

/* An instruction of a warp needs lanes that may stand elsewhere, or lanes name different ones. */
bool jit_sync_points_part_warps(struct jit_facts *a);

/* The member mask is known, and names all lanes. */
bool jit_sync_points_names_all(const struct jit_facts *a, const struct pt_operand *members);

/* The operand that names the lanes that take part in the instruction; NULL: there is none. */
const struct pt_operand *jit_sync_points_members(const struct jit_facts *a,
                                                 const struct pt_insn *insn);

/* All lanes of the group hold the same in the operand. */
bool jit_sync_points_is_agreed(const struct jit_facts *a, const struct pt_operand *o);

/* The block begins with bar.warp.sync. */
bool jit_sync_points_is_warp_barrier(const struct jit_facts *a, uint32_t block);

/* A barrier that all lanes of a warp come to together. */
bool jit_sync_points_is_aligned(const struct pt_form *form);

/* What lanes wait for where the block begins. */
enum jit_sync jit_sync_points_sync(const struct jit_facts *a, uint32_t block);

#endif
