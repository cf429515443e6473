/* What the files of `ptera doctor` share. */
#ifndef PTERA_TOOLS_DOCTOR_H
#define PTERA_TOOLS_DOCTOR_H

#include "tools/audit/elf.h"

/* Tells, and counts, something that stands in the way. */
__attribute__((format(printf, 1, 2))) void doctor_problem(const char *format, ...);
/* doctor_code.c: looks at the code for GPUs that a program carries, and at each of its kernels. */
void doctor_code(const struct elf *elf);

#endif
