/* What an instruction costs on a GPU, as far as it decides in which order NVIDIA's assembler
 * puts instructions: the unit that runs it, its latency, the memory that it touches. */
#ifndef PTERA_RUNTIME_REGISTERS_INSN_COST_H
#define PTERA_RUNTIME_REGISTERS_INSN_COST_H

#include "ir/isa.h"

enum pt_unit {
    PT_UNIT_ALU,
    PT_UNIT_MUFU,   /* approximations */
    PT_UNIT_DIVIDE, /* divisions and roots: sequences of instructions */
    PT_UNIT_SHUFFLE,
    PT_UNIT_VOTE,   /* and what else lanes agree on */
    PT_UNIT_TENSOR, /* mma */
    PT_UNIT_WGMMA,
    PT_UNIT_MATRIX_MEMORY, /* ldmatrix and its like */
    PT_UNIT_ASYNC          /* cp.async */
};

/* Accesses of different ones never meet. */
enum pt_memory {
    PT_MEMORY_GLOBAL,
    PT_MEMORY_SHARED,
    PT_MEMORY_LOCAL,
    PT_MEMORY_CONSTANT,
    PT_MEMORIES
};

struct pt_insn_cost {
    uint32_t op, effects; /* enum pt_op, enum pt_effect */
    uint8_t unit, memory; /* enum pt_unit, enum pt_memory */
    uint8_t vec;          /* 1, or members of a vector in memory */
    bool is_load;         /* parameters are none: they lie in the constant bank */
    bool is_read_only;    /* what it reads is never written */
    bool is_fence;        /* no access moves past it */
    bool is_slow; /* a division or root whose rare cases are branched to: nothing moves past it */
    bool is_integer;      /* does nothing but compute an integer */
    bool is_f64, is_wide; /* on f64; on a type of 64 bits */
    bool is_narrow;       /* on a type of 16 bits */
    int32_t latency;      /* cycles; of memory less than on any GPU, since other warps hide some */
};

struct pt_insn_cost pt_insn_cost_of(const struct pt_form *form);

#endif
