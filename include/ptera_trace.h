/* Ptera's steps: what the threads of a launch do, instruction by instruction. Beside ptera.h, by
 * the same rules. */
#ifndef PTERA_TRACE_H
#define PTERA_TRACE_H

#include "ptera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A register that an instruction reads or writes. */
typedef struct ptera_step_value {
    const char *name; /* "%r1" */
    const char *type; /* "b32" */
    unsigned bits;    /* 1: a predicate */
    int is_result;
    unsigned long long low, high; /* high: of 128 bits */
} ptera_step_value;

/* An instruction that a thread has run: ptera_tracing.step. All that it points to lives until the
 * call returns. */
typedef struct ptera_step {
    size_t size;
    unsigned cta[3], thread[3];
    unsigned long long number; /* of the thread's, from 1 */
    const char *function;
    const char *file; /* of the PTX, with its line and column */
    unsigned line, column;
    const char *source_file; /* NULL: it is not known */
    unsigned source_line;
    const char *text;     /* of that line of the PTX */
    const char *spelling; /* of the instruction without its operands */
    int has_results;      /* 0: it failed, or is a call, whose results come later */
    int reads_memory;     /* `bytes` at `address`, which is generic: its first access */
    int writes_memory;    /* likewise */
    unsigned long long address, bytes;
    unsigned n_values;
    const ptera_step_value *values;
} ptera_step;

/* Whom a launch tells its steps. */
typedef struct ptera_tracing {
    size_t size; /* sizeof of this struct */
    /* Told of each instruction that a thread has run, a thread's own in their order; by any worker,
     * one call at a time. */
    void (*step)(void *ud, const ptera_step *step);
    /* Asked once for each thread: nonzero if `step` is to be told of it. NULL: of all. */
    int (*wants)(void *ud, const unsigned cta[3], const unsigned thread[3]);
    void *ud;
} ptera_tracing;

/* As ptera_kernel_launch, and tells. The launch is interpreted, slowly: PTERA_BACKEND_JIT is
 * PTERA_ERROR_INVALID_ARGUMENT, as are launches that run under several schedules
 * (PTERA_CHECK_ORDER). */
PTERA_API ptera_result ptera_kernel_trace(ptera_kernel *kernel, const ptera_launch *launch,
                                          const ptera_tracing *tracing);

#ifdef __cplusplus
}
#endif

#endif
