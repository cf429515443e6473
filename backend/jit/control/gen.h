/* A region while it is generated: what its parts share.
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
 *   cta_interleave.c    a loop in which CTAs take turns
 *   resumable_warp.c    the ends of regions where warps run apart
 */
#ifndef PTERA_BACKEND_JIT_GEN_H
#define PTERA_BACKEND_JIT_GEN_H

#include "backend/jit/control/region.h"

struct jit_gen {
    struct jit *j;
    const struct jit_plan *plan;
    struct jit_region *r;
    LLVMValueRef first[JIT_COPIES]; /* lanes on at the start of the group, as a flow; NULL: all */
    LLVMValueRef (*masks)[JIT_COPIES]; /* allocas: lanes that wait at a block */
    LLVMBasicBlockRef *enter, *body;   /* by block: with the test for an empty mask, without */
    /* By block, or NULL: where all lanes of the group run it, and none waits anywhere; and where those that wait at it do. */
    LLVMBasicBlockRef *whole, *part;
    LLVMBasicBlockRef *latch;          /* by loop */
    uint32_t *outlet;                  /* by loop: where all its lanes go on, see jit_find_outlets; or PT_NONE */
    LLVMValueRef (*inside)[JIT_COPIES]; /* allocas: lanes that have gone into such a loop */
    LLVMBasicBlockRef *leave;          /* by block: exit to it */
    LLVMBasicBlockRef end, done;
    LLVMValueRef next;            /* alloca: number of the exit taken */
    const uint64_t *written;      /* registers that the region may write */
    bool stays_in_memory;         /* vectors that cross are not brought into variables */
    LLVMValueRef (*variables)[JIT_COPIES]; /* theirs, meanwhile */
    LLVMValueRef cur[JIT_COPIES]; /* lanes that run the block, as a flow; NULL: all */
    LLVMValueRef resumes, waits, rounds; /* allocas: not the first turn, some group waits, rounds left: cta_interleave.c */
    LLVMBasicBlockRef wait;              /* the end of a group's turn: cta_interleave.c */
    LLVMValueRef *full;    /* allocas, by block: all lanes of the group wait there, as scalars tell */
    uint64_t *traced;      /* blocks of traces: superblock.c */
    LLVMValueRef is_full;  /* of the block (i1); NULL: scalars do not tell */
    bool runs_whole;       /* all lanes run what is being generated, and none waits anywhere */
};

/* Inside the region, and not where a region begins: an edge to there leaves, be it the region's own entry. */
static inline bool jit_is_in(const struct jit_gen *g, uint32_t block)
{
    return jit_set_has(g->r->set, block) && !jit_set_has(g->plan->entries, block);
}

/* Masks are kept for blocks that part of the group may run, and for exits. */
static inline bool jit_has_mask(const struct jit_gen *g, uint32_t block)
{
    return !jit_is_in(g, block) || jit_set_has(g->j->partial, block);
}

/* The last instruction of a block. */
static inline uint32_t jit_last_of(const struct jit *j, uint32_t block)
{
    return j->f->blocks.v[block].first + j->f->blocks.v[block].count - 1;
}

/* ---- flow.c ---- */

/* Finds loops that all lanes leave for one block behind them, which runs when none is left inside: where a lane leaves need not
 * be noted, as it has gone in. Clears what is noted of lanes. */
void jit_find_outlets(struct jit_gen *g);
void jit_clear_outlets(struct jit_gen *g);
/* The lanes that wait at a block. */
LLVMValueRef jit_waiting(struct jit_gen *g, uint32_t block, unsigned copy);
/* They run it now. */
void jit_clear_waiting(struct jit_gen *g, uint32_t block, unsigned copy);

