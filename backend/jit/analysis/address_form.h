/* What lies behind an address: thread indexes and their mixing, a base with an index for each
 * lane. */
#ifndef PTERA_BACKEND_JIT_ANALYSIS_ADDRESS_FORM_H
#define PTERA_BACKEND_JIT_ANALYSIS_ADDRESS_FORM_H

#include "backend/jit/jit.h"

/* Distances at which lanes may exchange, as sets of bits; those below the vector's width. */
struct jit_mixing {
    uint64_t pairs; /* an index comes from t % d: t is a thread's, pairs of lanes are d apart */
    uint64_t fours; /* of these: d is a constant, and it may be four lanes that are d apart */
    uint64_t swaps; /* from t ^ d */
    /* the register d or d - 1, where such a distance is known only at run time, or 0 */
    uint32_t unknown;
};

/* An address as a base that all lanes share, and an index of 32 bits for each. */
struct jit_split {
    const struct pt_operand *base, *index;
    uint64_t scale; /* 1, 2, 4, 8 */
    bool is_signed;
};

/* The result of the instruction, which runs in the block, may be kept as an origin and offsets: see
 * jit_lane_offsets_find. */
bool jit_address_form_may_divide(const struct jit_facts *a, const struct pt_insn *insn,
                                 uint32_t block);

/* The instruction mixes thread indexes, of which a chunk has W from a multiple of W on, with a
 * value that all lanes share: how lanes lie then depends on the lowest bits of that, W its width.
 * NULL: it is no such instruction. */
const struct pt_operand *jit_address_form_mixer(const struct jit_facts *a,
                                                const struct pt_insn *insn);

/* The register's lanes differ by arithmetic on thread indexes, not by what was loaded. */
bool jit_address_form_is_computed(const struct jit_facts *a, const struct pt_operand *o);

/* So they are, and by quotients or remainders: neighbours are elements side by side, but for where
 * a row ends. */
bool jit_address_form_wraps(const struct jit_facts *a, const struct pt_operand *o);

/* What is known of the arithmetic behind an address: all distances where d is known only at run
 * time. `ignored`: a register that lanes are mixed with in no order that is asked for, or 0. */
struct jit_mixing jit_address_form_find_mixing(const struct jit_facts *a,
                                               const struct pt_operand *address, uint32_t ignored);

/* False if the address was not made so, or not from what the registers hold where the instruction
 * runs, in the block. */
bool jit_address_form_split(const struct jit_facts *a, const struct pt_insn *insn, uint32_t block,
                            const struct pt_operand *address, struct jit_split *split);

/* What is known of a register, or of a special one. */
struct pt_value jit_address_form_value(const struct jit_facts *a, const struct pt_operand *o);

/* The operation of two such operands gives one: lane by lane, without a look at higher bits. */
bool jit_address_form_combines(enum pt_op op);

/* The destination of the instruction, which runs in the block, can be kept as an origin and
 * offsets. */
bool jit_address_form_fits(const struct jit_facts *a, const struct pt_insn *insn, uint32_t block,
                           const struct pt_operand *o);

#endif
