/* What launches were counted (PT_TEST_count, PT_TEST_coverage): kept by the engine, the launches of
 * one kernel in one shape together. */
#ifndef PTERA_RUNTIME_COUNTED_H
#define PTERA_RUNTIME_COUNTED_H

#include "backend/counts.h"
#include "backend/timed.h"
#include "runtime/engine.h"

struct pt_job;

/* An instruction of a kernel, or of a function that it calls. */
struct pt_counted_insn {
    const char *func, *spelling;
    const char *kind;              /* what it does: counted.c */
    const char *row;               /* its id in ir/isa */
    const char *file;              /* of the source; NULL: that is not known */
    uint32_t file_line, line, col; /* lines of the source and of the PTX */
    bool has_guard;
};

/* A function that the kernel may run. */
struct pt_counted_func {
    uint32_t func, first; /* of its instructions */
    bool *leads;          /* by instruction: pt_counts_find_leaders */
};

/* When a launch ran. */
struct pt_counted_run {
    uint64_t begun, ns; /* CLOCK_MONOTONIC */
    uint64_t stream;    /* of a program's streams; 0: the default one */
};

enum { PT_COUNTED_RUNS = 256 /* that are kept: the first ones */ };

struct pt_counted {
    struct pt_counted *next;
    struct pt_arena arena; /* has it, and its texts */
    const char *kernel, *module;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_static, shared_dynamic, registers;
    const char *device;     /* its id */
    uint32_t ctas;          /* that an SM of the device has at once */
    uint32_t sms, sm_warps; /* of the device; warps that an SM has at most */
    uint64_t launches, ns;
    struct pt_counted_run *runs;
    uint32_t n;
    PT_VEC(struct pt_counted_func) funcs;
    struct pt_counted_insn *insns;  /* of the functions, one after the other */
    struct pt_count *counts;        /* theirs, of all launches so far */
    struct pt_counted_worst *worst; /* likewise */
    /* Of PT_TEST_coverage alone: counters of all launches so far, by which the threads of `counts`
     * are told (pt_counted_tell); else NULL. */
    uint64_t *covered;
    const struct pt_coverage *coverage;
    bool is_timed;
    struct pt_timed_sums time; /* likewise */
    uint64_t *waits;           /* by instruction, likewise: pt_timed.waits */
};

void pt_counted_init(ptera_engine *engine);
void pt_counted_close(ptera_engine *engine);
/* The launch is about to run, and is over, having begun at a time of CLOCK_MONOTONIC. begin returns
 * false if there is no memory; end is to be called if it did not. */
bool pt_counted_begin(struct pt_job *job);
void pt_counted_end(struct pt_job *job, uint64_t begun);
/* Before `counts` are read. */
void pt_counted_tell(struct pt_counted *c);

#endif
