/* An instruction that is being drawn from the table. */
#ifndef PTERA_TOOLS_FUZZ_DRAW_H
#define PTERA_TOOLS_FUZZ_DRAW_H

#include "ir/row.h"
#include "tools/fuzz/build.h"

enum { DRAWN_RESULTS = 16 };

struct drawn {
    struct pt_form form;
    char spelling[256], operands[1024];
    const char *before; /* lines that the operands need */
    bool uniform, has_constant;
    const char *written[DRAWN_RESULTS]; /* destinations: all different */
    enum pt_type type[DRAWN_RESULTS];   /* of them */
    unsigned n_written;
    unsigned element; /* of a vector, from 1; 0: of none */
    /* of the place, if results may be such; NULL: they go to variables */
    struct gen_values *values;
    struct gen_value made[DRAWN_RESULTS];
    unsigned n_made;
    const struct gen_wish *wish; /* what an operand has to be; NULL: anything */
    bool is_granted;             /* the wish's is */
    unsigned place;              /* %x<place>: a barrier's address; 0: there is none */
    bool is_place;               /* coordinates of a texture or surface are being drawn */
};

/* form.c: a token of the spelling. False: what it says is not drawn without a wish. */
bool draw_token(struct drawn *d, unsigned token);
/* No kernel for a GPU has what NVIDIA makes something of its own of: see gen_make. */
bool draw_is_for_gpu(const struct drawn *d);

/* slot.c. False: no register holds the type. */
bool draw_class(const struct pt_slot *slot, enum pt_type type, enum gen_class *class);
/* A constant for the slot. False: it takes none. */
bool draw_constant(struct gen *g, const struct pt_slot *slot, enum pt_type type, char *text,
                   size_t n);
/* Where the slot may have a selector; `has_to`: in any case. */
void draw_selector(struct gen *g, struct drawn *d, const struct pt_slot *slot, bool has_to);
/* NVIDIA's assembler computes it wrong where it knows operands or what made them. */
bool draw_is_folded_wrong(const struct drawn *d);

/* want.c: operands for wishes, in registers of their own. */
bool draw_wanted(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                 const struct gen_place *place);

/* operand.c: a part of an operand. */
bool draw_operand(struct gen *g, struct drawn *d, const struct pt_slot *slot,
                  const struct gen_place *place);

/* want_image.c: the reference of a texture or surface, or the address of one, or a register with
 * it. */
bool draw_is_image(const struct drawn *d, const struct pt_slot *slot);
const char *draw_image(struct gen *g, struct drawn *d, const struct pt_slot *slot);
/* A coordinate of an access that counts bytes, or must lie inside. False: it may be anything. */
bool draw_coordinate(struct gen *g, const struct drawn *d, const struct pt_slot *slot,
                     uint32_t *value);
/* The wish is for a coordinate outside a surface, where the instruction faults. */
bool draw_may_be_outside(const struct drawn *d);

/* operand.c. False if what was drawn cannot be written with our registers. */
bool draw_operands(struct gen *g, struct drawn *d, const struct gen_place *place);
/* Lines that make the one NaN of all NaNs in the results. */
const char *draw_settled(struct gen *g, const struct drawn *d);

#endif
