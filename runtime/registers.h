/* Registers that a kernel would need on a GPU. */
#ifndef PTERA_RUNTIME_REGISTERS_H
#define PTERA_RUNTIME_REGISTERS_H

#include "runtime/engine.h"

/* The most registers that .maxnreg allows, and that leave room on an SM for as many blocks, of
 * .maxntid or .reqntid threads, as .minnctapersm wants. */
uint32_t pt_registers_bound(const struct pt_func *f);

/* Of 32 bits, as NVIDIA's assembler counts them for sm_90: an estimate, whose error
 * runtime/registers/README.md states, never above pt_registers_bound. The kernel is lowered; it
 * keeps the number. */
unsigned pt_registers_count(ptera_kernel *kernel);

#endif
