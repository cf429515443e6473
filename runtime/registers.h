/* Registers that a kernel would need on a GPU. */
#ifndef PTERA_RUNTIME_REGISTERS_H
#define PTERA_RUNTIME_REGISTERS_H

#include "runtime/engine.h"

/* Of 32 bits, as NVIDIA's assembler counts them for sm_90: an estimate, whose error
 * runtime/README.md states, never above pt_pressure_bound. The kernel is lowered; it keeps the
 * number. */
unsigned pt_registers_count(ptera_kernel *kernel);

#endif
