/* Who calls whom: what a function reaches, and whom an indirect call may call. */
#ifndef PTERA_IR_CALL_GRAPH_H
#define PTERA_IR_CALL_GRAPH_H

#include "ir/ir.h"

/* By function: 1 where an instruction or an initialiser of the module takes its address. In
 * `arena`. */
uint8_t *pt_call_graph_addressed(const struct pt_module *m, struct pt_arena *arena);

/* What the call of `f` may find at its address: the functions that its table or array names; with a
 * prototype, those of `addressed` that have its parameters and results. Each once, aliases as such,
 * without kernels and functions that are only declared. */
uint32_t *pt_call_graph_callees(const struct pt_module *m, const struct pt_func *f,
                                const struct pt_insn *call, const uint8_t *addressed,
                                struct pt_arena *arena, uint32_t *n);

/* The function that an alias stands for; others stand for themselves. */
static inline uint32_t pt_call_graph_aliased(const struct pt_module *m, uint32_t func)
{
    while (func && m->funcs.v[func].alias_of)
        func = m->funcs.v[func].alias_of;
    return func;
}

/* The functions that may run when `func` is called: itself first, then what it calls, aliases
 * resolved, functions that are only declared included. Where a call is indirect and its targets are
 * not listed, every function that is not a kernel. They need not be lowered. */
uint32_t *pt_call_graph_reachable(const struct pt_module *m, uint32_t func, struct pt_arena *arena,
                                  uint32_t *n);

/* By function: 1 for those that calls of `func`, and of what these call, name, and for itself: what
 * only an indirect call may find is left out. Aliases resolved. In `arena`. */
const uint8_t *pt_call_graph_named(const struct pt_module *m, uint32_t func,
                                   struct pt_arena *arena);

/* By symbol: 1 where what may run when `func` is called names the variable. *reached: by function,
 * whether it may run. In `arena`. */
uint8_t *pt_call_graph_symbols(const struct pt_module *m, uint32_t func, struct pt_arena *arena,
                               const uint8_t **reached);

#endif
