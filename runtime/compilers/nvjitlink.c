/* libnvJitLink.so.N in front of NVIDIA's: the machine code that it links is PTX in a cubin
 * (frontend/cubin.h). NVIDIA's makes PTX of LTO code
 * (-lto -ptx); what is PTX already is linked where the cubin is loaded. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/cubin.h"
#include "frontend/device_runtime.h"
#include "frontend/fatbin.h"
#include "frontend/link_text.h"
#include "runtime/compilers/real.h"

enum {
    SUCCESS = 0,
    ERROR_INVALID_INPUT = 3,
    ERROR_INTERNAL = 6,
    ERROR_UNRECOGNIZED_INPUT = 8,
    ERROR_NULL_INPUT = 10
};
enum { INPUT_CUBIN = 1, INPUT_PTX = 2, INPUT_LTOIR = 3, INPUT_FATBIN = 4, INPUT_ANY = 10 };

struct handle {
    void *theirs;
    bool is_lto;
    bool has_lto_input; /* something for NVIDIA's to link */
    unsigned sm;
    char feature;
    unsigned registers;    /* that a kernel may have; 0: any number */
    struct pt_arena arena; /* of what follows */
    PT_VEC(struct pt_link_unit) units;
    const void *cubin;
    size_t bytes;
};

/* NVIDIA's function: by its name, or by that with the oldest release of the library. */
static void *find(const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "nvJitLink%s", name);
    void *real = pt_real_find(full);
    snprintf(full, sizeof full, "__nvJitLink%s_%d_0", name, PT_MAJOR);
    return real ? real : pt_real_find(full);
}

/* ---- making and unmaking --------------------------------------------------------------------- */

static int Create(struct handle **out, uint32_t n, const char *const *options)
{
    int (*real)(void **, uint32_t, const char *const *) =
        (int (*)(void **, uint32_t, const char *const *))find("Create");
    struct handle *h = calloc(1, sizeof *h);
    const char **mine = calloc((size_t)n + 1, sizeof *mine);
    int r = real && h && mine ? SUCCESS : ERROR_INTERNAL;
    bool has_ptx = false;
    if (r == SUCCESS && (!out || (n && !options)))
        r = ERROR_NULL_INPUT;
    for (uint32_t i = 0; r == SUCCESS && i < n; i++) {
        mine[i] = options[i];
        if (!options[i])
            r = ERROR_NULL_INPUT;
        else if (!strcmp(options[i], "-lto") || !strcmp(options[i], "-dlto"))
            h->is_lto = true;
        else if (!strcmp(options[i], "-ptx"))
            has_ptx = true;
        else if (!strncmp(options[i], "-arch=sm_", 9)) {
            char *rest;
            h->sm = (unsigned)strtoul(options[i] + 9, &rest, 10);
            h->feature = *rest;
        } else if (!strncmp(options[i], "-maxrregcount=", 14))
            h->registers = (unsigned)strtoul(options[i] + 14, NULL, 10);
    }
    if (r == SUCCESS && h->is_lto && !has_ptx)
        mine[n++] = "-ptx";
    if (r == SUCCESS)
        r = real(&h->theirs, n, mine);
    free(mine);
    if (r != SUCCESS) {
        free(h);
        return r;
    }
    pt_arena_init(&h->arena, &pt_malloc_allocator);
    *out = h;
    return r;
}

