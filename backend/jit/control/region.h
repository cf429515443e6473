/* Regions: the parts of a kernel between which all threads of a CTA wait for each other.
 *
 * A region begins at its entry block and reaches to blocks where other regions begin (its exits) or to the end of the
 * kernel. It becomes a loop over the groups of the CTA; all live groups leave it by the same exit. Registers that cross
 * regions go through memory, a place for each group; what the whole CTA agrees on goes through a variable.
 */
#ifndef PTERA_BACKEND_JIT_REGION_H
#define PTERA_BACKEND_JIT_REGION_H

#include "backend/jit/value/value.h"
#include "backend/order.h"

struct jit_region {
    uint32_t entry;
    uint32_t n_blocks, *blocks; /* ascending */
    uint64_t *set;              /* of them */
    uint32_t n_exits, *exits;   /* entries of regions that follow */
    bool has_ends;              /* lanes may leave the kernel in it */
    uint32_t members;           /* in scratch memory, where it begins with an instruction of part of a warp: what lanes name */
    LLVMBasicBlockRef start;
};

enum { JIT_MEMBERS_BYTES = 4 * PT_WARP_SIZE }; /* of a warp */

/* CTAs take turns in a loop: cta_interleave.c. */
struct jit_turns {
    struct jit_region *region; /* that the loop is in; NULL: CTAs do not take turns */
    uint32_t loop, rounds;     /* of a turn */
    const uint64_t *live;      /* registers that groups need when they go on */
    uint32_t state, kept;      /* in scratch memory, for each group: where it stands, what it keeps */
    LLVMValueRef next;         /* in scratch memory: number of the exit taken */
    LLVMBasicBlockRef resume;  /* where a turn begins that is not the first */
};

struct jit_plan {
    struct jit_turns turns;
    uint32_t n_regions;
    struct jit_region *regions;
    uint64_t *entries;  /* set of blocks */
    bool keeps_alive;   /* lanes may have left the kernel before a region begins: those that have not are in memory */
    bool has_ended;     /* likewise, where warps run apart */
    uint32_t front_bytes; /* there, in scratch memory from its start on: struct jit_front of a warp */
    uint32_t n_groups; /* at most, where the block's shape is not known */
    uint32_t alive;     /* in scratch memory: the live lanes of each copy, 4 bytes */
};

/* group_size.c: what is known of the kernel's values, and shape->copies. */
void jit_choose_copies(struct jit *j, struct pt_vary_shape *shape);
/* group_size.c: finds j->row. */
void jit_find_rows(struct jit *j, const struct pt_vary_shape *shape);
/* group_size.c: some instruction has one of these effects; some are accesses that all lanes of a warp do before any goes on; the order of lanes' accesses could be told. */
bool jit_has_effect(const struct jit *j, uint32_t effects);
bool jit_has_ordering_points(const struct jit *j);
bool jit_tells_order(const struct jit *j);
/* register_pressure.c: vector registers that a chunk's values take where most are live; with or without those that operations may take from
 * memory. */
uint32_t jit_pressure(const struct jit *j, bool loads_operands);
/* plan.c: cuts the function into regions. False with j->why set if it cannot be native. */
bool jit_plan(struct jit *j, struct jit_plan *plan);
/* plan.c: so many bytes of the CTA's scratch memory, aligned to 64; where they are. */
uint32_t jit_take_scratch(struct jit *j, uint32_t bytes);
/* plan.c: an empty set of blocks; the block's first instruction is a sync point of CTA or cluster. */
uint64_t *jit_new_set(struct jit *j);
bool jit_is_sync(const struct jit *j, uint32_t block);
/* plan.c: lanes of the warp may stand where a region begins while the block runs. */
bool jit_is_left(const struct jit *j, const struct jit_plan *plan, uint32_t block);
/* plan.c: regions where warps run apart; the blocks of `also` begin one, too. */
void jit_cut_apart(struct jit *j, struct jit_plan *plan, const uint64_t *also);
/* resumable_warp.c: what is known of the kernel's values where its warps run apart: j->vary, of groups that are warps. */
void jit_find_stops(struct jit *j, struct pt_vary_shape *shape);
/* resumable_warp.c: the sync points are such as native code knows. False with j->why set. */
bool jit_knows_syncs(struct jit *j);
/* resumable_warp.c: finds jit_region.members. */
void jit_place_members(struct jit *j, struct jit_plan *plan);
/* resumable_warp.c: an instruction of a warp needs lanes that may stand elsewhere, or lanes name different ones. */
bool jit_parts_warps(struct jit *j);
/* resumable_warp.c: the start of the function, where the next region of a warp is chosen. */
void jit_begin_apart(struct jit *j, const struct jit_plan *plan);
/* plan.c: chunks and groups for the kernel, and what is known of its values then. */
void jit_plan_shape(struct jit *j);

