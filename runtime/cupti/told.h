/* What the driver tells, as callbacks and records; and what others tell. */
#ifndef PTERA_CUPTI_TOLD_H
#define PTERA_CUPTI_TOLD_H

#include "runtime/cupti/abi.h"

/* For launches that go through no driver (of ptera.triton, on CPU tensors): one of them begins on
 * this thread, and ends there. 0: nobody wants to be told, and it is not to be ended. */
int ptera_cupti_begin(const char *kernel);
void ptera_cupti_end(const unsigned *grid, const unsigned *block, unsigned shared,
                     unsigned registers, int result);

#endif
