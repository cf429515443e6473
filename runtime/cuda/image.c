/* Images that modules are loaded from: frontend/fatbin.h finds the PTX in them. */
#define _GNU_SOURCE
#include "runtime/cuda/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/cubin.h"
#include "frontend/fatbin.h"
#include "runtime/cuda/driver.h"

static CUresult keep(const struct pt_image_text *found, struct pt_cu_text *text)
{
    text->bytes = found->len;
    text->is_later = found->is_later;
    text->text = malloc(found->len + 1);
    if (!text->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text->text, found->text, found->len);
    text->text[found->len] = 0;
    return CUDA_SUCCESS;
}

static CUresult read_image(const void *image, size_t bytes, unsigned registers,
                           struct pt_arena *arena, struct pt_cu_text *text)
{
    jmp_buf oom;
    struct pt_image_text found;
    const struct pt_device_limits *limits = pt_cu_driver.limits;
    unsigned sm = (unsigned)(limits->major * 10 + limits->minor);
    arena->oom = &oom;
    if (setjmp(oom))
        return CUDA_ERROR_OUT_OF_MEMORY;
    enum pt_image_status status =
        pt_image_read(image, bytes ? bytes : PT_IMAGE_UNSIZED, sm, pt_cu_driver.jit, arena, &found);
    if (status == PT_IMAGE_OK && memmem(found.text, found.len, ".version", 8)) {
        const struct pt_cubin told = {
            .text = found.text, .len = found.len, .registers = found.is_assembled ? 0 : registers};
        found.text = pt_cubin_add_pragmas(&told, arena, &found.len);
        return keep(&found, text);
    }
    if (status == PT_IMAGE_OK) {
        snprintf(text->log, sizeof text->log,
                 "the image is neither PTX nor machine code: it has no .version");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    snprintf(text->log, sizeof text->log, "%s", found.message);
    return status == PT_IMAGE_NO_PTX    ? CUDA_ERROR_NO_BINARY_FOR_GPU
           : status == PT_IMAGE_NO_JIT  ? CUDA_ERROR_JIT_COMPILATION_DISABLED
           : status == PT_IMAGE_INVALID ? CUDA_ERROR_INVALID_IMAGE
                                        : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult pt_cu_image_text(const void *image, size_t bytes, unsigned registers,
                          struct pt_cu_text *text)
{
    struct pt_arena arena;
    *text = (struct pt_cu_text){0};
    pt_arena_init(&arena, &pt_malloc_allocator);
    CUresult result = read_image(image, bytes, registers, &arena, text);
    pt_arena_free(&arena);
    return result;
}
