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
#include "tools/elf.h"

static const char exec_help[] =
    "usage: ptera exec PROGRAM [ARGS...]\n\n"
    "Runs a CUDA program on the CPU: Ptera's libcuda.so.1 and libcudart.so.N take the place of "
    "NVIDIA's, whatever paths the\n"
    "program was linked with. The exit status is the program's; 127 if it cannot be run.\n\n"
    "  PTERA_LOG=api,load,launch   (any of them) tells calls, loaded modules and launches on "
    "standard error\n"
    "  PTERA_ENGINE, PTERA_DEVICES, PTERA_COMPUTE_CAPABILITY   see the README\n\n"
    "`ptera doctor PROGRAM` says beforehand what stands in the way.\n";

enum { CANNOT_RUN = 127 };

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

static void preload(const char *library)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", library_folder(), library);
    prepend("LD_PRELOAD", path);
}

static bool needs(const struct elf *elf, const char *library)
{
    const char *name;
    for (unsigned i = 0; (name = elf_needed(elf, i)); i++)
        if (!strcmp(name, library))
            return true;
    return false;
}

/* A library that is loaded already serves everybody who asks for its name, so paths inside the program do not count. Which
 * runtime a script or an interpreter will ask for is not known: it gets all. */
static void preload_for(const char *path)
{
    struct elf elf;
    bool is_elf = elf_open(&elf, path), needs_any = false;
    for (int i = 0; is_elf && i < N_RUNTIMES; i++)
        needs_any = needs_any || needs(&elf, runtimes[i]);
    for (int i = 0; i < N_RUNTIMES; i++)
        if (!needs_any || needs(&elf, runtimes[i]))
            preload(runtimes[i]);
    preload("libcuda.so.1");
    if (is_elf)
        elf_close(&elf);
}

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
    return true;
}

int command_exec(int argc, char **argv)
{
    char path[PATH_MAX];
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(exec_help, stdout);
        return EXIT_GOOD;
    }
    if (argc > 1 && !strcmp(argv[1], "--")) {
        argv++;
        argc--;
    }
    if (argc < 2) {
        fputs(exec_help, stderr);
        return EXIT_USAGE;
    }
    if (!find_program(argv[1], path, sizeof path)) {
        fprintf(stderr, "ptera: cannot run %s: %s\n", argv[1], strerror(errno));
        return CANNOT_RUN;
    }
    if (!set_environment(path))
        return EXIT_FAILED;
    execv(path, argv + 1);
    fprintf(stderr, "ptera: cannot run %s: %s\n", path, strerror(errno));
    return CANNOT_RUN;
}
