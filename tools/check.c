/* ptera check: a kernel under one of the checkers. */
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/run.h"

static const char check_help[] =
    "usage: ptera check mem|race FILE.ptx [OPTIONS] ARG...\n\n"
    "Runs a kernel, interpreted, under a checker. Options and arguments are those of `ptera "
    "run`.\n\n"
    "  mem                 every access lies in memory of the kernel; the first that does not ends "
    "it, as with\n"
    "                      `ptera run --isolate`\n"
    "  race                no access races with an asynchronous operation in flight: cp.async, "
    "cp.async.bulk, tensor copies and\n"
    "                      reductions, st.async, red.async, wgmma. An access of what an operation "
    "writes, or a write to what it\n"
    "                      reads, needs its completion: by a wait of the thread, a test of the "
    "mbarrier, or a barrier behind\n"
    "                      a thread that has waited. Races between ordinary accesses are not "
    "looked for\n\n"
    "The checkers init, sync and all, and `ptera check ... -- PROGRAM`, are not there yet.\n"
    "Each finding is a diagnostic on standard error. Exit status: 0 nothing was found, 1 something "
    "was, or the kernel failed.\n";

static int refuse(const char *what)
{
    fprintf(stderr, "ptera check: %s is not there yet; mem and race are (ptera check --help)\n",
            what);
    return EXIT_USAGE;
}

/* Sets what the checker asks of the launch. Returns EXIT_GOOD if there is such a checker. */
static int set_checker(const char *name, ptera_launch *launch)
{
    if (!strcmp(name, "mem"))
        launch->isolate = 1;
    else if (!strcmp(name, "race"))
        launch->checks = PTERA_CHECK_RACE;
    else if (!strcmp(name, "init") || !strcmp(name, "sync") || !strcmp(name, "all"))
        return refuse(name);
    else {
        fprintf(stderr, "ptera check: no checker is given, but '%s' (ptera check --help)\n", name);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

int command_check(int argc, char **argv)
{
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(check_help, stdout);
        return EXIT_GOOD;
    }
    if (argc < 2) {
        fputs(check_help, stderr);
        return EXIT_USAGE;
    }
    ptera_launch launch;
    ptera_launch_init(&launch);
    for (int i = 1; i < argc && i < 3; i++)
        if (!strcmp(argv[i], "--"))
            return refuse("-- PROGRAM");
    int status = set_checker(argv[1], &launch);
    if (status == EXIT_GOOD)
        status = run_kernel("check", argc - 1, argv + 1, &launch);
    if (status == EXIT_GOOD)
        fprintf(stderr, "ptera check %s: nothing found\n", argv[1]);
    return status;
}
