/* Buffers, launches and arguments of a case. */
#include "tests/bench/add.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/bench/random.h"

/* In huge pages, so that page size is the same for everyone. Buffers begin at different places of a
 * page: where all begin at the same, a load seems to some CPUs to depend on a store to another
 * buffer. */
enum { HUGE_PAGE = 2 << 20 };

void *add_memory(size_t n)
{
    static size_t stagger;
    size_t bytes = (n + 4096 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *p = aligned_alloc(HUGE_PAGE, bytes);
    if (!p)
        abort();
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    stagger = (stagger + 1280) % 4096;
    return p + stagger;
}

void add_free_memory(void *p)
{
    if (p)
        free((char *)p - (uintptr_t)p % HUGE_PAGE);
}

static const size_t bytes_of[BENCH_TYPES] = {
    [BENCH_F32] = 4, [BENCH_F64] = 8, [BENCH_F16] = 2, [BENCH_BF16] = 2, [BENCH_U8] = 1,
    [BENCH_I8] = 1,  [BENCH_U16] = 2, [BENCH_U32] = 4, [BENCH_U64] = 8};

int add_buffer(struct bench_case *c, enum bench_type type, size_t n, unsigned flags)
{
    if (c->n_buffers == BENCH_BUFFERS)
        abort();
    struct bench_buffer *b = &c->buffer[c->n_buffers];
    *b = (struct bench_buffer){.type = type, .flags = flags, .n = n, .bytes = n * bytes_of[type]};
    b->host = add_memory(b->bytes);
    return c->n_buffers++;
}

int add_floats(struct bench_case *c, size_t n, unsigned flags, uint32_t salt, float low, float high)
{
    int b = add_buffer(c, BENCH_F32, n, flags);
    for (size_t i = 0; i < n; i++)
        F(c, b)[i] = low + (high - low) * unit_of((uint32_t)i, salt);
    return b;
}

int add_doubles(struct bench_case *c, size_t n, unsigned flags, uint32_t salt, double low,
                double high)
{
    int b = add_buffer(c, BENCH_F64, n, flags);
    for (size_t i = 0; i < n; i++)
        D(c, b)[i] = low + (high - low) * unit_of((uint32_t)i, salt);
    return b;
}

int add_bits(struct bench_case *c, enum bench_type type, size_t n, unsigned flags, uint32_t salt)
{
    int b = add_buffer(c, type, n, flags);
    size_t bytes = c->buffer[b].bytes;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = hash_of((uint32_t)(i / 4) * 0x9E3779B9u + salt);
        memcpy(AS(char, c, b) + i, &word, bytes - i < 4 ? bytes - i : 4);
    }
    return b;
}

struct bench_launch *add_launch(struct bench_case *c, const char *kernel, unsigned grid,
                                unsigned block)
{
    c->launch = realloc(c->launch, sizeof *c->launch * (size_t)(c->n_launches + 1));
    if (!c->launch)
        abort();
    struct bench_launch *l = &c->launch[c->n_launches++];
    *l = (struct bench_launch){.kernel = kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}};
    return l;
}

void add_shape(struct bench_launch *l, unsigned gy, unsigned gz, unsigned by)
{
    l->grid[1] = gy;
    l->grid[2] = gz;
    l->block[1] = by;
}

void add_structure(struct bench_launch *l, const void *value, size_t bytes)
{
    if (l->n_arguments == BENCH_ARGUMENTS || bytes > BENCH_ARGUMENT_BYTES)
        abort();
    struct bench_argument *a = &l->argument[l->n_arguments++];
    a->bytes = (unsigned)bytes;
    memcpy(a->raw, value, bytes);
}

void add_buffer_argument(struct bench_launch *l, int buffer)
{
    add_structure(l, &buffer, sizeof buffer);
    l->argument[l->n_arguments - 1].is_buffer = true;
}

void add_texture(struct bench_launch *l, const struct bench_texture *texture)
{
    add_structure(l, texture, sizeof *texture);
    l->argument[l->n_arguments - 1].is_texture = true;
}

void add_u32(struct bench_launch *l, uint32_t u)
{
    add_structure(l, &u, sizeof u);
}

void add_u64(struct bench_launch *l, uint64_t u)
{
    add_structure(l, &u, sizeof u);
}

void add_f32(struct bench_launch *l, float f)
{
    add_structure(l, &f, sizeof f);
}

void add_f64(struct bench_launch *l, double d)
{
    add_structure(l, &d, sizeof d);
}
