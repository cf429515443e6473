/* What is known of an instruction by itself: which unit runs it, what it has an effect on, who
 * takes part. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_INSN_INFO_H
#define PTERA_BACKEND_JIT_ANALYSIS_INSN_INFO_H

#include "backend/jit/jit.h"

/* Some instruction has one of these effects. */
bool jit_insn_info_has_effect(const struct jit_facts *a, uint32_t effects);

/* Some are accesses that all lanes of a warp do before any goes on. */
bool jit_insn_info_has_ordering_points(const struct jit_facts *a);

/* The order of lanes' accesses could be observed. */
bool jit_insn_info_tells_order(const struct jit_facts *a);

/* The block's first instruction is a sync point of CTA or cluster. */
bool jit_insn_info_is_sync(const struct jit_facts *a, uint32_t block);

/* The instruction is a call that others may share. */
bool jit_insn_info_is_batched(const struct jit_facts *a, const struct pt_insn *insn);

/* A load of shared or global memory that nobody orders. */
bool jit_insn_info_is_plain_load(const struct pt_form *form);

/* All live lanes of a warp that runs the block stand there, but for those that only end. */
bool jit_insn_info_is_whole(const struct jit_facts *a, uint32_t block);

/* Why an instruction of a warp is not native where they do not. */
#define JIT_INSN_INFO_PARTED "an instruction of a warp whose lanes have parted"

/* The form is a product of matrices that a function for it computes. */
bool jit_insn_info_is_product(const struct jit_facts *a, const struct pt_form *form);

/* The instruction only waits for asynchronous operations, or groups them: it has nothing to do. */
bool jit_insn_info_is_idle(const struct pt_form *form);

/* True if the result of an atomic access, or what is left in memory, may depend on the order of the
 * lanes. */
bool jit_insn_info_is_ordered(const struct jit_facts *a, const struct pt_insn *insn);

/* The interpreter runs instructions of the form, warp by warp: they have no code of their own. */
bool jit_insn_info_is_stepped(const struct jit_facts *a, const struct pt_form *form);

/* It samples a texture by a call without the interpreter's registers; how, as enum pt_sampling has
 * it, *sampling tells. */
bool jit_insn_info_is_sampled(const struct pt_form *form, uint32_t *sampling);

/* The function has an instruction that is a call for a warp: by those, or stepped. */
bool jit_insn_info_has_warp_calls(const struct jit_facts *a);

/* The function has instructions that are stepped. */
bool jit_insn_info_has_steps(const struct jit_facts *a);

/* Where lanes of the warp stop before the block, if they do: enum pt_stop. */
uint8_t jit_insn_info_stop(const struct jit_facts *a, uint32_t block);

/* Some instruction of the block has it. */
bool jit_insn_info_block_has_effect(const struct jit_facts *a, uint32_t block, uint32_t effect);

/* The destination is a register that some instruction reads. */
bool jit_insn_info_is_read(const struct jit_facts *a, const struct pt_operand *d);

/* The first instruction of a block. */
static inline const struct pt_insn *jit_insn_info_first(const struct jit_facts *a, uint32_t block)
{
    return &a->unit->f->insns.v[a->unit->f->blocks.v[block].first];
}

/* The last one: its index. */
static inline uint32_t jit_insn_info_last(const struct jit_facts *a, uint32_t block)
{
    return a->unit->f->blocks.v[block].first + a->unit->f->blocks.v[block].count - 1;
}

/* A barrier of the CTA or the cluster; mbarriers are tested without waiting. */
static inline bool jit_insn_info_is_barrier(const struct pt_form *form)
{
    bool is_sync = form->effects & (PT_FX_CTA | PT_FX_CLUSTER);
    return is_sync && pt_op_compiled((enum pt_op)form->op) != PT_JIT_CALL;
}

/* An instruction of a warp that takes the lanes that are present. */
static inline bool jit_insn_info_takes_present(const struct pt_form *form)
{
    return form->op == PT_OP_activemask || form->op == PT_OP_shfl || form->op == PT_OP_vote;
}

/* bar.red, barrier.red */
static inline bool jit_insn_info_is_reduction(const struct pt_form *form)
{
    return form->op == PT_OP_bar_red_popc || form->op == PT_OP_bar_red_pred ||
           form->op == PT_OP_barrier_red_popc || form->op == PT_OP_barrier_red_pred;
}

#endif
