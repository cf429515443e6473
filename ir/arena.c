/* Memory regions. */
#include "ir/arena.h"

#include <stdlib.h>
#include <string.h>

struct pt_arena_chunk {
    struct pt_arena_chunk *next;
    size_t bytes;
};

enum { CHUNK_MIN = 1 << 12, CHUNK_MAX = 1 << 20, ALIGN = 16 };

static void *malloc_resize(void *ud, void *p, size_t bytes)
{
    (void)ud;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, bytes);
}

const struct pt_allocator pt_malloc_allocator = {malloc_resize, NULL};

void pt_arena_init(struct pt_arena *arena, const struct pt_allocator *allocator)
{
    memset(arena, 0, sizeof *arena);
    arena->allocator = allocator;
}

void pt_arena_free(struct pt_arena *arena)
{
    const struct pt_allocator *a = arena->allocator;
    for (struct pt_arena_chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        a->resize(a->ud, c, 0);
    }
    pt_arena_init(arena, a);
}

static void *out_of_memory(struct pt_arena *arena)
{
    longjmp(*arena->oom, 1);
}

/* Chunks grow with the arena, so that a small module costs one page and a large one few calls. */
static void *new_chunk(struct pt_arena *arena, size_t bytes)
{
    size_t size = arena->total < CHUNK_MIN ? CHUNK_MIN : arena->total;
    if (size > CHUNK_MAX)
        size = CHUNK_MAX;
    if (bytes > SIZE_MAX / 2)
        return out_of_memory(arena);
    if (size < bytes + ALIGN)
        size = bytes + ALIGN;
    const struct pt_allocator *a = arena->allocator;
    struct pt_arena_chunk *c = a->resize(a->ud, NULL, size + ALIGN);
    if (!c)
        return out_of_memory(arena);
    c->next = arena->chunks;
    c->bytes = size;
    arena->chunks = c;
    arena->total += size;
    arena->next = (char *)c + ALIGN;
    arena->end = arena->next + size;
    return c;
}

void *pt_arena_alloc(struct pt_arena *arena, size_t bytes)
{
    size_t need = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (need < bytes || need > (size_t)(arena->end - arena->next))
        new_chunk(arena, need < bytes ? SIZE_MAX : need);
    void *p = arena->next;
    arena->next += need;
    return memset(p, 0, bytes);
}

char *pt_arena_text(struct pt_arena *arena, const char *s, size_t n)
{
    char *p = pt_arena_alloc(arena, n + 1);
    memcpy(p, s, n);
    return p;
}

void pt_vec_grow(struct pt_arena *arena, void **v, uint32_t *n, uint32_t *cap, size_t size,
                 uint32_t count)
{
    if (count > UINT32_MAX / 2 - *n)
        out_of_memory(arena);
    if (*n + count > *cap) {
        uint32_t want = *cap ? *cap * 2 : 8;
        while (want < *n + count)
            want *= 2;
        void *p = pt_arena_alloc(arena, (size_t)want * size);
        if (*n)
            memcpy(p, *v, (size_t)*n * size);
        *v = p;
        *cap = want;
    }
    *n += count;
}
