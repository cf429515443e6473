/* The code for GPUs that a program carries. */
#ifndef PTERA_TOOLS_DOCTOR_CODE_H
#define PTERA_TOOLS_DOCTOR_CODE_H

#include "tools/audit/elf.h"

/* Looks at the code, and at each of its kernels; tells what cannot run. */
void doctor_code(const struct elf *elf);

#endif