/* cta_interleave.c: r = r + s, s made of the grid's width. */
bool jit_strides_grid(const struct jit *j, const struct pt_insn *insn);
/* cta_interleave.c: i1: the CTA takes turns with others. */
LLVMValueRef jit_takes_turns(struct jit *j);
/* cta_interleave.c: finds the loop in which CTAs take turns. */
void jit_plan_turns(struct jit *j, struct jit_plan *plan);
/* cta_interleave.c: likewise once all that crosses regions has its place. */
void jit_place_kept(struct jit *j, struct jit_plan *plan);
/* cta_interleave.c: memory of a value that all groups agree on, from one turn to the next. */
LLVMValueRef jit_turn_variable(struct jit *j, LLVMTypeRef type);
/* cta_interleave.c: the start of the function: the CTA's start, or where it goes on. */
void jit_start_turns(struct jit *j, const struct jit_plan *plan);
/* plan.c: bytes of a group's part of a register that goes through memory. */
uint32_t jit_crossing_bytes(const struct jit *j, uint32_t reg);

/* region.c: generates one region. False with j->why set. */
bool jit_region(struct jit *j, const struct jit_plan *plan, struct jit_region *region);

/* block.c: j->insn and j->form become the instruction. */
void jit_visit(struct jit *j, uint32_t insn);
/* block.c: instructions, but for those that branch or end, in the lanes of `mask`. */
bool jit_run(struct jit *j, const uint32_t *insns, uint32_t n, LLVMValueRef *mask);

/* block.c: repeats a pure instruction, or a load of a parameter, in all lanes; or computes its first result in the lanes of one
 * copy, as a vector of the register's type. */
bool jit_repeat(struct jit *j, uint32_t insn);
LLVMValueRef jit_compute_lanes(struct jit *j, uint32_t insn, unsigned copy);

/* call_batch.c: brings instructions together that share calls of lane functions; then how many from insns[0] on share one. */
void jit_batch_order(struct jit *j, uint32_t *insns, uint32_t n);
uint32_t jit_batch_length(struct jit *j, const uint32_t *insns, uint32_t n);

/* call_batch.c: the instruction is a call that others may share. */
bool jit_is_batched(struct jit *j, const struct pt_insn *insn);

/* chain_split.c: true if the instructions had better run in parts than as they come; runs them so, in all lanes. */
bool jit_has_strands(struct jit *j, const uint32_t *insns, uint32_t n);
bool jit_run_strands(struct jit *j, const uint32_t *insns, uint32_t n);

/* chain_split.c: a load of shared or global memory that nobody orders. */
bool jit_is_plain_load(const struct pt_form *form);

/* access_path.c: ld, st and their kind: false with j->why set. */
bool jit_memory(struct jit *j);
/* access_path.c: j->insn is a store that may write what is there in lanes that are off. */
bool jit_is_rewriting_store(struct jit *j);
/* access_path.c: what j->insn's accesses of all copies rest on (aligned, affine forms hold), tested before the instruction; NULL:
 * nothing. False if it cannot be tested now: `written` holds registers that will be written before. */
bool jit_test_access(struct jit *j, const uint64_t *written, LLVMValueRef *test);
/* access_path.c: the same for an access by a base that lanes share and indexes: all are aligned where the base is. */
bool jit_test_base(struct jit *j, unsigned copy, const uint64_t *written, LLVMValueRef *test);
/* interleave.c: finds those of the instructions, in the order they run, whose accesses are in j->trusted and run together: j->joins,
 * j->overlaps; and forgets them. */
