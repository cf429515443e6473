/* What an instruction computes, as a function over n lanes or a warp: for engines that do not want
 * to state it again. The functions are compiled for each CPU level, from the same inline code as
 * the interpreter's handlers (backend/semantics); an engine finds them through struct pt_engine.
 */
#ifndef PTERA_BACKEND_LANES_H
#define PTERA_BACKEND_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

/* d[i] = the operation on a[i], b[i], c[i], for i < n, a multiple of 4. Arrays that the operation
 * does not have may be NULL; d may be one of the others, but must not overlap one partly. Elements
 * have 8 bytes where the type has 64 bits, else 4: results of fewer bits are zero-extended, and
 * what lies above those bits in a source does not matter. Where it takes a kind, c points to that
 * (a uint64_t). */
typedef void pt_lanes_fn(void *d, const void *a, const void *b, const void *c, uint32_t n);

struct pt_lanes {
    const char
        *name; /* of the operation, "sin_approx_f32": the same at each level and in each process */
    pt_lanes_fn *fn;
    uint8_t bytes[4]; /* of the elements of d, a, b, c; 0: it has none */
    bool takes_kind;  /* it serves several operations: which, pt_engine.lanes tells */
};

/* D = A * B + C of the registers of a warp, 32 words each, those of a matrix one behind the other,
 * aligned to 64; at `d` lies C. Of all lanes. */
typedef void pt_product_fn(uint32_t (*d)[32], const uint32_t (*a)[32], const uint32_t (*b)[32]);

struct pt_product {
    const char *name; /* "f16_k16": the same at each level and in each process */
    pt_product_fn *fn;
};

/* A warp's texture instruction: by numbers or whole coordinates, of a texture with so many axes. */
enum pt_sampling {
    PT_SAMPLING_AXES = 3,    /* a mask */
    PT_SAMPLING_LAYERED = 4, /* it has layers */
    PT_SAMPLING_WHOLE = 8,
    PT_SAMPLING_SHARED = 16 /* handle[0] is all lanes' */
};

/* What its lanes have, and get. */
struct pt_sampled {
    uint64_t handle[32];
    uint32_t coordinate[3][32], layer[32], result[4][32];
} __attribute__((aligned(64)));

#endif
