/* What is known of an integer in the lanes of a chunk and of a group (ir/uniformity.h), and
 * arithmetic on that. */
#ifndef PTERA_IR_AFFINE_H
#define PTERA_IR_AFFINE_H

#include "ir/uniformity.h"

/* The stretches of threads that values are looked at over. */
enum { PT_SPAN_CHUNK, PT_SPAN_GROUP, PT_SPANS };

struct pt_affine {
    bool is_known;           /* false: no definition has been seen yet */
    bool is_const;
    bool is_affine;          /* over a chunk; the level is LANE */
    bool is_affine_in_group; /* over the whole group as well */
    bool may_wrap;           /* as in struct pt_value */
    uint8_t level;           /* enum pt_level */
    uint8_t align[PT_SPANS]; /* log2 of what the value in the first lane of the span is a multiple
                                of */
    int64_t stride;
    uint64_t value;          /* is_const */
    uint64_t max;            /* no thread has more, as an unsigned number */
};

enum pt_affine_op {
    PT_AFFINE_ADD,
    PT_AFFINE_SUB,
    PT_AFFINE_MUL,
    PT_AFFINE_AND,
    PT_AFFINE_OR,
    PT_AFFINE_XOR,
    PT_AFFINE_SHL,
    PT_AFFINE_SHR, /* unsigned */
    PT_AFFINE_SAR
};

enum pt_affine_cmp { PT_AFFINE_LT, PT_AFFINE_LE, PT_AFFINE_GT, PT_AFFINE_GE };

/* The lanes of the spans, and how integers of one width behave. */
struct pt_width {
    const uint32_t *lanes; /* by span */
    unsigned bits;         /* at most 64 */
};

struct pt_affine pt_affine_const(uint64_t value, unsigned bits);
/* Of `level`, otherwise anything of that width. */
struct pt_affine pt_affine_any(enum pt_level level, unsigned bits);
/* first + lane over the span, and all of it below `n`. */
struct pt_affine pt_affine_lanes(const uint32_t *lanes, bool is_in_group, uint64_t n);

struct pt_affine pt_affine_op(enum pt_affine_op op, const struct pt_affine *a,
                              const struct pt_affine *b, struct pt_width w);
/* The low `from` bits, extended or cut to w.bits. */
struct pt_affine pt_affine_cvt(const struct pt_affine *a, unsigned from, bool is_signed,
                               struct pt_width w);
/* The lower of two, or the higher. An affine one whose lanes are all on one side of the other,
 * which all lanes share, stays as it is: code has to test that, as it does where the form may
 * wrap. */
struct pt_affine pt_affine_limit(bool is_min, bool is_signed, const struct pt_affine *a,
                                 const struct pt_affine *b, struct pt_width w);
/* The level of `a cmp b`. */
enum pt_level pt_affine_compare(enum pt_affine_cmp cmp, bool is_signed, const struct pt_affine *a,
                                const struct pt_affine *b, struct pt_width w);

/* A register that holds the one or the other; true if *into changes. */
bool pt_affine_join(struct pt_affine *into, const struct pt_affine *other, unsigned bits);
/* The value differs between larger sets than it seems; true if that is new. */
bool pt_affine_raise(struct pt_affine *fact, enum pt_level level);

#endif
