/* Registers that a kernel would need on a GPU. */
#ifndef PTERA_RUNTIME_REGISTERS_H
#define PTERA_RUNTIME_REGISTERS_H

#include "runtime/engine.h"

/* At least these of 32 bits: as many as are live at one place, an allocator's lower bound, within .maxnreg. The kernel is lowered. */
unsigned pt_registers_count(const ptera_kernel *kernel);

#endif
