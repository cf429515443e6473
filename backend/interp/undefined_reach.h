/* Which registers of a function may come to hold no value, and what makes them. */
#ifndef PTERA_BACKEND_INTERP_UNDEFINED_REACH_H
#define PTERA_BACKEND_INTERP_UNDEFINED_REACH_H

#include "backend/interp/undefined.h"

struct pt_undefined_reach {
    const struct pt_module *module;
    bool *may; /* by register */
};

#define pt_undefined_reach_find PT_LEVEL_NAME(pt_undefined_reach_find)
/* A struct pt_undefined_reach. */
const void *pt_undefined_reach_find(const struct pt_module *m, const struct pt_func *func,
                                    struct pt_arena *arena);
#define pt_undefined_reach_has PT_LEVEL_NAME(pt_undefined_reach_has)
/* The instruction uses one of them, or writes it. */
bool pt_undefined_reach_has(const struct pt_undefined_reach *reach, const struct pt_func *func,
                            const struct pt_insn *insn);
#define pt_undefined_reach_is_zero PT_LEVEL_NAME(pt_undefined_reach_is_zero)
/* Lowering sets registers to zero that may be read before they are written: moves on the line of
 * the function itself. */
bool pt_undefined_reach_is_zero(const struct pt_func *func, const struct pt_insn *insn);
#define pt_undefined_reach_is_plain PT_LEVEL_NAME(pt_undefined_reach_is_plain)
/* Loads and stores that are followed. */
bool pt_undefined_reach_is_plain(const struct pt_form *form, bool is_write);

#endif