void jit_find_joins(struct jit *j, const uint32_t *insns, uint32_t n);
void jit_forget_joins(struct jit *j);
/* store_pair.c: j->insn and the next are stores, tested, that may fill a stretch of two vectors together; does both, of one copy. */
bool jit_is_pair(struct jit *j);
void jit_store_pair(struct jit *j, unsigned copy);
/* warp.c, atomic.c: likewise. */
bool jit_warp(struct jit *j);
/* warp.c: all live lanes of j->insn's warp stand there, but for those that only end; false with j->why set. */
bool jit_is_whole(struct jit *j);
/* warp.c: the member mask is known, and names all lanes. */
bool jit_names_all(const struct jit *j, const struct pt_operand *members);
/* warp.c: lanes of the chunks of a warp (NULL: all) as bits. */
LLVMValueRef jit_warp_bits(struct jit *j, LLVMValueRef *lanes);
/* mma.c: products of matrices by a function for them, and whether the form is one; of the warp that begins with chunk `first`. */
bool jit_is_product(const struct jit *j, const struct pt_form *form);
bool jit_product(struct jit *j, unsigned first);
bool jit_atomic(struct jit *j);
/* ldmatrix.c: ldmatrix, stmatrix and movmatrix of the warp that begins with chunk `first`. */
bool jit_matrix(struct jit *j, unsigned first);
/* cp_async.c: cp.async; and whether the instruction only waits for asynchronous operations, or groups them: it has nothing to do. */
bool jit_copy_async(struct jit *j);
bool jit_is_idle(const struct pt_form *form);
/* atomic.c: an order as LLVM has it. */
LLVMAtomicOrdering jit_llvm_order(enum pt_order order);
/* atomic.c: true if the result of an atomic access, or what is left in memory, may depend on the order of the lanes. */
bool jit_is_ordered(const struct jit *j, const struct pt_insn *insn);
/* alloca.c: alloca, stacksave, stackrestore; and the memory they need. */
void jit_plan_stack(struct jit *j, const struct jit_plan *plan);
bool jit_stack(struct jit *j);
/* local_window.c: where the local windows of a copy's lanes begin (generic addresses). */
LLVMValueRef jit_local_windows(struct jit *j, unsigned copy);
/* local_window.c: lanes whose access of `bytes` at an offset in the window leaves it. */
LLVMValueRef jit_local_leaves(struct jit *j, LLVMValueRef offsets, uint64_t bytes);
/* local_window.c: generic addresses of local ones, or the other way. */
LLVMValueRef jit_local_cvta(struct jit *j, LLVMValueRef address, unsigned copy, bool to_local);
/* device_call.c: a call of a device function of the runtime, and whether the instruction is one that can be native. */
bool jit_device_call(struct jit *j);
bool jit_is_device_call(const struct jit *j, const struct pt_insn *insn);
/* interp_step.c: instructions without code of their own: the interpreter runs them, warp by warp. Whether the instruction is one, and
 * whether the function has one; the instruction. */
bool jit_is_stepped(const struct jit *j, const struct pt_form *form);
bool jit_has_steps(const struct jit *j);
bool jit_step(struct jit *j);
/* interp_step.c: a register that instructions of the interpreter read or write may cross regions in its frame, as it lies there: from one such
 * instruction to the next it need not move then. Where, in *slot. */
bool jit_frame_slot(struct jit *j, uint32_t reg, uint32_t *slot);
/* interp_step.c: j->frame, of the group's warp. */
void jit_find_frame(struct jit *j);
/* per_lane_loop.c: the block is a loop that lanes leave at different times and that does little but load, from where no round before says:
 * one that lanes may run one after the other. */
bool jit_is_loading_loop(const struct jit *j, uint32_t block);
/* prefetch.c: asks for what later rounds of the loop, or the CTAs that follow, will touch, where register `reg` is the address and
 * j->insn touches `bytes` from the pointer on in the lanes of the copy. */
void jit_prefetch(struct jit *j, uint32_t reg, unsigned copy, LLVMValueRef pointer, unsigned bytes);
/* Likewise for the lane that runs alone, where it walks memory in short steps. */
void jit_prefetch_walk(struct jit *j, uint32_t reg, LLVMValueRef pointer);

