/* Reductions of elements in memory. */
#ifndef PTERA_BACKEND_INTERP_REDUCE_H
#define PTERA_BACKEND_INTERP_REDUCE_H

#include "backend/interp/state.h"

/* Joins `bytes` of elements at generic address `from` with those at `to`: access code. */
typedef void (*pt_join)(uint64_t to, uint64_t from, uint32_t bytes);

enum pt_reduce {
    PT_REDUCE_ADD,
    PT_REDUCE_MIN,
    PT_REDUCE_MAX,
    PT_REDUCE_INC,
    PT_REDUCE_DEC,
    PT_REDUCE_AND,
    PT_REDUCE_OR,
    PT_REDUCE_XOR,
    PT_REDUCE_COUNT
};
#define pt_reduce_of PT_LEVEL_NAME(pt_reduce_of)
enum pt_reduce pt_reduce_of(const struct pt_form *form);
/* Of elements of an enum pt_element; NULL if the hardware does not reduce those. */
#define pt_reduce_join PT_LEVEL_NAME(pt_reduce_join)
pt_join pt_reduce_join(enum pt_reduce op, uint32_t element);
/* The element that a PTX type is, as far as reductions tell. */
#define pt_reduce_element PT_LEVEL_NAME(pt_reduce_element)
uint32_t pt_reduce_element(enum pt_type type);

#endif
