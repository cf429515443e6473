/* libFuzzer target: the reader of images survives any bytes, reads none past the end, and gives a
 * text or a message. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_arena arena;
    struct pt_image_text out;
    jmp_buf oom;
    /* A copy of the exact size, so that a read past the end is seen. */
    uint8_t *image = malloc(size ? size : 1);
    memcpy(image, data, size);
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    if (!setjmp(oom)) {
        bool is_read =
            pt_image_read(image, size, 90, PT_IMAGE_JIT_ALLOWED, &arena, &out) == PT_IMAGE_OK;
        if (is_read ? !out.len || !out.text[out.len - 1] : !strlen(out.message))
            abort();
    }
    pt_arena_free(&arena);
    free(image);
    return 0;
}
