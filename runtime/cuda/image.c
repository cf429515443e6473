/* Images that modules are loaded from. */
#include "runtime/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult refuse(struct pt_cu_text *text, CUresult result, const char *why)
{
    snprintf(text->log, sizeof text->log, "%s", why);
    return result;
}

CUresult pt_cu_image_text(const void *image, size_t bytes, struct pt_cu_text *text)
{
    *text = (struct pt_cu_text){0};
    const char *source = image;
    if (memcmp(source, "\177ELF", bytes && bytes < 4 ? bytes : 4) == 0)
        return refuse(text, CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "the image is machine code of a GPU; Ptera runs PTX: compile for compute_XX");
    text->bytes = bytes ? strnlen(source, bytes) : strlen(source);
    text->text = malloc(text->bytes + 1);
    if (!text->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text->text, source, text->bytes);
    text->text[text->bytes] = 0;
    return CUDA_SUCCESS;
}
