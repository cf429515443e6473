/* Memory regions: everything of a module lives in one arena and dies with it. */
#ifndef PTERA_IR_ARENA_H
#define PTERA_IR_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

/* Where memory comes from; the embedder's callbacks, or malloc and free. `resize(ud, p, 0)`
 * frees. */
struct pt_allocator {
    void *(*resize)(void *ud, void *p, size_t bytes);
    void *ud;
};

struct pt_arena_chunk;

/* An arena never returns NULL: when memory runs out it jumps to *oom, which the entry point that
 * owns the arena has set (module load, lowering, decoding). The arena is then still whole and can
 * be freed. */
struct pt_arena {
    struct pt_arena_chunk *chunks;
    char *next, *end;
    size_t total; /* bytes taken from the allocator */
    const struct pt_allocator *allocator;
    jmp_buf *oom;
};

void pt_arena_init(struct pt_arena *arena, const struct pt_allocator *allocator);
void pt_arena_free(struct pt_arena *arena);
/* `bytes` zeroed bytes aligned to 16. */
void *pt_arena_alloc(struct pt_arena *arena, size_t bytes);
/* A NUL-terminated copy of `n` bytes. */
char *pt_arena_text(struct pt_arena *arena, const char *s, size_t n);

/* Growable arrays in an arena: PT_VEC(struct pt_insn) insns; then pt_vec_push(arena, &insns) gives
 * a pointer to a zeroed new element, valid until the next push. */
#define PT_VEC(type)     \
    struct {             \
        type *v;         \
        uint32_t n, cap; \
    }
#define pt_vec_push(arena, vec)                                                             \
    (pt_vec_grow((arena), (void **)&(vec)->v, &(vec)->n, &(vec)->cap, sizeof *(vec)->v, 1), \
     &(vec)->v[(vec)->n - 1])
/* Appends `count` zeroed elements and gives the first. */
#define pt_vec_extend(arena, vec, count)                                                          \
    (pt_vec_grow((arena), (void **)&(vec)->v, &(vec)->n, &(vec)->cap, sizeof *(vec)->v, (count)), \
     &(vec)->v[(vec)->n - (count)])
void pt_vec_grow(struct pt_arena *arena, void **v, uint32_t *n, uint32_t *cap, size_t size,
                 uint32_t count);

extern const struct pt_allocator pt_malloc_allocator;

#endif
