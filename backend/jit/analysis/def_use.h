/* Definitions and uses of registers: which are repeatable, live, unchanged; which instruction
 * dominates a block. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_DEF_USE_H
#define PTERA_BACKEND_JIT_ANALYSIS_DEF_USE_H

#include "backend/jit/jit.h"
#include "backend/jit/tune.h"

/* Calls visit for every register that the instruction reads. */
struct jit_sources {
    const struct jit_facts *a;
    uint32_t regs[JIT_SOURCES], n;
    bool overflows;
};

/* Registers that a question about another has met. */
struct jit_met {
    uint32_t reg[JIT_CHAIN_REGS];
    unsigned n;
};

/* A question about an instruction, which may ask jit_def_use_all of its sources in turn. */
typedef bool jit_def_question(const struct jit_facts *a, uint32_t insn, struct jit_met *met);

/* An empty set of blocks. */
uint64_t *jit_new_set(const struct jit_facts *a);

/* Makes a->regs, with jit_reg.only, def and defs. */
void jit_def_use_find(struct jit_facts *a);

/* A pure instruction, or the load of a parameter, that alone writes its results: they are the same
 * whenever it runs. */
bool jit_def_use_may_repeat(const struct jit_facts *a, const struct pt_insn *insn);

/* True if the register can be computed in a region of its own from parameters, special registers
 * and variables that the CTA agrees on. */
bool jit_def_use_can_remat(const struct jit_facts *a, uint32_t reg);

/* The block of an instruction. */
uint32_t jit_def_use_block(const struct jit_facts *a, uint32_t insn);

/* The instruction, in no loop, has run wherever the block runs. */
bool jit_def_use_is_behind(const struct jit_facts *a, uint32_t insn, uint32_t block);

/* Finds how registers lie over a chunk: jit_reg.shape, is_per_copy, may_wrap. */
void jit_def_use_find_shapes(const struct jit_facts *a);

/* How the operand lies over a chunk, and its stride where affine. */
enum jit_shape jit_def_use_shape(const struct jit_facts *a, const struct pt_operand *o,
                                 int64_t *stride);

/* Chunks over which an affine register goes on as it does from lane to lane: those of the group, or
 * of a row of threads, or one. */
unsigned jit_def_use_copies_on(const struct jit_facts *a, uint32_t reg);

/* The first of the chunks over which it goes on to this one. */
unsigned jit_def_use_first_of_row(const struct jit_facts *a, uint32_t reg, unsigned copy);

/* True if the operand is an integer that the text states, be it by way of a register. */
bool jit_def_use_constant(const struct jit_facts *a, const struct pt_operand *o, uint64_t *value);

/* True if each chunk has its own value. */
bool jit_def_use_is_per_copy(const struct jit_facts *a, const struct pt_operand *o);

/* True if the register may hold another value before an instruction of the block writes it: of
 * another definition, or of this one the last time round a loop. */
bool jit_def_use_has_old(const struct jit_facts *a, uint32_t block, uint32_t reg);

/* True if lanes that do not run the instruction, in the block, may need what the register held: the
 * value of another definition, or of the last time round, where they have left the loop or wait. */
bool jit_def_use_keeps_old(const struct jit_facts *a, const struct pt_insn *insn, uint32_t block,
                           uint32_t reg);

/* The register may be read, where the block begins or behind, before it is written. */
bool jit_def_use_is_live_into(const struct jit_facts *a, uint32_t block, uint32_t reg);

/* Adds the registers that the value of `reg` was made of: they are read again where it is
 * rematerialised. Those of the registers in the set are in it. */
void jit_def_use_add_roots(const struct jit_facts *a, uint32_t reg, uint64_t *set);

/* The registers that the instruction reads. False: they are too many. */
bool jit_def_use_sources(const struct jit_facts *a, uint32_t insn, struct jit_sources *s);

/* True of all definitions of the register. Where it comes back to itself, as a loop's counter does,
 * it is so if all else is. False, too, where the question meets too many registers. */
bool jit_def_use_all(const struct jit_facts *a, uint32_t reg, struct jit_met *met,
                     jit_def_question *is_true);

/* The instruction has run wherever the block runs. */
bool jit_def_use_dominates(const struct jit_facts *a, uint32_t insn, uint32_t block);

/* The register holds at instruction `to`, of the block, what it did at `from`. */
bool jit_def_use_is_unchanged(const struct jit_facts *a, uint32_t reg, uint32_t from, uint32_t to,
                              uint32_t block);

/* For pt_insn_regs: adds registers that are written to a set, `ud`. */
void jit_def_use_note_write(void *ud, uint32_t reg, bool is_def);

/* The blocks where lanes of the group may wait while others run `block`. */
static inline const uint64_t *jit_def_use_waits(const struct jit_facts *a, uint32_t block)
{
    return a->uniformity->waits_group + (size_t)block * a->uniformity->words;
}

#endif
