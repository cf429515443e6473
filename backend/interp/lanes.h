/* The tables of functions over n lanes: one a list of backend/semantics, in the file with the
 * list's handlers. */
#ifndef PTERA_BACKEND_INTERP_LANES_H
#define PTERA_BACKEND_INTERP_LANES_H

#include "backend/interp/interp.h"

struct pt_lanes_row {
    struct pt_lanes lanes; /* name NULL: the end */
    pt_handler handler;    /* of the same operation */
};

#define PT_LANES_LISTS(X) X(integer) X(logic) X(float) X(half) X(mufu) X(convert) X(move)
#define X(list) extern const struct pt_lanes_row PT_LEVEL_NAME(pt_lanes_##list)[];
PT_LANES_LISTS(X)
#undef X

#define pt_lanes_of PT_LEVEL_NAME(pt_lanes_of)
const struct pt_lanes *pt_lanes_of(struct pt_module *module, const struct pt_form *form,
                                   uint64_t *kind);
#define pt_lanes_named PT_LEVEL_NAME(pt_lanes_named)
const struct pt_lanes *pt_lanes_named(const char *name);

#endif
