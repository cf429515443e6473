/* What launches were counted, as read from a file. */
#ifndef PTERA_TOOLS_COUNTS_H
#define PTERA_TOOLS_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/timed.h"

enum counted_space {
    COUNTED_GLOBAL,
    COUNTED_LOCAL,
    COUNTED_SHARED,
    COUNTED_CONST,
    COUNTED_TEXTURE,
    COUNTED_SPACES
};

/* Of an instruction, as ptera_engine_counts_save says. */
struct counted_access {
    uint64_t requests, lanes, bytes, parts, conflicts;
};

/* The warp that asked for the most parts at once. */
struct counted_worst {
    enum counted_space space;
    unsigned bytes, lanes, parts, warp;
    uint64_t cta;
    uint64_t address[32]; /* of the lanes that take part */
};

struct counted_insn {
    unsigned line, col;
    uint64_t warps, lanes, on, split;
    struct counted_access spaces[COUNTED_SPACES];
    bool has_guard;
    const char *kind, *row, *spelling, *func;
    unsigned file_line; /* 0: not known */
    const char *file;
    struct counted_worst *worst; /* NULL: none is known */
    uint64_t waits;              /* cycles, of kernels that were timed */
};

/* When a launch ran; nanoseconds. */
struct counted_run {
    uint64_t begun, ns, stream;
};

/* The launches of a kernel in one shape. */
struct counted_kernel {
    const char *name, *module, *device;
    unsigned grid[3], block[3], cluster[3];
    unsigned shared_static, shared_dynamic, registers, ctas, sms, sm_warps;
    uint64_t launches, ns;
    struct counted_run *runs; /* the first ones */
    size_t n_runs, runs_room;
    bool is_coverage;          /* what instructions have is `lanes` and `on` alone */
    bool is_timed;             /* there is: */
    struct pt_timed_sums time; /* what a GPU would be asked for, of all launches */
    struct counted_insn *insns;
    size_t n, room;
};

struct counts {
    char *text; /* that all names lie in */
    struct counted_kernel *v;
    size_t n, room;
};

/* False, having said why: the file cannot be read, is none of ptera_engine_counts_save, or there is
 * no memory. */
bool counts_read(struct counts *counts, const char *path);
void counts_free(struct counts *counts);

#endif
