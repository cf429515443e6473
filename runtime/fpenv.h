/* The floating-point environment of a thread: rounding, denormals, exceptions. */
#ifndef PTERA_RUNTIME_FPENV_H
#define PTERA_RUNTIME_FPENV_H

#include <stdint.h>

/* The control words of the calling thread. */
uint64_t pt_fpenv_save(void);
void pt_fpenv_restore(uint64_t control);
/* What engines run with: round to nearest, denormals kept, no exceptions. At the entry of an
 * engine, and after a fault or a host function left one in the middle. */
void pt_fpenv_reset(void);

#endif
