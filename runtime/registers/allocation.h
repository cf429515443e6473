/* How many registers the assembler takes: it orders instructions so that as many warps as
 * possible fit an SM, then spreads values over what registers that leaves. */
#ifndef PTERA_RUNTIME_REGISTERS_ALLOCATION_H
#define PTERA_RUNTIME_REGISTERS_ALLOCATION_H

#include "runtime/registers/expansion.h"
#include "runtime/registers/schedule.h"

/* Orders of a function's regions: the most that each needs, in halves. */
struct pt_allocation_orders {
    int32_t text, late;
    int32_t lazy;                     /* all late */
    int32_t frugal;                   /* a list scheduler's that has no registers to spare */
    int32_t backward;                 /* from the end */
    int32_t least;                    /* what needs least, region by region */
    struct pt_schedule_need fast;     /* by latency alone */
    struct pt_schedule_need unrolled; /* likewise, short loops unrolled */
};

struct pt_allocation {
    struct pt_allocation_orders orders;
    int32_t target;               /* the registers that the order is to stay within */
    struct pt_schedule_need need; /* then, in halves, overhead included */
    int32_t registers;
    uint32_t regions, short_loops, longest; /* longest: in instructions */
};

/* The least number of registers, of those with which an SM holds fewer warps than with one more,
 * that is not below n; the greatest that is (0: there is none). */
int32_t pt_allocation_step(int32_t n);
int32_t pt_allocation_step_below(int32_t n);

/* `bound`: the registers that directives allow. Everything is in code->arena. */
struct pt_allocation pt_allocation_find(const struct pt_code *code,
                                        const struct pt_register_file *file,
                                        const struct pt_expansion_pressure *expansions,
                                        uint32_t bound);

#endif
