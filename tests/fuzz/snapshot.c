/* libFuzzer target: bytes that are to be a kernel's snapshot are taken or refused, and none past
 * their end is read. */
#include <stdlib.h>
#include <string.h>

#include "backend/jit/object/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_arena arena;
    jmp_buf oom;
    /* A copy of the exact size, so that a read past the end is seen. */
    uint8_t *bytes = malloc(size ? size : 1);
    if (size)
        memcpy(bytes, data, size);
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    if (!setjmp(oom)) {
        const struct jit_snapshot *s = jit_snapshot_read(bytes, size, &arena);
        if (s && s->kernel >= s->m.funcs.n)
            abort();
    }
    pt_arena_free(&arena);
    free(bytes);
    return 0;
}
