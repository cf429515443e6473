/* Linking of modules that are handed over one by one. The result that programs get is a cubin with
 * all of them in one text, which any loader here links (frontend/link_text.h). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/cubin.h"
#include "frontend/device_runtime.h"
#include "frontend/fatbin.h"
#include "frontend/link_text.h"
#include "frontend/parse.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/jit_options.h"
#include "runtime/cuda/log.h"
#include "runtime/engine.h"

struct CUlinkState_st {
    struct pt_cu_object object;
    struct pt_cu_jit_options options;
    struct pt_arena arena; /* of the units and the result */
    PT_VEC(struct pt_link_unit) units;
    void *image;
    size_t bytes;
};

static unsigned device_sm(void)
{
    return (unsigned)(pt_cu_driver.limits->major * 10 + pt_cu_driver.limits->minor);
}

static CUresult fail(struct CUlinkState_st *state, CUresult result, const char *why)
{
    pt_cu_jit_options_write(&state->options.error, why);
    if (pt_cu_log_is_on(PT_CU_LOG_LOAD))
        pt_cu_log_print("link: %s", why);
    return result;
}

/* Reads PTX for its errors, which go to the program's log. */
static CUresult check(struct CUlinkState_st *state, const char *name, const char *text, size_t len)
{
    jmp_buf oom;
    struct pt_module module = {0};
    pt_arena_init(&module.arena, &pt_malloc_allocator);
    module.arena.oom = &oom;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (setjmp(oom) == 0) {
        result = pt_parse(&module, name, text, len) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
        for (uint32_t i = 0; result != CUDA_SUCCESS && i < module.diags.list.n; i++) {
            const struct pt_diag *d = &module.diags.list.v[i];
            if (d->severity == PT_SEV_ERROR) {
                fail(state, result, pt_diag_format(&module.diags, d, &module.arena));
                break;
            }
        }
    }
    pt_arena_free(&module.arena);
    return result;
}

/* ---- the state ------------------------------------------------------------------------------- */

static CUresult create(unsigned n, CUjit_option *options, void **values, CUlinkState *out)
{
    CUcontext ctx;
    struct pt_cu_jit_options read;
    CUresult r = pt_cu_current_get(&ctx);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !pt_cu_jit_options_read(&read, n, options, values))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUlinkState_st *state = pt_cu_handle_new(PT_CU_LINK, sizeof *state);
    if (!state)
        return CUDA_ERROR_OUT_OF_MEMORY;
    state->options = read;
    pt_arena_init(&state->arena, &pt_malloc_allocator);
    *out = state;
    pt_cu_handle_give(state);
    return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state)
{
    return API(create(n, options, values, state));
}

CUresult cuLinkCreate(unsigned n, CUjit_option *options, void **values, CUlinkState *state)
{
    return API(create(n, options, values, state));
}

static CUresult destroy(CUlinkState state)
{
    if (!pt_cu_handle_is(state, PT_CU_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    pt_arena_free(&state->arena);
    pt_cu_handle_delete(state);
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    return API(destroy(state));
}

/* ---- what is linked -------------------------------------------------------------------------- */

static CUresult status_of(enum pt_image_status status)
{
    static const CUresult results[] = {[PT_IMAGE_OK] = CUDA_SUCCESS,
                                       [PT_IMAGE_INVALID] = CUDA_ERROR_INVALID_IMAGE,
                                       [PT_IMAGE_NO_PTX] = CUDA_ERROR_NO_BINARY_FOR_GPU,
                                       [PT_IMAGE_NO_JIT] = CUDA_ERROR_JIT_COMPILATION_DISABLED,
                                       [PT_IMAGE_NOT_SUPPORTED] = CUDA_ERROR_NOT_SUPPORTED};
    _Static_assert(sizeof results / sizeof *results == PT_IMAGE_NOT_SUPPORTED + 1,
                   "the last of enum pt_image_status");
    return results[status];
}

static CUresult add_image(CUlinkState state, const void *data, size_t bytes, const char *name)
{
    jmp_buf oom;
    struct pt_image_text found;
    state->arena.oom = &oom;
    if (setjmp(oom))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r =
        status_of(pt_image_read(data, bytes, device_sm(), pt_cu_driver.jit, &state->arena, &found));
    if (r != CUDA_SUCCESS)
        return fail(state, r, found.message);
    name = name ? pt_arena_text(&state->arena, name, strlen(name)) : "PTX";
    r = check(state, name, found.text, found.len);
    if (r == CUDA_SUCCESS)
        *pt_vec_push(&state->arena, &state->units) = (struct pt_link_unit){
            name, pt_arena_text(&state->arena, found.text, found.len), found.len};
    return r;
}

static CUresult add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes,
                    const char *name)
{
    if (!pt_cu_handle_is(state, PT_CU_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !bytes || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES || state->image)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_NVVM)
        return fail(state, CUDA_ERROR_NOT_SUPPORTED,
                    "LTO code cannot be linked without NVIDIA's compiler");
    if (pt_device_runtime_is(data, bytes))
        return add_image(state, pt_device_runtime_text, strlen(pt_device_runtime_text), name);
    return add_image(state, data, bytes, name);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                          const char *name, unsigned n, CUjit_option *options, void **values)
{
    (void)n, (void)options, (void)values; /* advice for NVIDIA's compiler */
    return API(add(state, type, data, bytes, name));
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned n, CUjit_option *options, void **values)
{
    return cuLinkAddData_v2(state, type, data, bytes, name, n, options, values);
}

static CUresult add_file(CUlinkState state, CUjitInputType type, const char *path)
{
    struct stat st;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return CUDA_ERROR_FILE_NOT_FOUND;
    size_t bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
    void *data = bytes ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (data == MAP_FAILED)
        return CUDA_ERROR_INVALID_IMAGE;
    CUresult r = add(state, type, data, bytes, path);
    munmap(data, bytes);
    return r;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                          CUjit_option *options, void **values)
{
    (void)n, (void)options, (void)values;
    return API(add_file(state, type, path));
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                       CUjit_option *options, void **values)
{
    return cuLinkAddFile_v2(state, type, path, n, options, values);
}

/* ---- the result ------------------------------------------------------------------------------ */

static CUresult make_image(CUlinkState state)
{
    jmp_buf oom;
    size_t len;
    state->arena.oom = &oom;
    if (setjmp(oom))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const char *text = pt_link_text_join(state->units.v, state->units.n, &state->arena, &len);
    CUresult r = check(state, "linked PTX", text, len);
    const struct pt_cubin cubin = {
        .text = text, .len = len, .sm = device_sm(), .registers = state->options.registers};
    if (r == CUDA_SUCCESS)
        state->image = pt_cubin_write(&cubin, &state->arena, &state->bytes);
    return r;
}

static CUresult complete(CUlinkState state, void **image, size_t *bytes)
{
    if (!pt_cu_handle_is(state, PT_CU_LINK))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!image || !state->units.n)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = state->image ? CUDA_SUCCESS : make_image(state);
    if (r != CUDA_SUCCESS)
        return r;
    pt_cu_jit_options_write(&state->options.error, "");
    pt_cu_jit_options_write(&state->options.info, "");
    *image = state->image;
    if (bytes)
        *bytes = state->bytes;
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
    return API(complete(state, image, bytes));
}
