/* What a launch asks of a GPU's caches and units (PT_TEST_time), so that its time can be estimated.
 * The model, which sees the launch as the interpreter runs it, warps of a CTA in turns:
 *
 * - CTA n is on SM n modulo their number. Each SM has an L1 cache of lines of 128 bytes in sectors
 *   of 32, of which each of the CTAs that are there at once has its share. Loads and stores
 *   allocate; stores go on to L2, but those to sectors of global memory that L1 has of an earlier
 *   store are joined with that. All caches are empty when the launch begins.
 * - L2 reads two sectors of memory at once, and writes back what it evicts. Sectors that were
 *   written in part are read before; so they are at once, where it has too many of them.
 * - Some CTAs, spread over the grid, are timed: each warp issues the instructions of a basic block
 *   in the best order, which is how an assembler would have them: one when those are done that make
 *   what it reads, a load also when the eighth before it is done, as if there were registers for
 *   so many. It leaves the block when all are issued. No other warp is in its way.
 */
#ifndef PTERA_BACKEND_TIMED_H
#define PTERA_BACKEND_TIMED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PT_CACHE_WAYS = 8,
    PT_CACHE_LINE = 128,
    PT_TIMED_PATHS = 32,   /* CTAs that are timed, at most */
    PT_TIMED_LOADS = 8,    /* of a warp, under way */
    PT_TIMED_PHASES = 4,   /* of barriers, that a CTA's warps may be apart */
    PT_TIMED_HOT = 4096,   /* counters of atomics, by sector */
    PT_TIMED_PARTS = 65536 /* sectors written in part that L2 keeps: an H100's */
};

/* The latest used way of a set is its first. A way: line << 12 | sectors that were written in part
 * << 8 | sectors that were written << 4 | sectors that are there. */
struct pt_cache {
    uint64_t (*sets)[PT_CACHE_WAYS];
    uint32_t n_sets;
};

struct pt_timed_insn {
    uint32_t regs; /* the first in pt_timed.regs: those it reads, then those it writes */
    uint16_t n_uses, n_defs;
    uint8_t memory; /* PT_TIMED_GLOBAL and so on */
    bool is_load, is_store, is_barrier;
    bool is_first;    /* of a block */
    uint16_t slots;   /* to issue it */
    uint16_t latency; /* of what it writes */
};

/* Memory in which a load does not pass a store. */
enum { PT_TIMED_NONE, PT_TIMED_GLOBAL, PT_TIMED_SHARED, PT_TIMED_LOCAL, PT_TIMED_MEMORIES };

struct pt_timed_warp {
    uint32_t next, issued,
        latest; /* cycles: when it may issue, when it did, and did at the latest */
    uint32_t stored[PT_TIMED_MEMORIES];
    uint32_t loaded[PT_TIMED_LOADS], n_loads; /* when the last ones are done */
    uint32_t phases, barrier; /* of barriers, that it went through; the last one's number */
};

struct pt_timed_latency {
    uint32_t shared, constant, l1, l2, dram, atomic;
};

struct pt_timed_sums {
#define SUM(name, what) uint64_t name;
#include "backend/timed.def"
};

struct pt_timed {
    const uint32_t *first, *first_reg; /* by function: of its instructions and its registers */
    const struct pt_timed_insn *insns;
    const uint32_t *regs;
    uint32_t n_regs;
    uint64_t stride;                     /* each so manyth CTA is timed */
    struct pt_timed_warp *warps;         /* by timed CTA */
    uint32_t *ready;                     /* by timed CTA and warp: when registers are */
    uint32_t (*phases)[PT_TIMED_PHASES]; /* by timed CTA: when the last warp came */
    struct pt_cache *l1;                 /* by SM */
    struct pt_cache l2;
    uint64_t *waits; /* by instruction: cycles by which the timed warps were later for it */
    struct pt_timed_latency latency;
    struct pt_timed_sums sums;
    uint32_t hot[PT_TIMED_HOT];
    uint32_t parts; /* that L2 has, of PT_TIMED_PARTS */
};

#endif