/* Goes on, after block `from` has sent lanes to a and b (UINT32_MAX: to none), at the first place where lanes may wait. */
void jit_go_on(struct jit_gen *g, uint32_t from, uint32_t a, uint32_t b);
/* The same inside loop `loop` (index + 1, or PT_NONE), where lanes may wait at the blocks of `waits`. */
void jit_go_on_among(struct jit_gen *g, uint32_t from, uint32_t loop, const uint64_t *waits);
/* Lanes of `mask` (NULL: all) will run `to`. */
void jit_send(struct jit_gen *g, uint32_t from, uint32_t to, LLVMValueRef *mask);
/* All lanes that run block `from` go to `to`. */
void jit_go_to(struct jit_gen *g, uint32_t from, uint32_t to);
/* i1: lanes of some copy wait at the block. */
LLVMValueRef jit_has_waiting(struct jit_gen *g, uint32_t block);
/* i1: all lanes of the group do. */
LLVMValueRef jit_all_wait(struct jit_gen *g, uint32_t block);
/* Every now and then: is the launch to stop? `insn` is the place that is told then. */
void jit_poll(struct jit *j, uint32_t insn);
/* The same once for several rounds of a loop, at most 2^31 less JIT_BUDGET: an i32. */
void jit_poll_rounds(struct jit *j, uint32_t insn, LLVMValueRef rounds);

/* ---- branch.c ---- */

/* Where the lanes of a block go at its end. False with j->why set. */
bool jit_end_block(struct jit_gen *g, uint32_t block);

/* ---- block_order.c ---- */

/* First those that compute addresses and other values of the whole chunk from what is there at the block's start, so that
 * accesses can be tested together; then the rest. */
struct jit_order {
    uint32_t *insns, n, n_early;
};

struct jit_order jit_find_order(struct jit *j, uint32_t block);
/* The same of blocks that follow block `from`, one after the other, as if they were one. The branches at their ends are left out.
 * What comes first may run though lanes go elsewhere. */
struct jit_order jit_find_order_behind(struct jit *j, uint32_t from, const uint32_t *blocks,
                                       unsigned n_blocks);

/* ---- region.c ---- */

/* Tests all accesses that can be tested at once; j->trusted will hold them. NULL if there are none. */
LLVMValueRef jit_test_accesses(struct jit *j, const struct jit_order *o);

/* ---- superblock.c ---- */

/* Block `from` has run, but for the branch at its end. Where all lanes of the group go on through guarded blocks that follow, they
 * run those, and leave the last of them; goes on for other groups. False with j->why set. */
bool jit_run_trace(struct jit_gen *g, uint32_t from);

/* ---- per_lane_loop.c ---- */

/* The block is a loop that lanes are to run one after the other. */
bool jit_is_serial(const struct jit_gen *g, uint32_t block);
/* Runs it, and loops that follow with little between, in the lanes of g->cur and those that wait at blocks between, until all
 * have left them. False with j->why set. */
bool jit_run_serial(struct jit_gen *g, uint32_t block);

/* ---- reroll.c ---- */

/* Two loops, of which one round of the second does `rounds` of the first. */
struct jit_reroll {
    struct pt_operand counter;    /* register: rounds of the first that are left */
    struct pt_operand index, end; /* the second goes on while index < end, of `type` */
    enum pt_type type;
    unsigned step, rounds; /* step: what a round of the first adds to the index */
};

/* Blocks first and first + 2 are such loops, and lanes that leave the second, or go from the block between behind it, go on in block
 * first + 3. */
bool jit_find_reroll(const struct jit *j, uint32_t first, struct jit_reroll *r);

/* Rounds of the first loop that do what lanes would in both. */
struct jit_rounds {
    LLVMValueRef n;     /* by lane */
    LLVMValueRef lanes; /* that have any */
    LLVMValueRef hold;  /* i1: they do the same in all lanes */
};

/* For `lanes` of a copy, of which `starts` begin with the first loop, the others behind it; `skips` (NULL: none) leave out the second. */
struct jit_rounds jit_count_rounds(struct jit *j, const struct jit_reroll *r, unsigned copy,
                                   LLVMValueRef starts, LLVMValueRef skips, LLVMValueRef lanes);

