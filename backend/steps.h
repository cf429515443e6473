/* What threads do, instruction by instruction: told to whoever traces a launch. A thread's step is
 * told when the next one begins, since only then its results are known. */
#ifndef PTERA_BACKEND_STEPS_H
#define PTERA_BACKEND_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"

struct pt_cta;

/* A register that the instruction reads or writes. */
struct pt_step_value {
    uint32_t reg;
    bool is_def;
    uint64_t value[2]; /* the second of 128 bits only; of what is written: once it is */
};

/* An instruction of a thread. */
struct pt_step {
    uint64_t number; /* of the thread's, from 1 */
    uint32_t func, insn;
    const void *frame; /* the activation that it is in; NULL: there is none to be told */
    bool has_results;  /* what it writes is known: it neither failed nor went elsewhere */
    uint32_t use;      /* enum pt_use: of its first access to memory; 0: none */
    uint64_t address, bytes;
    struct pt_step_value *values;
    uint32_t n, room;
};

struct pt_steps_thread {
    enum { PT_STEPS_NOT_ASKED, PT_STEPS_WANTED, PT_STEPS_UNWANTED } state;
    struct pt_step step;
};

/* Of a launch. */
struct pt_steps {
    const struct pt_allocator *allocator;
    void *ud;
    bool (*wants)(void *ud, const uint32_t cta[3], const uint32_t thread[3]);
    void (*tell)(void *ud, const uint32_t cta[3], const uint32_t thread[3],
                 const struct pt_step *step);
    struct pt_steps_thread *threads; /* by their number in the grid, CTA by CTA */
    uint64_t n_threads;
    bool is_out_of_memory;
};

#endif
