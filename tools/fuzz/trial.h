/* Running a module on the engines, in a process of its own: what crashes or hangs there is a
 * verdict here. */
#ifndef PTERA_TOOLS_FUZZ_TRIAL_H
#define PTERA_TOOLS_FUZZ_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
    VERDICT_GOOD,
    VERDICT_UNSUPPORTED, /* PTX that is not implemented yet: nothing ran */
    /* native code was asked for, and the compiler does not know something: nothing to compare */
    VERDICT_INTERPRETED,
    VERDICT_INVALID, /* no valid PTX */
    VERDICT_FAILED,  /* a launch failed */
    VERDICT_DIFFERENT,
    VERDICT_CRASHED, /* the process ended by a signal; so does a hang */
    VERDICTS
};

enum { TRIAL_LEVELS = 3, TRIAL_TEXT = 400 };

/* Which engines run: the interpreter alone, native code alone, or both and compared. */
enum trial_engine { TRIAL_INTERP, TRIAL_JIT, TRIAL_BOTH };

struct trial_options {
    enum trial_engine engine;
    const char *cpu; /* one CPU level; NULL: all that the machine has */
    /* native code at one of the levels, by turns: the kernel's seed says which */
    bool is_native_once;
    /* likewise interpreted; of levels all pairs have their turn */
    bool is_interpreted_once;
    unsigned checks;  /* ptera_launch.checks of one more interpreted run; 0: there is none */
    unsigned seconds; /* of CPU time, for one module */
    /* counts of struct hits, where what each has is added; NULL: nobody asks */
    uint32_t *corners;
    /* a driver library (libcuda.so.1), which runs each as well; NULL: none. One CPU level then. */
    const char *driver;
};

struct gen_kernel;

struct trial {
    enum verdict verdict;
    char text[TRIAL_TEXT]; /* what is wrong */
    size_t at;             /* VERDICT_DIFFERENT: the first such byte of out and, behind it, sums */
};

struct pen;

/* Nothing of the engines runs in this process. The options must live as long as the pen. NULL
 * with errno if that cannot be. */
struct pen *trial_open(const struct trial_options *options);
/* The kernel's module as it is written now. */
void trial_run(struct pen *pen, const struct gen_kernel *kernel, struct trial *trial);

/* Where the driver fails or differs: once more, its compiler optimising nothing; the trial's text
 * then says whether that does as interpreted. */
void trial_run_plain(struct pen *pen, const struct gen_kernel *kernel, struct trial *trial);

const char *verdict_text(enum verdict verdict);

#endif
