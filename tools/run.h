/* One launch of one kernel, for `ptera run` and `ptera check`. */
#ifndef PTERA_TOOLS_RUN_H
#define PTERA_TOOLS_RUN_H

#include "ptera.h"

/* Runs a kernel as the arguments of `ptera run` say (argv[0] is not looked at), on top of what
 * `launch` says already. `command` names the sub-command in messages. Returns the exit status. */
int run_kernel(const char *command, int argc, char **argv, const ptera_launch *launch);

#endif
