/* Options of commands. */
#include "tools/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set(const struct option *option, const char *value)
{
    char *end = NULL;
    if (option->text)
        *option->text = value;
    else if (option->real)
        *option->real = strtod(value, &end);
    else
        *option->number = (unsigned)strtoul(value, &end, 10);
    return option->text || (*value && !*end);
}

/* The option that an argument is, or begins with; NULL: none. */
static const struct option *find(const struct option *options, const char *arg)
{
    for (; options->name; options++) {
        size_t n = strlen(options->name);
        if (!strncmp(arg, options->name, n) && (!arg[n] || (arg[n] == '=' && !options->flag)))
            return options;
    }
    return NULL;
}

int options_take(const char *command, const struct option *options, int argc, char **argv)
{
    int left = 0, i = 0;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const struct option *option = find(options, argv[i]);
        if (!option) {
            argv[left++] = argv[i];
        } else if (option->flag) {
            *option->flag = true;
        } else {
            bool is_joined = argv[i][strlen(option->name)];
            const char *value = is_joined      ? argv[i] + strlen(option->name) + 1
                                : i + 1 < argc ? argv[i + 1]
                                               : NULL;
            if (!value || !set(option, value)) {
                fprintf(stderr, "ptera %s: a bad value for an option: '%s' (ptera %s --help)\n",
                        command, argv[i], command);
                return -1;
            }
            i += !is_joined;
        }
    }
    while (i < argc)
        argv[left++] = argv[i++];
    argv[left] = NULL;
    return left;
}
