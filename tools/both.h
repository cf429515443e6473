/* ptera run --engine both: the interpreter runs in a process of its own, a copy of this one, so
 * that the compiler then finds every byte as the interpreter found it. */
#ifndef PTERA_TOOLS_BOTH_H
#define PTERA_TOOLS_BOTH_H

#include "tools/args.h"

/* Text that device code printed. */
struct text {
    char *bytes;
    size_t n, cap;
};
void text_add(void *text, const char *bytes, size_t n); /* as ptera_options.print */

/* What a launch works on. */
struct subject {
    ptera_engine *engine;
    ptera_module *module;
    ptera_kernel *kernel;
    const ptera_launch *launch;
    const struct arg *args;
    unsigned n_args;
    struct text *text; /* that the engine's kernels print */
};

/* How it ended: the result, its text, what was printed, and the contents of all buffers and
 * module variables. */
struct outcome {
    ptera_result result;
    struct text error, printed, contents;
};

/* Launches with the interpreter, in another process. Returns false, having said why, if that
 * cannot be. */
bool outcome_interpret(struct outcome *outcome, const struct subject *subject);
/* Compares with how the subject ended here, by native code, with `result`. Says the first
 * difference on standard error. */
bool outcome_agrees(const struct outcome *interpreted, const struct subject *subject,
                    ptera_result result);
void outcome_free(struct outcome *outcome);

#endif
