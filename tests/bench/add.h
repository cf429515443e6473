/* What a case is made of: its table's `make` adds buffers, launches and their arguments, in the
 * order of the kernel's parameters. */
#ifndef PTERA_TESTS_BENCH_ADD_H
#define PTERA_TESTS_BENCH_ADD_H

#include "tests/bench/case.h"

/* Zeroed, in huge pages where the system has them on demand. */
void *add_memory(size_t bytes);
void add_free_memory(void *p);

/* Return the buffer's index. */
int add_buffer(struct bench_case *c, enum bench_type type, size_t n, unsigned flags);
/* Filled with random numbers from [low, high); another salt, other numbers. */
int add_floats(struct bench_case *c, size_t n, unsigned flags, uint32_t salt, float low,
               float high);
int add_doubles(struct bench_case *c, size_t n, unsigned flags, uint32_t salt, double low,
                double high);
/* Filled with random bits, whatever the type. */
int add_bits(struct bench_case *c, enum bench_type type, size_t n, unsigned flags, uint32_t salt);

struct bench_launch *add_launch(struct bench_case *c, const char *kernel, unsigned grid,
                                unsigned block);
void add_shape(struct bench_launch *l, unsigned gy, unsigned gz, unsigned by);

void add_buffer_argument(struct bench_launch *l, int buffer);
void add_texture(struct bench_launch *l, const struct bench_texture *texture);
void add_u32(struct bench_launch *l, uint32_t u);
void add_u64(struct bench_launch *l, uint64_t u);
void add_f32(struct bench_launch *l, float f);
void add_f64(struct bench_launch *l, double d);
void add_structure(struct bench_launch *l, const void *value, size_t bytes);

static inline unsigned divide_up(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

#endif
