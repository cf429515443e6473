/* How many registers a kernel's values need in the orders that an assembler may give its
 * instructions. */
#ifndef PTERA_RUNTIME_PRESSURE_H
#define PTERA_RUNTIME_PRESSURE_H

#include "ir/ir.h"

enum pt_pressure {
#define PRESSURE(name, what) PT_PRESSURE_##name,
#include "runtime/pressure.def"
    PT_PRESSURE_COUNT
};

/* The most registers that .maxnreg allows, and that leave room on an SM for as many blocks, of
 * .maxntid or .reqntid threads, as .minnctapersm wants. */
uint32_t pt_pressure_bound(const struct pt_func *f);

/* The function is lowered. Work is done in `arena`. */
void pt_pressure_find(const struct pt_module *m, const struct pt_func *f, int32_t *pressure,
                      struct pt_arena *arena);

#endif
