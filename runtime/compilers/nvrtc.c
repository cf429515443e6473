/* libnvrtc.so.N in front of NVIDIA's: programs that ask it for machine code (-arch=sm_90) get PTX
 * in a cubin (frontend/cubin.h). NVIDIA's compiles for the virtual architecture of the same name;
 * with it, it makes the same PTX (measured, 13.0), which it then would assemble. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/cubin.h"
#include "runtime/compilers/real.h"

enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INTERNAL_ERROR = 11
};

/* ---- what is NVIDIA's alone ------------------------------------------------------------------ */

typedef int result_of_nvrtc;

#define FORWARD(name, parameters, arguments)                                                    \
    result_of_nvrtc name parameters;                                                            \
    result_of_nvrtc name parameters                                                             \
    {                                                                                           \
        result_of_nvrtc(*real) parameters = (result_of_nvrtc(*) parameters)pt_real_find(#name); \
        return real ? real arguments : NVRTC_ERROR_INTERNAL_ERROR;                              \
    }
#define PASS(name) \
    FORWARD(name, (void *a, void *b, void *c, void *d, void *e, void *f), (a, b, c, d, e, f))
#include "runtime/compilers/nvrtc.def"

const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result)
{
    const char *(*real)(int) = (const char *(*)(int))pt_real_find("nvrtcGetErrorString");
    return real ? real(result) : "NVRTC: NVIDIA's " PT_SONAME " is not found";
}

/* ---- programs whose machine code is wanted --------------------------------------------------- */

struct program {
    void *theirs;
    struct program *next;
    unsigned sm;
    char feature;
    bool is_relocatable, is_fmad_off;
    unsigned registers; /* that a kernel may have; 0: any number */
    void *cubin; /* once somebody has asked for it */
    size_t bytes;
};

static struct program *programs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct program **find(const void *theirs)
{
    struct program **p = &programs;
    while (*p && (*p)->theirs != theirs)
        p = &(*p)->next;
    return p;
}

static void forget(const void *theirs)
{
    pthread_mutex_lock(&lock);
    struct program **place = find(theirs), *p = *place;
    if (p) {
        *place = p->next;
        free(p->cubin);
        free(p);
    }
    pthread_mutex_unlock(&lock);
}

static bool remember(const struct program *program)
{
    struct program *p = malloc(sizeof *p);
    if (!p)
        return false;
    *p = *program;
    pthread_mutex_lock(&lock);
    p->next = programs;
    programs = p;
    pthread_mutex_unlock(&lock);
    return true;
}

/* The cubin with the program's PTX; called with the lock held. With -dlto there is no PTX, and no
 * cubin. */
static int make_cubin(struct program *p)
{
    size_t size;
    int r = nvrtcGetPTXSize(p->theirs, &size);
    if (r != NVRTC_SUCCESS || p->cubin || size < 2)
        return r;
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    r = NVRTC_ERROR_OUT_OF_MEMORY;
    if (setjmp(oom) == 0) {
        char *text = pt_arena_alloc(&arena, size);
        r = nvrtcGetPTX(p->theirs, text);
        const struct pt_cubin cubin = {text,           size - 1,       p->sm,       p->feature,
                                       p->is_relocatable, p->is_fmad_off, p->registers};
        const void *made = r == NVRTC_SUCCESS ? pt_cubin_write(&cubin, &arena, &p->bytes) : NULL;
        p->cubin = made ? malloc(p->bytes) : NULL;
        if (p->cubin)
            memcpy(p->cubin, made, p->bytes);
        else if (made)
            r = NVRTC_ERROR_OUT_OF_MEMORY;
    }
    pt_arena_free(&arena);
    return r;
}

/* Of a program whose machine code is not wanted NVIDIA's has no cubin. */
static int get_cubin(void *program, size_t *size, char *cubin, const char *name)
{
    if (!program || (!size && !cubin))
        return NVRTC_ERROR_INVALID_INPUT;
    pthread_mutex_lock(&lock);
    struct program *p = *find(program);
    int r = p ? make_cubin(p) : NVRTC_SUCCESS;
    if (p && r == NVRTC_SUCCESS && size)
        *size = p->cubin ? p->bytes : 0;
    if (p && r == NVRTC_SUCCESS && cubin && p->cubin)
        memcpy(cubin, p->cubin, p->bytes);
    pthread_mutex_unlock(&lock);
    if (p)
        return r;
    int (*real)(void *, void *) = (int (*)(void *, void *))pt_real_find(name);
    return real ? real(program, size ? (void *)size : cubin) : NVRTC_ERROR_INTERNAL_ERROR;
}

int nvrtcGetCUBINSize(void *program, size_t *size);
int nvrtcGetCUBINSize(void *program, size_t *size)
{
    return get_cubin(program, size, NULL, "nvrtcGetCUBINSize");
}

