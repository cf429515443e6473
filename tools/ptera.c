/* The command line program `ptera`: chooses the sub-command. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ptera.h"
#include "tools/commands.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", command_run, "run a kernel of a PTX file on given arguments"},
    {"check", command_check, "run a kernel under a checker"},
    {"profile", command_profile, "count what a kernel does"},
    {"trace", command_trace, "show what threads do, step by step, or where two traces part"},
    {"verify", command_verify, "check PTX files as NVIDIA's assembler would"},
    {"compile", command_compile, "show a PTX file as tokens, syntax tree, IR or native code"},
    {"exec", command_exec, "run a CUDA program on the CPU"},
    {"doctor", command_doctor, "say what stands in the way of a CUDA program"},
    {"ptxas", command_ptxas, "stand in for NVIDIA's assembler"},
    {"fuzz", command_fuzz, "run random kernels and compare the engines"},
    {"conform", command_conform, "run the conformance suite through a CUDA driver"},
    {"litmus", command_litmus, "run litmus tests and judge them by the memory consistency model"},
    {"info", command_info, "what this build and machine offer; the instruction table"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *out)
{
    fprintf(out, "usage: ptera COMMAND ...\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].what);
    fprintf(out,
            "\nptera COMMAND --help says more; ptera --version prints the version.\n"
            "Exit status: 0 good, 1 a kernel failed, 2 wrong usage, 3 the PTX is not valid.\n");
}

/* Output that could not be written is a failure. */
static int finish(int status)
{
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (!is_written)
        perror("ptera: standard output");
    return is_written || status != EXIT_GOOD ? status : EXIT_FAILED;
}

/* Invoked by that name, as by a link. */
static bool is_ptxas(const char *name)
{
    const char *slash = strrchr(name, '/');
    return !strcmp(slash ? slash + 1 : name, "ptxas");
}

int main(int argc, char **argv)
{
    if (argc > 0 && is_ptxas(argv[0]))
        return finish(command_ptxas(argc, argv));
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return EXIT_GOOD;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("ptera %s\n", ptera_version());
        return EXIT_GOOD;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return finish(commands[i].run(argc - 1, argv + 1));
    fprintf(stderr, "ptera: unknown command '%s'\n", argv[1]);
    usage(stderr);
    return EXIT_USAGE;
}
