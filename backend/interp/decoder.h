/* What the decoder knows of the function that it decodes. */
#ifndef PTERA_BACKEND_INTERP_DECODER_H
#define PTERA_BACKEND_INTERP_DECODER_H

#include "backend/interp/state.h"

enum { PT_NO_SLOT = UINT32_MAX, PT_CONSTANT_BUCKETS = 256, PT_FLAT_MAX = 160 };

/* code->ptr of a code will be the start of a block. */
struct pt_link {
    uint32_t code, block;
};

struct pt_decoder {
    struct pt_interp_program *program;
    const struct pt_image *image;
    struct pt_module *m;
    struct pt_func *f;
    struct pt_body *body;
    struct pt_arena *scratch;
    uint32_t *slots;       /* of registers */
    uint32_t *first_block; /* decoded number of each IR block */
    uint32_t frame_bytes;  /* so far */
    uint32_t sink;         /* the slot behind _, or NO_SLOT */
    uint32_t *buckets;     /* constants by value: index + 1 */
    uint32_t *chain;
    uint32_t chain_cap;
    uint32_t ir_block, block;
    bool is_first;       /* the instruction begins its decoded block */
    bool is_last;        /* the instruction ends its IR block */
    uint32_t link_block; /* of the code being made, or NO_SLOT */
    uint32_t n_accesses; /* so far */
    bool *is_in_flight;  /* by register: an operation in flight may use it; NULL: none may */
    PT_VEC(struct pt_link) links;
    PT_VEC(struct pt_code) before, behind;
    const void *facts[PT_OBSERVERS_MOST]; /* that observers found of the function */
    uint32_t access_behind; /* the one of them that accesses memory, counted from 1; 0: none does */
    uint8_t *addressed;     /* pt_call_graph_addressed, or NULL: no indirect call so far */
};

#endif