int nvrtcGetCUBIN(void *program, char *cubin);
int nvrtcGetCUBIN(void *program, char *cubin)
{
    return get_cubin(program, NULL, cubin, "nvrtcGetCUBIN");
}

/* ---- options --------------------------------------------------------------------------------- */

/* NAME=VALUE, or NAME and VALUE as the next option: the value's place. NULL: it is not that
 * option. */
static const char *const *value_of(const char *const *option, const char *const *end,
                                   const char *name, const char **value)
{
    size_t n = strlen(name);
    if (strncmp(*option, name, n) != 0 || ((*option)[n] && (*option)[n] != '='))
        return NULL;
    if ((*option)[n]) {
        *value = *option + n + 1;
        return option;
    }
    *value = option + 1 < end ? option[1] : "";
    return option + 1 < end ? option + 1 : NULL;
}

static const char *const *arch_of(const char *const *option, const char *const *end,
                                  const char **value)
{
    const char *const *at = value_of(option, end, "--gpu-architecture", value);
    return at ? at : value_of(option, end, "-arch", value);
}

static bool is_one(const char *option, const char *const *words)
{
    while (*words && strcmp(option, *words) != 0)
        words++;
    return *words != NULL;
}

/* What the assembler would have to know. */
static void look_at_option(struct program *p, const char *const *option, const char *const *end)
{
    static const char *const relocatable[] = {"-dc", "--device-c", "-rdc=true",
                                              "--relocatable-device-code=true", NULL};
    static const char *const uncontracted[] = {"-G", "--device-debug", "-fmad=false",
                                               "--fmad=false", NULL};
    const char *value;
    p->is_relocatable |= is_one(*option, relocatable);
    p->is_fmad_off |= is_one(*option, uncontracted);
    if (value_of(option, end, "--maxrregcount", &value) ||
        value_of(option, end, "-maxrregcount", &value))
        p->registers = (unsigned)strtoul(value, NULL, 10);
    if (arch_of(option, end, &value)) {
        char *rest;
        bool is_real = !strncmp(value, "sm_", 3);
        p->sm = is_real ? (unsigned)strtoul(value + 3, &rest, 10) : 0; /* the last counts */
        p->feature = (char)(is_real ? *rest : 0);
    }
}

/* "sm_90a" where it is said becomes "compute_90a". Allocated. */
static char *rename_arch(const char *option)
{
    const char *sm = strstr(option, "sm_");
    size_t size = strlen(option) + sizeof "compute_";
    char *renamed = malloc(size);
    if (renamed)
        snprintf(renamed, size, "%.*scompute_%s", (int)(sm - option), option, sm + 3);
    return renamed;
}

static char *copy_option(const char *const *options, int i, int n)
{
    const char *value;
    const char *const *end = options + n;
    bool is_arch = arch_of(&options[i], end, &value) == &options[i] ||
                   (i > 0 && arch_of(&options[i - 1], end, &value) == &options[i]);
    return is_arch && !strncmp(value, "sm_", 3) ? rename_arch(options[i]) : strdup(options[i]);
}

static int compile(void *program, int n, const char *const *options)
{
    int (*real)(void *, int, const char *const *) =
        (int (*)(void *, int, const char *const *))pt_real_find("nvrtcCompileProgram");
    return real ? real(program, n, options) : NVRTC_ERROR_INTERNAL_ERROR;
}

/* For the virtual architecture. */
static int compile_virtually(void *program, int n, const char *const *options)
{
    char **mine = calloc((size_t)n, sizeof *mine);
    int r = mine ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
    for (int i = 0; r == NVRTC_SUCCESS && i < n; i++)
        if (!(mine[i] = copy_option(options, i, n)))
            r = NVRTC_ERROR_OUT_OF_MEMORY;
    if (r == NVRTC_SUCCESS)
        r = compile(program, n, (const char *const *)mine);
    for (int i = 0; mine && i < n; i++)
        free(mine[i]);
    free(mine);
    return r;
}

int nvrtcCompileProgram(void *program, int n, const char *const *options);
int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
    struct program p = {.theirs = program};
    for (int i = 0; options && i < n; i++)
        if (!options[i])
            return compile(program, n, options);
    for (int i = 0; options && i < n; i++)
        look_at_option(&p, &options[i], options + n);
    forget(program);
    if (!p.sm)
        return compile(program, n, options);
    int r = compile_virtually(program, n, options);
    return r == NVRTC_SUCCESS && !remember(&p) ? NVRTC_ERROR_OUT_OF_MEMORY : r;
}

int nvrtcDestroyProgram(void **program);
int nvrtcDestroyProgram(void **program)
{
    int (*real)(void **) = (int (*)(void **))pt_real_find("nvrtcDestroyProgram");
    if (program)
        forget(*program);
    return real ? real(program) : NVRTC_ERROR_INTERNAL_ERROR;
}
