/* ptera exec: runs a CUDA program with Ptera's libraries in front of NVIDIA's. */
#define _GNU_SOURCE /* dladdr */
#include "tools/exec.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptera.h"
#include "tools/commands.h"
#include "tools/audit/elf.h"
#include "tools/summary.h"

static const char exec_help[] =
    "usage: ptera exec [--summary[=FILE]] PROGRAM [ARGS...]\n\n"
    "Runs a CUDA program on the CPU: Ptera's libcuda.so.1 and libcudart.so.N take the place of "
    "NVIDIA's, whatever paths the\n"
    "program was linked with. The exit status is the program's; 127 if it cannot be run.\n\n"
    "  --summary[=FILE]   writes a table to standard error (to FILE) when the program has ended, "
    "in whatever way: of each\n"
    "                     kernel how often it was launched, in which engine, its time and that of "
    "its compilation; of\n"
    "                     copies their bytes and time\n"
    "  PTERA_LOG=api,load,launch   (any of them) tells calls, loaded modules and launches on "
    "standard error\n"
    "  PTERA_OOB=warn     accesses of kernels outside their allocations, but within 2 MiB, go on "
    "and are told, as a GPU would go on\n"
    "  PTERA_HOST_ACCESS=trap   the host's own accesses of device memory are faults, as they are "
    "where there is a GPU\n"
    "  PTERA_DEVICE=h100  the GPU that there seems to be: v100, t4, a100, a40, l40s, l4, rtx4090, "
    "h200, h100, b200, b300, rtx5090,\n"
    "                     gb10, xavier, orin, thor; h200\n"
    "  PTERA_ENGINE, PTERA_DEVICES, PTERA_COMPUTE_CAPABILITY   see docs/environment.md\n\n"
    "`ptera doctor PROGRAM` says beforehand what stands in the way.\n";

static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
enum { N_RUNTIMES = sizeof runtimes / sizeof *runtimes };

const char *library_folder(void)
{
    static char folder[PATH_MAX];
    Dl_info info;
    if (!*folder && dladdr((void *)ptera_version, &info) && realpath(info.dli_fname, folder)) {
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
    }
    return folder;
}

/* Puts `value` in front of what the variable holds already. */
static void prepend(const char *variable, const char *value)
{
    const char *old = getenv(variable);
    size_t size = strlen(value) + (old ? strlen(old) : 0) + 2;
    char *all = malloc(size);
    if (!all)
        return;
    snprintf(all, size, old && *old ? "%s:%s" : "%s", value, old);
    setenv(variable, all, 1);
    free(all);
}

/* The same for what is in our libraries' folder. */
static void prepend_own(const char *variable, const char *name)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", library_folder(), name);
    prepend(variable, path);
}

static bool needs(const struct elf *elf, const char *library)
{
    const char *name;
    for (unsigned i = 0; (name = elf_needed(elf, i)); i++)
        if (!strcmp(name, library))
            return true;
    return false;
}

/* A library that is loaded already serves everybody who asks for its name, so paths inside the
 * program do not count; for what asks by a path there is the auditor. Which runtime a script, or
 * a library with one inside, will ask for is not known: all are there, that of the program
 * before the others. */
static void preload_for(const char *path)
{
    struct elf elf;
    bool is_elf = elf_open(&elf, path);
    for (int is_needed = 0; is_needed < 2; is_needed++)
        for (int i = 0; i < N_RUNTIMES; i++)
            if ((is_elf && needs(&elf, runtimes[i])) == is_needed)
                prepend_own("LD_PRELOAD", runtimes[i]);
    prepend_own("LD_PRELOAD", "libptera-nodes.so");
    prepend_own("LD_PRELOAD", "libcuda.so.1");
    prepend_own("LD_AUDIT", "libptera-audit.so");
    if (is_elf)
        elf_close(&elf);
}

/* What clients must be told where the user has not. JAX asks CUPTI for its version before all
 * else, which NVIDIA's gets from their driver, and goes without CUDA where it has none. */
static const struct {
    const char *name, *value;
} told[] = {{"JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1"}};

bool set_environment(const char *path)
{
    char driver[PATH_MAX + 32];
    snprintf(driver, sizeof driver, "%s/libcuda.so.1", library_folder());
    if (access(driver, R_OK) != 0) {
        fprintf(stderr, "ptera: %s: %s\n", driver, strerror(errno));
        return false;
    }
    preload_for(path);
    prepend("LD_LIBRARY_PATH", library_folder());
    if (getenv("PTERA_TRACE")) /* ranges of NVTX are a part of it */
        setenv("NVTX_INJECTION64_PATH", driver, 0);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        setenv(told[i].name, told[i].value, 0);
    return true;
}

struct options {
    bool has_summary;
    const char *summary_file; /* NULL: standard error */
};

/* False: there is no such option. */
static bool take_option(const char *arg, struct options *options)
{
    static const char summary[] = "--summary";
    size_t n = sizeof summary - 1;
    if (strncmp(arg, summary, n) != 0 || (arg[n] && (arg[n] != '=' || !arg[n + 1])))
        return false;
    options->has_summary = true;
    options->summary_file = arg[n] ? arg + n + 1 : NULL;
    return true;
}

/* The index of the program, 0 if there is none. */
static int read_options(int argc, char **argv, struct options *options)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--"))
            return i + 1 < argc ? i + 1 : 0;
        if (!take_option(argv[i], options)) {
            fprintf(stderr, "ptera: unknown option '%s'\n", argv[i]);
            return 0;
        }
    }
    return i < argc ? i : 0;
}

int command_exec(int argc, char **argv)
{
    char path[PATH_MAX];
    struct options options = {0};
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(exec_help, stdout);
        return EXIT_GOOD;
    }
    int first = read_options(argc, argv, &options);
    if (!first) {
        fputs(exec_help, stderr);
        return EXIT_USAGE;
    }
    argv += first;
    if (getenv("PATH")) /* without it shells have a list of their own */
        prepend_own("PATH", "ptera-programs");
    if (!find_program(argv[0], path, sizeof path)) {
        fprintf(stderr, "ptera: cannot run %s: %s\n", argv[0], strerror(errno));
        return EXIT_CANNOT_RUN;
    }
    if (!set_environment(path))
        return EXIT_FAILED;
    if (options.has_summary)
        return summary_run(path, argv, options.summary_file);
    execv(path, argv);
    fprintf(stderr, "ptera: cannot run %s: %s\n", path, strerror(errno));
    return EXIT_CANNOT_RUN;
}
