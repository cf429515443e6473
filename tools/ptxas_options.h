/* The command line of `ptera ptxas`, as NVIDIA's assembler reads it. */
#ifndef PTERA_TOOLS_PTXAS_OPTIONS_H
#define PTERA_TOOLS_PTXAS_OPTIONS_H

#include <stdbool.h>

#include "ir/arena.h"

enum ptxas_option {
#define OPTION(id, ...) PTXAS_##id,
#include "tools/ptxas.def"
    PTXAS_OPTIONS
};

/* What is assembled: a file ("-": standard input), or a text. */
struct ptxas_input {
    const char *name;
    const char *text; /* or NULL */
};

struct ptxas_options {
    struct pt_arena *arena;
    const char *value[PTXAS_OPTIONS]; /* as given last; "" of a flag; NULL: not given */
    PT_VEC(struct ptxas_input) inputs;
    PT_VEC(const char *) entries;
    unsigned sm; /* 90; sm_feature 0, 'a', 'f' */
    char feature;
    bool is_virtual; /* compute_90 */
};

/* Reads them; prints what is wrong and returns false. The arena may jump to its `oom`. */
bool ptxas_options_read(struct ptxas_options *options, int argc, char **argv);
void ptxas_options_help(void);

/* "ptxas fatal   : ...", "ptxas warning : ...", "ptxas info    : ..." on standard error. */
__attribute__((format(printf, 1, 2))) void ptxas_fatal(const char *format, ...);
__attribute__((format(printf, 1, 2))) void ptxas_warning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void ptxas_info(const char *format, ...);

#endif
