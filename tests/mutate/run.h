/* What is done with a mutant: each of its kernels runs isolated in three orders of threads, then on
 * both engines and under auto. Where these differ, the interpreter is asked whether the result is
 * one of several: with warps in turns, with other bytes where nothing was written, with another
 * local variable before the first, with other clocks, without the load that failed. */
#ifndef PTERA_TESTS_MUTATE_RUN_H
#define PTERA_TESTS_MUTATE_RUN_H

#include <stdbool.h>
#include <stddef.h>

enum verdict {
    VERDICT_GOOD,
    VERDICT_INVALID,   /* no kernel could run: no valid PTX, or what is not implemented */
    VERDICT_DIFFERENT, /* another result code, or other bytes */
    VERDICT_LATE,      /* a call went on beyond its time limit */
    VERDICT_DEAD,      /* the process ended, or hung */
    VERDICTS
};

/* Kernels, by what could be asked of them. */
enum kernel_kind {
    KERNEL_COMPARED,  /* the same result code and the same bytes */
    KERNEL_FAULTED,   /* the same result code, of a failure */
    KERNEL_ORDER,     /* it depends on the order of threads or warps: it ends */
    KERNEL_TIMEOUT,   /* the interpreter did not end in time: native code does */
    KERNEL_DEAR,      /* it was not compiled in time */
    KERNEL_UNREAD,    /* a load, or a copy, fails whose value nobody uses, or a reduction that
                       * changes nothing: native code has none, and goes on to what is behind */
    KERNEL_PARTED,    /* lanes meet in a way that PTX forbids, which native code says and the
                       * interpreter need not find, or only what is behind, or what is wrong where
                       * some of them stand */
    KERNEL_UNWRITTEN, /* it reads what nobody wrote, or local memory at an address that it made up:
                       * it ends */
    KERNEL_CLOCK,     /* it depends on what clocks say */
    KERNEL_ELSEWHERE, /* it differs, and its variables were not where they had been: their addresses
                       * are in memory */
    KERNEL_WILD,      /* it leaves its memory, for where memory of the process may be: it ran
                       * isolated only */
    KERNEL_NATIVE,    /* of all these: native code ran */
    KERNEL_KINDS
};

struct run_options {
    double limit;        /* of a launch in the interpreter, seconds */
    double native_limit; /* of one that may be compiled */
    double late;         /* how much CPU time beyond that a call may take */
};

enum { REPORT_TEXT = 600 };

struct report {
    enum verdict verdict;
    unsigned kernels[KERNEL_KINDS];
    bool has_compiler;
    char text[REPORT_TEXT]; /* what is wrong */
};

struct run_head {
    size_t bytes; /* of the PTX behind it */
};

/* For pen_open, with struct run_options; a request is a run_head and PTX, the answer a report. */
void run_serve(const void *options, int in, int out);

/* Which kernel runs how, while a request is answered: in memory that outlives the process. Call it
 * before the pen is opened; false if there is no memory. */
bool run_share_place(void);
const char *run_place(void);

#endif
