/* The kernels of the set as data: buffers, what is in them, launches, sizes. Whoever runs a case
 * runs its launches in order, or computes the same by other means, and must come to the same digest
 * (digest.h). */
#ifndef PTERA_TESTS_BENCH_CASE_H
#define PTERA_TESTS_BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_type { BENCH_F32, BENCH_U32 };

enum {
    BENCH_OUT = 1,  /* counts in the digest */
    BENCH_RESET = 2 /* written and read by the kernels: restored before each run */
};

struct bench_buffer {
    enum bench_type type;
    unsigned flags;
    size_t n;    /* elements of 4 bytes */
    void *host;  /* what the kernels work on */
    void *start; /* of BENCH_RESET: the contents to restore; else NULL */
};

struct bench_argument {
    bool is_buffer;
    union {
        int buffer;
        uint32_t u;
        float f;
    };
};

enum { BENCH_ARGUMENTS = 8, BENCH_BUFFERS = 12 };

struct bench_launch {
    const char *kernel;
    unsigned grid[3], block[3];
    unsigned n_arguments;
    struct bench_argument argument[BENCH_ARGUMENTS];
};

/* What bounds a case on an ideal machine: the rate of a limit case of that name, in bytes or
 * operations. */
enum bench_limit { LIMIT_NONE, LIMIT_READ, LIMIT_SCALE, LIMIT_UPDATE, LIMIT_FMA, LIMITS };

struct bench_case;

/* One row of the table. */
struct bench_kind {
    const char *name;
    const char *file; /* kernels/FILE.{cu,ptx,cl} */
    void (*make)(struct bench_case *, unsigned size);
    unsigned full, quick; /* sizes */
    enum bench_limit limit;
    bool is_limit;  /* measures `limit` itself, by a twin only */
    bool is_launch; /* measures launches: each ends before the next begins */
};

struct bench_case {
    const struct bench_kind *kind;
    unsigned size;
    int n_buffers, n_launches;
    struct bench_buffer buffer[BENCH_BUFFERS];
    struct bench_launch *launch;
    double
        work; /* in the unit of its limit: compulsory traffic in bytes, or operations; 0: no nominal
               * count */
};

/* Row `index` of the table; NULL past the last. */
const struct bench_kind *bench_kind(int index);

/* Makes a case, its buffers filled, for the life of the process. NULL, or why the size does not
 * suit the kernel. */
const char *bench_case_make(struct bench_case *c, const struct bench_kind *kind, unsigned size);
void bench_case_reset(struct bench_case *c);

/* For twins: the elements of a buffer. */
#define F(c, i) ((float *)(c)->buffer[i].host)
#define U(c, i) ((uint32_t *)(c)->buffer[i].host)

#endif
