/* Register pressure in the order of the text: how much is live where most is. */
#ifndef PTERA_RUNTIME_REGISTERS_PRESSURE_H
#define PTERA_RUNTIME_REGISTERS_PRESSURE_H

#include "runtime/registers/register_file.h"

/* In halves of 32 bits; each the most of all places. */
struct pt_pressure {
    int32_t all;
    int32_t vector;  /* of a thread's own registers */
    int32_t loop;    /* vector, in loops */
    int32_t uniform; /* all that vector leaves out */
    int32_t wide;    /* vector, of values of 64 bits */
    int32_t kept;    /* vector, without what rematerialisation spares */
    int32_t spread;  /* vector, where registers are plentiful */
};

struct pt_pressure pt_pressure_find(const struct pt_code *code,
                                    const struct pt_register_file *file);

#endif
