/* A region while it is generated: its code, and where generating stands in it.
 *
 *   region.c            the loop over groups, and blocks in their order
 *   block_order.c       the instructions of a block in the order they run
 *   flow.c              where control goes from a block, and with which lanes
 *   branch.c            instructions that end a block
 *   superblock.c        guarded blocks in a row that all lanes run
 *   per_lane_loop.c     loops that run lane by lane
 *   reroll.c            two of them that unrolling made of one
 *   region_versions.c   regions in versions
 *   region_spill.c      what goes from one region to the next
 *   cta_interleave.c    a loop in which CTAs interleave
 *   resumable_warp.c    the ends of regions where warps are resumed one by one
 */
#ifndef PTERA_BACKEND_JIT_CONTROL_GEN_H
#define PTERA_BACKEND_JIT_CONTROL_GEN_H

#include "backend/jit/analysis/plan.h"
#include "backend/jit/bitset.h"
#include "backend/jit/jit.h"

/* The code of a region, or of a version of it. */
struct jit_region_code {
    const uint64_t *written;           /* registers that the region may write */
    LLVMValueRef (*masks)[JIT_COPIES]; /* allocas: lanes that wait at a block */
    LLVMBasicBlockRef *enter, *body;   /* by block: with the test for an empty mask, without */
    /* By block, or NULL: where all lanes of the group run it, and none waits anywhere; and where
     * those that wait at it do. */
    LLVMBasicBlockRef *whole, *part;
    LLVMBasicBlockRef *latch; /* by loop */
    /* By loop: where all its lanes go on (jit_wait_masks_find_outlets), or PT_NONE; allocas, lanes
     * that have gone into such a loop. */
    uint32_t *outlet;
    LLVMValueRef (*inside)[JIT_COPIES];
    LLVMBasicBlockRef *leave; /* by block: exit to it */
    LLVMBasicBlockRef end, done;
    LLVMValueRef next; /* alloca: number of the exit taken */
    /* Allocas, by block: all lanes of the group wait there, as scalars tell. */
    LLVMValueRef *full;
    uint64_t *traced; /* blocks of traces: superblock.c */
    /* Vectors that cross are not brought into variables: the region has registers of its own. */
    bool stays_in_memory;
    /* cta_interleave.c, allocas: not the first turn, some group waits, rounds left */
    LLVMValueRef resumes, waits, rounds;
    LLVMBasicBlockRef wait; /* likewise: the end of a group's turn */
};

/* The cursor and where it stands in a region; passed, as it is. */
struct jit_gen {
    const struct jit *j;
    const struct jit_plan *plan;
    struct jit_region *r;
    struct jit_region_code *code;
    LLVMValueRef first[JIT_COPIES];  /* lanes active at the group's start, as a flow; NULL: all */
    LLVMValueRef active[JIT_COPIES]; /* lanes that run the block, as a flow; NULL: all */
    LLVMValueRef is_full;            /* of the block (i1); NULL: scalars do not tell */
    bool runs_whole; /* all lanes run what is being generated, and none waits anywhere */
};

/* Inside the region, and not where a region begins: an edge to there leaves, be it the region's own
 * entry. */
static inline bool jit_is_in(const struct jit_gen *g, uint32_t block)
{
    return jit_set_has(g->r->set, block) && !jit_set_has(g->plan->entries, block);
}

/* Masks are kept for blocks that part of the group may run, and for exits. */
static inline bool jit_has_mask(const struct jit_gen *g, uint32_t block)
{
    return !jit_is_in(g, block) || jit_set_has(g->j->facts->partial, block);
}

/* The loop that the block is in, + 1, or 0: as in struct pt_block. */
static inline uint32_t jit_loop_of(const struct jit_gen *g, uint32_t block)
{
    return g->j->unit->f->blocks.v[block].loop;
}

/* Loop `l` has the block in it. */
static inline bool jit_loop_holds(const struct jit_gen *g, uint32_t l, uint32_t block)
{
    return block >= g->j->unit->f->loops.v[l].header && block < g->j->unit->f->loops.v[l].end;
}

#endif
