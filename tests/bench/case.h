/* The kernels of the sets as data: buffers, what is in them, launches, sizes. Whoever runs a case
 * runs its launches in order, or computes the same by other means, and must come to the same digest
 * (digest.h). */
#ifndef PTERA_TESTS_BENCH_CASE_H
#define PTERA_TESTS_BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_type {
    BENCH_F32,
    BENCH_F64,
    BENCH_F16,
    BENCH_BF16,
    BENCH_U8,
    BENCH_I8,
    BENCH_U16,
    BENCH_U32,
    BENCH_U64,
    BENCH_TYPES
};

enum {
    BENCH_OUT = 1,   /* counts in the digest */
    BENCH_RESET = 2, /* written and read by the kernels: restored before each run */
    BENCH_NEAR = 4   /* integers that floats were rounded to: they may differ as floats may */
};

struct bench_buffer {
    enum bench_type type;
    unsigned flags;
    size_t n, bytes; /* n elements */
    void *host;      /* what the kernels work on */
    void *start;     /* of BENCH_RESET: the contents to restore; else NULL */
};

enum { BENCH_ARGUMENTS = 16, BENCH_BUFFERS = 16, BENCH_ARGUMENT_BYTES = 64 };

/* A texture over a buffer, clamped: bytes, normalised, or f32; a channel or four. */
struct bench_texture {
    int buffer;
    unsigned axes, size[3], channels; /* sizes are 1 beyond the axes */
    bool is_bytes, is_linear, is_normalized;
    uint64_t handle; /* 0 until it is asked for */
};

struct bench_argument {
    bool is_buffer, is_texture;
    unsigned bytes; /* of a value */
    union {
        int buffer;
        struct bench_texture texture;
        uint32_t u;
        uint64_t ul;
        float f;
        double d;
        unsigned char raw[BENCH_ARGUMENT_BYTES]; /* a structure */
    };
};

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

/* One row of a table. */
struct bench_kind {
    const char *name;
    const char *file; /* kernels/FILE.{cu,ptx,cl,c}; of FILE the last part names the twin */
    void (*make)(struct bench_case *, unsigned size);
    unsigned full, quick; /* sizes */
    enum bench_limit limit;
    unsigned multiple; /* which sizes must be of; 0: any. Kernels without guards have whole tiles */
    bool is_power;     /* sizes must be powers of two */
    bool is_limit;     /* measures `limit` itself, by a twin only */
    bool is_launch;    /* measures launches: each ends before the next begins */
};

struct bench_case {
    const struct bench_kind *kind;
    unsigned size;
    int n_buffers, n_launches;
    struct bench_buffer buffer[BENCH_BUFFERS];
    struct bench_launch *launch;
    int times; /* that the launches are run, one after the other */
    double
        work; /* in the unit of its limit: compulsory traffic in bytes, or operations; 0: no nominal
               * count */
};

/* Row `index` of all tables; NULL past the last. */
const struct bench_kind *bench_kind(int index);
/* The set that has a row, and its group there. */
const char *bench_set_of(const struct bench_kind *kind);
const char *bench_group_of(const struct bench_kind *kind);

/* Makes a case, its buffers filled, up to bench_case_free. NULL, or why the size does not suit the
 * kernel. */
const char *bench_case_make(struct bench_case *c, const struct bench_kind *kind, unsigned size);
void bench_case_reset(struct bench_case *c);
void bench_case_free(struct bench_case *c);
/* What a launch of Ptera's is given for an argument, for the life of the case; NULL: no memory. */
const void *bench_case_value(struct bench_case *c, struct bench_argument *argument);

/* For twins: the elements of a buffer, as what they are. */
#define AS(type, c, i) ((type *)(c)->buffer[i].host)
#define F(c, i) AS(float, c, i)
#define U(c, i) AS(uint32_t, c, i)
#define D(c, i) AS(double, c, i)

#endif
