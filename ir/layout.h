/* Where variables lie: of the module, of a kernel, of an activation. */
#ifndef PTERA_IR_LAYOUT_H
#define PTERA_IR_LAYOUT_H

#include "ir/ir.h"

/* The place of the next parameter of a kernel, at its own alignment behind those before it;
 * f->param_size grows to its end. False: that is beyond `limit` bytes. */
bool pt_layout_parameter(struct pt_func *f, struct pt_symbol *parameter, uint64_t limit);

/* The variable has a place in memory of that space: .global or .const. */
bool pt_layout_is_placed(const struct pt_symbol *s, enum pt_space space);

/* The first variable of the module's constant bank, which tells where its window begins; PT_NONE:
 * it has none. */
uint32_t pt_layout_first_constant(const struct pt_module *m);

/* Offsets of the .local and .param variables of a function; sets f->local_size. False: 4 GiB or
 * more. */
bool pt_layout_frame(struct pt_module *m, struct pt_func *f);

/* Shared memory of one kernel: the variables that it and what it may call use, in order of
 * declaration. */
struct pt_shared {
    uint32_t n;
    const uint32_t *symbols; /* .shared variables, unsized ones (dynamic shared memory) included */
    const uint64_t *
        offsets; /* of symbols[i], from the start of the user's part of the window; of an unsized
                    one: `bytes` rounded up to `dynamic_align` */
    uint64_t bytes;         /* of the sized variables */
    uint32_t align;         /* the strictest of all of them, at least 16 */
    uint32_t dynamic_align; /* of the unsized ones, at least 16 */
};
void pt_layout_shared(const struct pt_module *m, uint32_t kernel, struct pt_shared *shared,
                      struct pt_arena *arena);

#endif
