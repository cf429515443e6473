/* Why a kernel's result is what the interpreter makes it. */
#ifndef PTERA_TOOLS_FUZZ_EXPLAIN_H
#define PTERA_TOOLS_FUZZ_EXPLAIN_H

#include <stddef.h>
#include <stdio.h>

struct gen_kernel;

/* Writes the steps that made byte `at` of the kernel's out, or behind it of sums, as comments. In a
 * process of its own. */
void explain_byte(const struct gen_kernel *kernel, const char *text, size_t at, FILE *out);

#endif
