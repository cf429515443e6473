/* What is known of an integer in the lanes of a chunk and of a group (ir/vary.h), and arithmetic on that. */
#ifndef PTERA_IR_AFFINE_H
#define PTERA_IR_AFFINE_H

#include "ir/vary.h"

/* The stretches of threads that values are looked at over. */
enum { PT_SPAN_CHUNK, PT_SPAN_GROUP, PT_SPANS };

struct pt_fact {
    bool is_known;           /* false: no definition has been seen yet */
    bool is_const;
    bool is_affine;          /* over a chunk; the level is LANE */
    bool is_affine_in_group; /* over the whole group as well */
    bool may_wrap;           /* as in struct pt_value */
    uint8_t level;           /* enum pt_level */
    uint8_t align[PT_SPANS]; /* log2 of what the value in the first lane of the span is a multiple of */
    int64_t stride;
    uint64_t value;          /* is_const */
    uint64_t max;            /* no thread has more, as an unsigned number */
};

enum pt_fact_op {
    PT_FACT_ADD,
    PT_FACT_SUB,
    PT_FACT_MUL,
    PT_FACT_AND,
    PT_FACT_OR,
    PT_FACT_XOR,
    PT_FACT_SHL,
    PT_FACT_SHR, /* unsigned */
    PT_FACT_SAR
};

enum pt_fact_cmp { PT_FACT_LT, PT_FACT_LE, PT_FACT_GT, PT_FACT_GE };

/* The lanes of the spans, and how integers of one width behave. */
struct pt_width {
    const uint32_t *lanes; /* by span */
    unsigned bits;         /* at most 64 */
};

struct pt_fact pt_fact_const(uint64_t value, unsigned bits);
/* Of `level`, otherwise anything of that width. */
struct pt_fact pt_fact_any(enum pt_level level, unsigned bits);
/* first + lane over the span, and all of it below `n`. */
struct pt_fact pt_fact_lanes(const uint32_t *lanes, bool is_in_group, uint64_t n);

struct pt_fact pt_fact_op(enum pt_fact_op op, const struct pt_fact *a, const struct pt_fact *b,
                          struct pt_width w);
/* The low `from` bits, extended or cut to w.bits. */
struct pt_fact pt_fact_cvt(const struct pt_fact *a, unsigned from, bool is_signed, struct pt_width w);
/* The level of `a cmp b`. */
enum pt_level pt_fact_compare(enum pt_fact_cmp cmp, bool is_signed, const struct pt_fact *a,
                              const struct pt_fact *b, struct pt_width w);

/* A register that holds the one or the other; true if *into changes. */
bool pt_fact_join(struct pt_fact *into, const struct pt_fact *other, unsigned bits);
/* The value differs between larger sets than it seems; true if that is new. */
bool pt_fact_raise(struct pt_fact *fact, enum pt_level level);

#endif
