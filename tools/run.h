/* One launch of one kernel, for `ptera run` and `ptera check`. */
#ifndef PTERA_TOOLS_RUN_H
#define PTERA_TOOLS_RUN_H

#include "ptera_trace.h"

struct arg;

/* A kernel's run by another command. */
struct run_setup {
    const char *command;          /* its name, in messages */
    ptera_launch launch;          /* what is set already */
    ptera_options engine;         /* likewise */
    const ptera_tracing *tracing; /* whom the launch tells its steps; NULL: nobody */
    /* The launch is about to be; NULL: not wanted. */
    void (*begin)(void *ud, ptera_module *module, const struct arg *args, unsigned n);
    /* Given the exit status so far before the engine ends; returns that of the command. May be
     * NULL. */
    int (*finish)(void *ud, ptera_engine *engine, int status);
    void *ud;
};

/* Runs a kernel as the arguments of `ptera run` say (argv[0] is not looked at). Returns the exit
 * status. */
int run_kernel(int argc, char **argv, const struct run_setup *setup);

#endif