/* prefetch_distance.c: from what straight code touches through a register to what a later CTA will, in bytes (i64); NULL: the machine follows
 * by itself. */
LLVMValueRef jit_distance_behind(struct jit *j, uint32_t reg);
/* prefetch_distance.c: from what a CTA touches through a register to what the next touches in the same round of a loop in strides of the grid, in
 * bytes (i64); NULL: that is unknown, or nothing. */
LLVMValueRef jit_distance_of_turns(struct jit *j, uint32_t reg);

/* prefetch_redundant.c: another access of straight code near j->insn is in front of it, and asks for both. */
bool jit_lies_behind(const struct jit *j);

/* carry.c: extended precision. One value stands for all lanes of CC.CF; for all copies. */
bool jit_carry_is_one(const struct jit *j);
bool jit_carry_is_shared(const struct jit *j);
bool jit_carry(struct jit_op *op, unsigned copy);

/* Who is at fault: lanes of n copies (vectors of i1; NULL: all of the chunk), some of them. */
struct jit_blame {
    unsigned first, n; /* copies */
    LLVMValueRef lanes[JIT_COPIES]; /* of copy first + i */
    LLVMValueRef pointer; /* what they access: one pointer, or a vector of those of the only copy; NULL: nothing */
};

/* fault.c: the launch fails at j->insn: leaves the function. */
void jit_fail(struct jit *j, enum pt_fault_kind kind, const struct jit_blame *who);
/* Likewise where `test` (i1) holds; goes on behind it. */
void jit_fail_if(struct jit *j, LLVMValueRef test, enum pt_fault_kind kind,
                 const struct jit_blame *who);
/* Likewise where any lane is to blame. */
void jit_fail_any(struct jit *j, enum pt_fault_kind kind, const struct jit_blame *who);
/* Likewise where some lanes of a copy are bad; `pointers` is NULL or what they access. */
void jit_fail_lanes(struct jit *j, enum pt_fault_kind kind, unsigned copy, LLVMValueRef bad,
                    LLVMValueRef pointers);
/* fault.c: the launch is to stop, as j->insn has seen: leaves the function. */
void jit_stop(struct jit *j);

/* An empty basic block, and where building goes on. */
LLVMBasicBlockRef jit_new_block(struct jit *j, const char *name);
/* A branch that goes to `rare` hardly ever. */
void jit_branch_mostly(struct jit *j, LLVMValueRef condition, LLVMBasicBlockRef usual,
                       LLVMBasicBlockRef rare);
void jit_continue_in(struct jit *j, LLVMBasicBlockRef block);

/* A barrier of the CTA or the cluster; mbarriers are tested without waiting. */
static inline bool jit_is_barrier(const struct pt_form *form)
{
    bool is_sync = form->effects & (PT_FX_CTA | PT_FX_CLUSTER);
    return is_sync && pt_op_compiled((enum pt_op)form->op) != PT_JIT_CALL;
}

/* An instruction of a warp that takes the lanes that are present. */
static inline bool jit_takes_present(const struct pt_form *form)
{
    return form->op == PT_OP_activemask || form->op == PT_OP_shfl || form->op == PT_OP_vote;
}

/* bar.red, barrier.red */
static inline bool jit_is_reduction(const struct pt_form *form)
{
    return form->op == PT_OP_bar_red_popc || form->op == PT_OP_bar_red_pred ||
           form->op == PT_OP_barrier_red_popc || form->op == PT_OP_barrier_red_pred;
}

static inline bool jit_set_has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i & 63) & 1;
}

static inline void jit_set_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << (i & 63);
}

/* The blocks where lanes of the group may wait while others run `block`. */
static inline const uint64_t *jit_waits(const struct jit *j, uint32_t block)
{
    return j->vary->waits_group + (size_t)block * j->vary->words;
}

/* There are such blocks. */
bool jit_is_parted(const struct jit *j, uint32_t block);
/* plan.c: warps have 32 lanes, none of which ends while others of the group go on. */
bool jit_has_whole_warps(const struct jit *j);

#endif
