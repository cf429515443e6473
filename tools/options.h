/* Options of commands that pass others on to `ptera run`, or to a program behind "--". */
#ifndef PTERA_TOOLS_OPTIONS_H
#define PTERA_TOOLS_OPTIONS_H

#include <stdbool.h>

/* One, and where its value goes: as `--name VALUE` or `--name=VALUE`. A flag has none, and its name
 * may hold a '='. */
struct option {
    const char *name;
    const char **text;
    unsigned *number;
    double *real;
    bool *flag;
};

/* Takes the options, of which the last has no name, out of argv, up to "--". Returns how many
 * arguments are left; -1 having said, for `ptera COMMAND`, what is wrong. */
int options_take(const char *command, const struct option *options, int argc, char **argv);

#endif
