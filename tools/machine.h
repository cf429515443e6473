/* What this machine can do at most. */
#ifndef PTERA_TOOLS_MACHINE_H
#define PTERA_TOOLS_MACHINE_H

#include <stdbool.h>

struct machine {
    double gflops; /* of 32 bits, as fused multiply-adds */
    double gbytes; /* a second, read and written */
};

/* Measures it with kernels that are native code; takes some tenths of a second. False: they cannot
 * run. */
bool machine_measure(struct machine *machine);

#endif
