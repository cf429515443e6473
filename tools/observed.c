/* Runs whose library writes what it sees to a file. */
#include "tools/observed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/audit/elf.h"
#include "tools/commands.h"
#include "tools/exec.h"
#include "tools/summary.h"

const char *observed_open(const char *command, const char *name)
{
    static char scratch[] = "/tmp/ptera-XXXXXX";
    if (name)
        unlink(name);
    int fd = name ? open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666) : mkstemp(scratch);
    if (fd >= 0)
        close(fd);
    else
        fprintf(stderr, "ptera %s: cannot write %s: %s\n", command, name ? name : scratch,
                strerror(errno));
    return fd < 0 ? NULL : name ? name : scratch;
}

void observed_close(const char *file, const char *name)
{
    if (!name)
        unlink(file);
}

void observed_set_number(const char *name, double n)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", n);
    setenv(name, text, 1);
}

struct run {
    int (*finish)(const void *options, const char *file, int status);
    const void *options;
    const char *file;
};

static int finish_run(void *ud)
{
    const struct run *run = ud;
    return run->finish(run->options, run->file, -1);
}

int observed_run(const char *command, char **argv,
                 int (*finish)(const void *options, const char *file, int status),
                 const void *options, const char *file)
{
    char path[PATH_MAX];
    struct run run = {finish, options, file};
    if (!argv[0] || !find_program(argv[0], path, sizeof path)) {
        fprintf(stderr, "ptera %s: cannot run %s: %s\n", command, argv[0] ? argv[0] : "nothing",
                strerror(errno));
        return EXIT_CANNOT_RUN;
    }
    return set_environment(path) ? child_run(path, argv, finish_run, &run) : EXIT_FAILED;
}
