/* ptera doctor: which CUDA libraries a program would load, what code it carries, and what stands in the way. */
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/fatbin.h"
#include "ptera.h"
#include "tools/commands.h"
#include "tools/elf.h"
#include "tools/exec.h"

static const char doctor_help[] =
    "usage: ptera doctor PROGRAM\n\n"
    "Says which CUDA libraries PROGRAM would load under `ptera exec`, what code for GPUs it "
    "carries, and what stands in the way.\n"
    "The program is not run. Exit status: 0 nothing stands in the way, 1 something does.\n";

static int n_problems;

__attribute__((format(printf, 1, 2))) static void problem(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("  problem: ");
    vprintf(format, args);
    va_end(args);
    n_problems++;
}

/* ---- libraries ---------------------------------------------------------------------------------------- */

/* NVIDIA's libraries of kernels, and what else needs a real device. */
static const char *const closed[] = {"libcublas",  "libcublasLt",  "libcudnn",    "libcufft",
                                     "libcurand",  "libcusparse",  "libcusolver", "libnccl",
                                     "libnvinfer", "libnpp",       "libcutensor", "libnvjpeg",
                                     "libcupti",   "libnvidia-ml", "libcufile"};

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_closed(const char *name)
{
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (begins(name, closed[i]))
            return true;
    return false;
}

static bool is_cuda(const char *name)
{
    return begins(name, "libcu") || begins(name, "libnv");
}

/* "NAME => PATH (0x…)" or "NAME => not found", as the dynamic loader tells. */
static void look_at_library(char *line)
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
        problem("%s is not found\n", name);
    else if (is_closed(name))
        problem("%s (%s) is NVIDIA's, machine code for GPUs: calls into it will fail\n", name,
                path);
    else if (is_cuda(name))
        printf("  %s: %s%s\n", name, path, begins(path, ours) ? " (Ptera's)" : "");
}

/* The dynamic loader lists what it would load, and does not start the program. */
static void look_at_libraries(const char *path)
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
        _exit(1);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        look_at_library(line);
    }
    if (in)
        fclose(in);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* ---- code --------------------------------------------------------------------------------------------- */

static unsigned capability(void)
{
    ptera_engine *engine;
    ptera_info info = {.size = sizeof info};
    unsigned sm = 0;
    if (ptera_engine_create(NULL, &engine) == PTERA_OK) {
        if (ptera_engine_info(engine, &info) == PTERA_OK)
            sm = info.compute_capability_major * 10 + info.compute_capability_minor;
        ptera_engine_destroy(engine);
    }
    return sm;
}

/* Whether the device runs something of a fatbinary; says why not. */
static bool has_code(const uint8_t *fatbin, size_t bytes, unsigned number)
{
    struct pt_arena arena;
    struct pt_image_text text = {0};
    jmp_buf oom;
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    bool is_good = setjmp(oom) == 0 &&
                   pt_image_read(fatbin, bytes, capability(), &arena, &text) == PT_IMAGE_OK;
    if (!is_good)
        printf("  fatbinary %u: %s\n", number, text.message ? text.message : "out of memory");
    pt_arena_free(&arena);
    return is_good;
}

/* Fatbinaries lie one behind the other, the device linker's own ones, without entries, among them. */
static void look_at_fatbins(const uint8_t *p, size_t bytes, unsigned *n, unsigned *n_runnable)
{
    for (size_t size; (size = pt_fatbin_bytes(p, bytes)) > 0; p += size, bytes -= size)
        if (size > PT_FATBIN_HEADER)
            *n_runnable += has_code(p, size, ++*n);
}

static void look_at_code(const struct elf *elf)
{
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    unsigned n = 0, n_runnable = 0;
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        const uint8_t *p = elf_section(elf, sections[i], &bytes);
        if (p)
            look_at_fatbins(p, bytes, &n, &n_runnable);
    }
    if (!n)
        return;
    printf("  %u of %u fatbinaries inside have PTX that runs\n", n_runnable, n);
    if (!n_runnable)
        problem("none of the code inside can run: compile with -arch=compute_90 or a plain "
                "-arch=sm_90, which adds PTX\n");
}

static bool needs_runtime(const struct elf *elf)
{
    const char *name;
    for (unsigned i = 0; (name = elf_needed(elf, i)); i++)
        if (begins(name, "libcudart.so"))
            return true;
    return false;
}

static void look_at_runtime(const struct elf *elf)
{
    size_t bytes;
    if (elf_section(elf, ".nvFatBinSegment", &bytes) && !needs_runtime(elf))
        problem("NVIDIA's runtime library is linked in (nvcc's default), which works on NVIDIA's "
                "driver only: relink with "
                "-cudart shared\n");
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
    if (!find_program(argv[1], path, sizeof path) || !elf_open(&elf, path)) {
        fprintf(stderr, "ptera: %s is no 64-bit ELF program\n", argv[1]);
        return EXIT_USAGE;
    }
    printf("%s\n", path);
    fflush(stdout);
    if (!set_environment(path))
        return EXIT_FAILED;
    look_at_libraries(path);
    look_at_runtime(&elf);
    look_at_code(&elf);
    elf_close(&elf);
    puts(n_problems ? "something stands in the way" : "nothing stands in the way");
    return n_problems ? EXIT_FAILED : EXIT_GOOD;
}
