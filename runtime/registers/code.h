/* A function as the estimate reads it: what each instruction costs, reads and writes, and what
 * is live between blocks. */
#ifndef PTERA_RUNTIME_REGISTERS_CODE_H
#define PTERA_RUNTIME_REGISTERS_CODE_H

#include "ir/ir.h"
#include "ir/uniformity.h"

#include "runtime/registers/insn_cost.h"

struct pt_code_insn {
    struct pt_insn_cost cost;
    uint32_t first, n_uses, n_defs; /* in pt_code.operands: uses, then definitions */
};

struct pt_code {
    const struct pt_module *m;
    const struct pt_func *f;
    struct pt_arena *arena;
    struct pt_code_insn *insns; /* as f->insns */
    PT_VEC(uint32_t) operands;  /* registers */
    uint32_t *made_at;          /* by register: its only definition + 1; 0: it has several */
    uint32_t words;             /* of a set of registers */
    const uint64_t *live_in;    /* sets of registers, by block */
    uint64_t *live_out;
    const struct pt_uniformity *uniformity; /* NULL: too many blocks; nothing is known */
    bool *is_divergent;                     /* by block: part of a warp may run it */
};

/* The function is lowered. Everything is in `arena`. */
struct pt_code *pt_code_read(const struct pt_module *m, const struct pt_func *f,
                             struct pt_arena *arena);

static inline const uint32_t *pt_code_uses(const struct pt_code *code,
                                           const struct pt_code_insn *insn)
{
    return code->operands.v + insn->first;
}

static inline const uint32_t *pt_code_defs(const struct pt_code *code,
                                           const struct pt_code_insn *insn)
{
    return code->operands.v + insn->first + insn->n_uses;
}

#endif
