/* The products of tiles that an instruction is made of, and which registers hold what. */
#ifndef PTERA_BACKEND_INTERP_MMA_STEP_H
#define PTERA_BACKEND_INTERP_MMA_STEP_H

#include "backend/interp/interp.h"

enum { PT_MMA_STEP_REGS = 8, PT_MMA_STEPS = 4 };

/* A matrix in registers. */
struct pt_mma_fragment {
    uint32_t slot[PT_MMA_STEP_REGS];
    uint8_t n;
    uint8_t type; /* enum pt_type */
    uint8_t bits; /* of an element; b1: of a word */
    bool is_signed;
};

struct pt_mma_step {
    struct pt_mma_fragment d, a, b, c;
    uint8_t rows, k; /* of A; k as stored; b1: words */
    uint8_t round;   /* enum pt_round, of f64 */
    uint8_t before;  /* C is the result of this tile (its number + 1), if not 0 */
    bool is_sparse, saturates, is_xor;
    uint8_t selector;  /* of the metadata */
    uint32_t metadata; /* slot */
};

#define pt_mma_step_is_of PT_LEVEL_NAME(pt_mma_step_is_of)
/* The code is of c->n products of elements of up to 32 bits, which c->ptr names. */
bool pt_mma_step_is_of(const struct pt_code *c);

/* Bits of registers that hold no value, by slots. */
struct pt_mma_step_bits {
    void *ud;
    void (*get)(void *ud, uint32_t slot, uint32_t bits[PT_WARP_SIZE]);
    void (*set)(void *ud, uint32_t slot, const uint32_t bits[PT_WARP_SIZE]);
};
#define pt_mma_step_lose PT_LEVEL_NAME(pt_mma_step_lose)
/* Those of the results: of an element all, where its row of A, its column of B or its element of C
 * has one. */
void pt_mma_step_lose(const struct pt_code *c, const struct pt_mma_step_bits *bits);

#endif
