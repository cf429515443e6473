/* Registers that a kernel would need on a GPU. */
#ifndef PTERA_RUNTIME_REGISTERS_H
#define PTERA_RUNTIME_REGISTERS_H

#include "runtime/engine.h"

/* Of 32 bits, as NVIDIA's assembler counts them for sm_90: an estimate, whose error runtime/README.md states, never above
 * pt_registers_bound. The kernel is lowered. */
unsigned pt_registers_count(const ptera_kernel *kernel);
/* What .maxnreg allows, and what leaves room on an SM for the blocks that .minnctapersm wants, of .maxntid or .reqntid threads. */
unsigned pt_registers_bound(const struct pt_func *f);

#endif