/* ---- region_versions.c ---- */

/* A region whose loop over groups is there for several values of the lowest bits of a register. */
struct jit_versions {
    uint32_t reg;
    uint32_t n, values[32];
    uint32_t *insns, n_insns; /* that make it, the last first */
    const uint64_t *needs;    /* registers that they read */
};

/* False: one version is enough. */
bool jit_find_versions(const struct jit_gen *g, struct jit_versions *v);
/* The bits (i32) when the region begins; NULL with j->why set. */
LLVMValueRef jit_version_value(struct jit_gen *g, const struct jit_versions *v);

/* ---- region_spill.c ---- */

/* The region begins, and ends, for the CTA: what all groups agree on. */
void jit_begin_crossing(struct jit *j);
void jit_end_crossing(struct jit_gen *g);
/* The group begins: registers that live into the region, and values made once more. */
bool jit_load_registers(struct jit_gen *g);
/* Lanes that had not left the kernel when the last region ended. */
LLVMValueRef jit_load_alive(struct jit_gen *g, unsigned copy);
/* The group goes to region entry `to`: its registers, live lanes, what it brings to a reduction. */
void jit_save_group(struct jit_gen *g, uint32_t to);
/* All lanes of the group have left the kernel. */
void jit_save_ended(struct jit_gen *g);
/* The region has been generated: registers are variables again. */
void jit_leave_memory(struct jit_gen *g);
/* A mask of one chunk from the lowest bits of an i32, and back. */
LLVMValueRef jit_mask_from_bits(struct jit *j, LLVMValueRef bits);
LLVMValueRef jit_mask_to_bits(struct jit *j, LLVMValueRef mask);

/* The register crosses regions, in memory or a variable of the CTA. */
static inline bool jit_is_placed(const struct jit_reg *r)
{
    return r->kept || r->scratch_bytes;
}

/* One copy of it between its variable and its place in memory; how many copies there are. Other lanes than those of `mask` keep
 * what is in memory; NULL: there are none. */
void jit_load_crossing(struct jit *j, const struct jit_reg *r, unsigned u);
void jit_store_crossing(struct jit *j, const struct jit_reg *r, unsigned u, LLVMValueRef mask);
unsigned jit_crossing_copies(const struct jit *j, const struct jit_reg *r);

/* ---- cta_interleave.c ---- */

/* CTAs take turns in a loop of the region. */
bool jit_has_turns(const struct jit_gen *g);
/* The region begins, or another turn of it. */
void jit_open_turn(struct jit_gen *g);
/* A group, which has its registers of the region's start: goes on where it waits, if it does; building goes on where the region
 * begins. False with j->why set. */
bool jit_resume_group(struct jit_gen *g);
/* Lanes go on in a loop's header again, unless a turn ends there. */
void jit_go_again(struct jit_gen *g, uint32_t header);
/* The end of a group's turn in the middle of the loop. */
void jit_end_turn(struct jit_gen *g);
/* Behind the loop over groups: if some wait, so does the CTA. */
void jit_close_turn(struct jit_gen *g);

/* ---- resumable_warp.c ---- */

/* The region's start, before a group's registers are loaded. */
void jit_start_apart(struct jit_gen *g);
/* Lanes that run the region; NULL: all. */
LLVMValueRef jit_standing(struct jit_gen *g, unsigned copy);
/* The header of a loop that waits: the back edges let others go first. */
bool jit_is_turning(const struct jit_gen *g, uint32_t block);
/* Lanes go from one block to another. */
void jit_note_turn(struct jit_gen *g, uint32_t from, uint32_t to);
/* All lanes of the warp that have not ended leave the region for `to`; or each stands somewhere. */
void jit_leave_apart(struct jit_gen *g, uint32_t to);
void jit_end_apart(struct jit_gen *g);

#endif