static int Destroy(struct handle **h)
{
    int (*real)(void **) = (int (*)(void **))find("Destroy");
    if (!h || !*h)
        return ERROR_NULL_INPUT;
    int r = real ? real(&(*h)->theirs) : ERROR_INTERNAL;
    pt_arena_free(&(*h)->arena);
    free(*h);
    *h = NULL;
    return r;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static bool is_elf(const void *data, size_t size)
{
    return size >= 4 && !memcmp(data, "\177ELF", 4);
}

static int add_theirs(struct handle *h, int type, const void *data, size_t size, const char *name)
{
    int (*real)(void *, int, const void *, size_t, const char *) =
        (int (*)(void *, int, const void *, size_t, const char *))find("AddData");
    int r = real ? real(h->theirs, type, data, size, name) : ERROR_INTERNAL;
    h->has_lto_input |= r == SUCCESS;
    return r;
}

/* PTX, a cubin that holds some, or a fatbinary. */
static int add_ours(struct handle *h, const void *data, size_t size, const char *name)
{
    jmp_buf oom;
    struct pt_image_text found;
    h->arena.oom = &oom;
    if (setjmp(oom))
        return ERROR_INTERNAL;
    if (pt_image_read(data, size, h->sm, PT_IMAGE_JIT_ALLOWED, &h->arena, &found) != PT_IMAGE_OK) {
        fprintf(stderr, "ptera: " PT_SONAME ": %s: %s\n", name ? name : "input", found.message);
        return ERROR_INVALID_INPUT;
    }
    *pt_vec_push(&h->arena, &h->units) =
        (struct pt_link_unit){name ? pt_arena_text(&h->arena, name, strlen(name)) : NULL,
                              pt_arena_text(&h->arena, found.text, found.len), found.len};
    return SUCCESS;
}

static int AddData(struct handle *h, int type, const void *data, size_t size, const char *name)
{
    if (!h || !data)
        return ERROR_NULL_INPUT;
    if (pt_device_runtime_is(data, size))
        return add_ours(h, pt_device_runtime_text, strlen(pt_device_runtime_text), name);
    if (h->is_lto && (type == INPUT_LTOIR || type > INPUT_FATBIN ||
                      (type == INPUT_FATBIN && !is_elf(data, size)))) {
        int r = add_theirs(h, type, data, size, name);
        if (r == SUCCESS || (type != INPUT_ANY && type != INPUT_FATBIN))
            return r;
    }
    if (type == INPUT_CUBIN || type == INPUT_PTX || type == INPUT_FATBIN || type == INPUT_ANY)
        return add_ours(h, data, size, name);
    fprintf(stderr,
            "ptera: " PT_SONAME
            ": %s: objects and libraries of the host, and LTO code, are linked with -lto only\n",
            name ? name : "input");
    return ERROR_UNRECOGNIZED_INPUT;
}

static int AddFile(struct handle *h, int type, const char *path)
{
    struct stat st;
    if (!h || !path)
        return ERROR_NULL_INPUT;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0,
           n = 0;
    char *data = size ? malloc(size) : NULL;
    for (ssize_t got = 1; data && n < size && got > 0; n += got > 0 ? (size_t)got : 0)
        got = read(fd, data + n, size - n);
    if (fd >= 0)
        close(fd);
    int r = data && n == size ? AddData(h, type, data, size, path) : ERROR_INVALID_INPUT;
    free(data);
    return r;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* What NVIDIA's made of the LTO code. */
static int take_linked(struct handle *h)
{
    int (*complete)(void *) = (int (*)(void *))find("Complete");
    int (*get_size)(void *, size_t *) = (int (*)(void *, size_t *))find("GetLinkedPtxSize");
    int (*get)(void *, char *) = (int (*)(void *, char *))find("GetLinkedPtx");
    size_t size = 0;
    if (!complete || !get_size || !get)
        return ERROR_INTERNAL;
    int r = complete(h->theirs);
    if (r == SUCCESS)
        r = get_size(h->theirs, &size);
    if (r != SUCCESS)
        return r;
    char *text = pt_arena_alloc(&h->arena, size + 1);
    r = get(h->theirs, text);
    *pt_vec_push(&h->arena, &h->units) = (struct pt_link_unit){NULL, text, strlen(text)};
    return r;
}

static int Complete(struct handle *h)
{
    jmp_buf oom;
    if (!h)
        return ERROR_NULL_INPUT;
    h->arena.oom = &oom;
    if (setjmp(oom))
        return ERROR_INTERNAL;
    int r = h->has_lto_input ? take_linked(h) : SUCCESS;
    if (r != SUCCESS)
        return r;
    if (!h->units.n)
        return ERROR_INVALID_INPUT;
    struct pt_cubin cubin = {.text = h->units.v->text,
                             .len = h->units.v->len,
                             .sm = h->sm,
                             .feature = h->feature,
                             .registers = h->registers};
    if (h->units.n > 1)
        cubin.text = pt_link_text_join(h->units.v, h->units.n, &h->arena, &cubin.len);
    h->cubin = pt_cubin_write(&cubin, &h->arena, &h->bytes);
    return SUCCESS;
}

static int GetLinkedCubinSize(struct handle *h, size_t *size)
{
    if (!h || !size)
        return ERROR_NULL_INPUT;
    *size = h->bytes;
    return h->cubin ? SUCCESS : ERROR_INTERNAL;
}

static int GetLinkedCubin(struct handle *h, void *cubin)
{
    if (!h || !cubin)
        return ERROR_NULL_INPUT;
    if (!h->cubin)
        return ERROR_INTERNAL;
    memcpy(cubin, h->cubin, h->bytes);
    return SUCCESS;
}

/* ---- NVIDIA's alone, and the names of all ---------------------------------------------------- */

#define FORWARD(name, parameters, arguments)                                   \
    static int name parameters                                                 \
    {                                                                          \
        int(*real) parameters = (int(*) parameters)find(#name);                \
        return !h ? ERROR_NULL_INPUT : real ? real arguments : ERROR_INTERNAL; \
    }
#include "runtime/compilers/nvjitlink.def"

/* The releases whose headers have names of their own. */
#define ALIAS(name, full) extern __typeof__(name) full __attribute__((alias(#name)));
#define RELEASE(name, release) ALIAS(name, __nvJitLink##name##_##release)
#if PT_MAJOR == 12
#define RELEASES(name)                                                              \
    RELEASE(name, 12_0)                                                             \
    RELEASE(name, 12_1)                                                             \
    RELEASE(name, 12_2)                                                             \
    RELEASE(name, 12_3) RELEASE(name, 12_4) RELEASE(name, 12_5) RELEASE(name, 12_6) \
        RELEASE(name, 12_7) RELEASE(name, 12_8) RELEASE(name, 12_9)
#else
#define RELEASES(name)  \
    RELEASE(name, 13_0) \
    RELEASE(name, 13_1) RELEASE(name, 13_2) RELEASE(name, 13_3) RELEASE(name, 13_4)
#endif
#define OWN(name) ALIAS(name, nvJitLink##name) RELEASES(name)
#define FORWARD(name, parameters, arguments) OWN(name)
#include "runtime/compilers/nvjitlink.def"

int nvJitLinkVersion(unsigned *major, unsigned *minor);
int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    int (*real)(unsigned *, unsigned *) =
        (int (*)(unsigned *, unsigned *))pt_real_find("nvJitLinkVersion");
    return real ? real(major, minor) : ERROR_INTERNAL;
}
