/* What can be native code, and its regions: the parts of a kernel between which all threads of a
 * CTA wait for each other.
 *
 * A region begins at its entry block and reaches to blocks where other regions begin (its exits) or
 * to the end of the kernel. It becomes a loop over the groups of the CTA; all live groups leave it
 * by the same exit. Registers that cross regions go through memory, a place for each group; what
 * the whole CTA agrees on goes through a variable.
 */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_PLAN_H
#define PTERA_BACKEND_JIT_ANALYSIS_PLAN_H

#include "backend/jit/jit.h"

struct jit_region {
    uint32_t entry;
    uint32_t n_blocks, *blocks; /* ascending */
    uint64_t *set;              /* of them */
    uint32_t n_exits, *exits;   /* entries of regions that follow */
    bool has_ends;              /* lanes may leave the kernel in it */
    /* in scratch memory, where it begins with an instruction of part of a warp: what lanes name */
    uint32_t members;
};

enum { JIT_MEMBERS_BYTES = 4 * PT_WARP_SIZE }; /* of a warp */

/* CTAs interleave in a loop: cta_interleave.c. */
struct jit_cta_interleave {
    struct jit_region *region; /* that the loop is in; NULL: CTAs do not interleave */
    uint32_t loop, rounds;     /* of a turn */
    const uint64_t *live;      /* registers that groups need when they go on */
    /* in scratch memory, for each group: where it stands, what it keeps */
    uint32_t state, kept;
    uint32_t next; /* likewise, once: number of the exit taken */
};

struct jit_plan {
    struct jit_cta_interleave interleave;
    uint32_t n_regions;
    struct jit_region *regions;
    uint64_t *entries; /* set of blocks */
    /* lanes may have left the kernel before a region begins: those that have not are in memory */
    bool keeps_alive;
    bool has_ended; /* likewise, where warps are resumed one by one */
    uint32_t n_groups; /* at most, where the block's shape is not known */
    uint32_t alive;    /* in scratch memory: the live lanes of each copy, 4 bytes */
};

/* Cuts the function into regions. False with unit->why set if it cannot be native. */
bool jit_plan_find(struct jit_facts *a, struct jit_plan *plan);

/* Lanes of the warp may stand where a region begins while the block runs. */
bool jit_plan_is_left(const struct jit_facts *a, const struct jit_plan *plan, uint32_t block);

/* Chunks and groups for the kernel, and what is known of its values then. */
void jit_plan_shape(struct jit_facts *a);

#endif
