/* ptera doctor: which CUDA libraries a program would load, what code it carries, and what stands
 * in the way. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/audit/elf.h"
#include "tools/audit/runtime.h"
#include "tools/commands.h"
#include "tools/doctor_code.h"
#include "tools/doctor_problem.h"
#include "tools/exec.h"

static const char doctor_help[] =
    "usage: ptera doctor PROGRAM\n\n"
    "Says which CUDA libraries PROGRAM would load under `ptera exec`, what code for GPUs it "
    "carries, and what stands in the way:\n"
    "each kernel that cannot run and why, and each of NVIDIA's libraries that is machine code for "
    "GPUs, with the functions that\n"
    "PROGRAM uses of it.\n"
    "PTERA_DEVICE=h100 asks for another GPU than an H200 (docs/environment.md lists them).\n"
    "The program is not run. Exit status: 0 nothing stands in the way, 1 something does.\n";

/* ---- libraries ------------------------------------------------------------------------------- */

/* NVIDIA's libraries of kernels, and what else needs a real device: how their files' names and
 * their functions' begin. */
static const struct closed {
    const char *library, *function;
} closed[] = {
    {"libcublas", "cublas"},     {"libcublasLt", "cublasLt"}, {"libcudnn", "cudnn"},
    {"libcufft", "cufft"},       {"libcurand", "curand"},     {"libcusparse", "cusparse"},
    {"libcusolver", "cusolver"}, {"libnccl", "nccl"},         {"libnvinfer", "createInfer"},
    {"libnpp", "npp"},           {"libcutensor", "cutensor"}, {"libnvjpeg", "nvjpeg"},
    {"libnvidia-ml", "nvml"},    {"libcufile", "cuFile"}};
enum { N_CLOSED = sizeof closed / sizeof *closed, SHOWN_MAX = 12 };

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The library of that file name, or of a function: of several the one with the longest name.
 * NULL: none of them. */
static const struct closed *find_closed(const char *name, bool is_function)
{
    const struct closed *best = NULL;
    for (size_t i = 0; i < N_CLOSED; i++) {
        const char *prefix = is_function ? closed[i].function : closed[i].library;
        if (begins(name, prefix) && (!best || strlen(closed[i].library) > strlen(best->library)))
            best = &closed[i];
    }
    return best;
}

/* What only makes, sets and ends handles: no kernel runs for it. */
static bool is_about_handles(const struct closed *library, const char *function)
{
    static const char *const verbs[] = {"Create", "Destroy", "Set", "Get"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (begins(function + strlen(library->function), verbs[i]))
            return true;
    return false;
}

/* What the program itself imports of a library. */
static void look_at_closed(const struct elf *elf, const struct closed *library, const char *name,
                           const char *path)
{
    char list[1024] = "";
    unsigned n = 0, n_handles = 0;
    const char *function;
    for (unsigned i = 0; (function = elf_import(elf, i)); i++) {
        if (find_closed(function, true) != library)
            continue;
        n_handles += is_about_handles(library, function);
        if (n++ < SHOWN_MAX)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n > 1 ? ", " : "",
                     function);
    }
    if (n > SHOWN_MAX)
        snprintf(list + strlen(list), sizeof list - strlen(list), " and %u more", n - SHOWN_MAX);
    if (!n)
        printf(
            "  %s (%s) is NVIDIA's, machine code for GPUs: the program itself calls none of it\n",
            name, path);
    else if (n == n_handles)
        doctor_problem("%s (%s) is NVIDIA's, machine code for GPUs: used for handles alone, which "
                       "cannot be made (%s)\n",
                       name, path, list);
    else
        doctor_problem("%s (%s) is NVIDIA's, machine code for GPUs: calls into it will fail (%s)\n",
                       name, path, list);
}

static bool is_cuda(const char *name)
{
    return begins(name, "libcu") || begins(name, "libnv");
}

/* ---- the runtime library inside -------------------------------------------------------------- */

static bool needs_runtime(const struct elf *elf)
{
    const char *name;
    for (unsigned i = 0; (name = elf_needed(elf, i)); i++)
        if (begins(name, "libcudart.so"))
            return true;
    return false;
}

static void look_at_runtime(const struct elf *elf, const char *path)
{
    struct audit_runtime runtime;
    size_t bytes;
    if (audit_runtime_find(elf, &runtime))
        printf("  %s: NVIDIA's runtime library inside (release %s): `ptera exec` redirects its %zu "
               "functions to Ptera's\n",
               path, runtime.versions ? runtime.versions : "told by its symbols", runtime.n);
    else if (elf_section(elf, ".nvFatBinSegment", &bytes) && !needs_runtime(elf))
        doctor_problem(
            "%s has NVIDIA's runtime library inside, of a release that is not known, and its "
            "symbols are stripped: rebuild it with `nvcc -cudart shared`, or without "
            "stripping it\n",
            path);
    audit_runtime_free(&runtime);
}

static void look_into_library(const char *path)
{
    struct elf elf;
    if (!elf_open(&elf, path))
        return;
    look_at_runtime(&elf, path);
    elf_close(&elf);
}

/* ---- libraries that are loaded --------------------------------------------------------------- */

/* "NAME => PATH (0x…)" or "NAME => not found", as the dynamic loader tells. */
static void look_at_library(const struct elf *elf, char *line)
{
    char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => ");
    const char *ours = library_folder();
    if (!arrow) {
        char *slash = strrchr(name, '/');
        char *end = strstr(name, " (");
        if (!slash || !end || !is_cuda(slash + 1))
            return;
        *end = 0;
        printf("  %s: %s (Ptera's)\n", slash + 1, name);
        return;
    }
    *arrow = 0;
    char *path = arrow + 4, *end = strstr(path, " (");
    if (end)
        *end = 0;
    if (!strcmp(path, "not found"))
        doctor_problem("%s is not found\n", name);
    else if (find_closed(name, false))
        look_at_closed(elf, find_closed(name, false), name, path);
    else if (is_cuda(name))
        printf("  %s: %s%s\n", name, path, begins(path, ours) ? " (Ptera's)" : "");
    else
        look_into_library(path);
}

/* The dynamic loader lists what it would load, and does not start the program. */
static void look_at_libraries(const struct elf *elf, const char *path)
{
    int ends[2];
    char line[PATH_MAX + 256];
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        execl(path, path, (char *)NULL);
        execlp("ldd", "ldd", path, (char *)NULL); /* a library that is not executable */
        _exit(1);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        look_at_library(elf, line);
    }
    if (in)
        fclose(in);
    if (child > 0)
        waitpid(child, NULL, 0);
}

int command_doctor(int argc, char **argv)
{
    char path[PATH_MAX];
    struct elf elf;
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(doctor_help, stdout);
        return EXIT_GOOD;
    }
    if (argc != 2) {
        fputs(doctor_help, stderr);
        return EXIT_USAGE;
    }
    if (!find_program(argv[1], path, sizeof path)) /* libraries need not be executable */
        snprintf(path, sizeof path, "%s", argv[1]);
    if (!elf_open(&elf, path)) {
        fprintf(stderr, "ptera: %s is no 64-bit ELF program\n", argv[1]);
        return EXIT_USAGE;
    }
    printf("%s\n", path);
    fflush(stdout);
    if (!set_environment(path))
        return EXIT_FAILED;
    look_at_libraries(&elf, path);
    look_at_runtime(&elf, path);
    doctor_code(&elf);
    elf_close(&elf);
    unsigned n_problems = doctor_problem_count();
    puts(n_problems ? "something stands in the way" : "nothing stands in the way");
    return n_problems ? EXIT_FAILED : EXIT_GOOD;
}
