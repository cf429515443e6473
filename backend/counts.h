/* How often the instructions of a launch ran, and what they accessed (PT_TEST_count): of each
 * worker by itself, so that nobody waits. */
#ifndef PTERA_BACKEND_COUNTS_H
#define PTERA_BACKEND_COUNTS_H

#include <stdatomic.h>

#include "backend/exec.h"
#include "ir/ir.h"

enum {
    PT_COUNTED_GLOBAL,
    PT_COUNTED_LOCAL,
    PT_COUNTED_SHARED,
    PT_COUNTED_CONST,
    PT_COUNTED_TEXTURE,
    PT_COUNTED_SPACES
};

/* What an instruction accessed of one space. A GPU moves it in parts, as an H100's counters say
 * (tests/hardware/profile): sectors of 32 bytes of global and local memory, and of textures, each
 * once a request; of shared memory wavefronts, in each of which a bank of four bytes serves one
 * word; of constant memory different words. */
struct pt_counted_access {
    uint64_t requests; /* of warps */
    uint64_t lanes, bytes;
    uint64_t parts;
    uint64_t conflicts; /* of shared memory: wavefronts that other words would not have taken; of
                           cp.async past L1: sectors that its tags do not count */
};

/* While a launch runs, leaders alone have `warps` and `lanes`, and what has a guard has `on`:
 * pt_counts_spread. */
struct pt_count {
    uint64_t warps; /* that came to it */
    uint64_t lanes; /* of them, that came along */
    uint64_t on;    /* lanes for which its guard held */
    uint64_t split; /* warps of whose lanes the guard held for some only */
    struct pt_counted_access spaces[PT_COUNTED_SPACES];
};

/* Who asked for the most parts at once by an instruction: of equal ones the first CTA's. What is
 * copied in one piece is not kept. Workers share it. */
struct pt_counted_worst {
    _Atomic uint64_t rank; /* 0: nobody; the higher, the worse */
    atomic_flag is_written;
    uint8_t space, bytes; /* of each lane */
    uint32_t lanes, parts, warp;
    uint64_t cta;
    uint64_t
        address[32]; /* of lanes; of shared and local memory in the cluster's, or the thread's */
};

/* An instruction's last access. */
struct pt_counted_last {
    uint32_t id; /* its number in struct pt_counts, plus 1; 0: none */
    uint32_t lanes, space;
    uint32_t start; /* of the first lane's address, in its sector */
    uint32_t parts, conflicts;
    uint32_t apart[32]; /* lanes' addresses, from that of the first */
};

enum { PT_COUNTED_LASTS = 1024 /* that a worker keeps */ };

/* Of launches of which only the coverage is asked for (PT_TEST_coverage) the last two alone. */
struct pt_counts {
    uint32_t n;                   /* instructions of all functions */
    const uint32_t *first;        /* by function: the number of its first one */
    struct pt_count *v;           /* by worker, n of each */
    struct pt_counted_last *last; /* by worker, PT_COUNTED_LASTS of each */
    struct pt_counted_worst *worst;
    uint64_t *covered; /* by worker: counters of pt_program.coverage, `stride` of each */
    size_t stride;
};

/* The worker's; NULL: the launch has none. */
static inline uint64_t *pt_counts_covered(const struct pt_cta *cta)
{
    const struct pt_counts *counts = cta->launch->counts;
    return counts && counts->covered ? counts->covered + cta->worker * counts->stride : NULL;
}

/* By instruction, whether the lanes that come to it may be others than those of the instruction
 * before: where a block begins, and behind what waits for other lanes. */
static inline void pt_counts_find_leaders(const struct pt_module *m, const struct pt_func *func,
                                          bool *leads)
{
    const uint32_t waits = PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER;
    for (uint32_t b = 0; b < func->blocks.n; b++) {
        const struct pt_block *block = &func->blocks.v[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            leads[i] = i == block->first || pt_insn_form(m, &func->insns.v[i - 1])->effects & waits;
    }
}

/* Gives those that are led what their leaders have. */
static inline void pt_counts_spread(const struct pt_func *func, const bool *leads,
                                    struct pt_count *counts)
{
    const struct pt_count *leader = counts;
    for (uint32_t i = 0; i < func->insns.n; i++) {
        if (leads[i])
            leader = &counts[i];
        counts[i].warps = leader->warps;
        counts[i].lanes = leader->lanes;
        if (!func->insns.v[i].guard)
            counts[i].on = leader->lanes;
    }
}

#endif
