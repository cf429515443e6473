/* Makes a kernel that fails smaller. */
#ifndef PTERA_TOOLS_FUZZ_REDUCE_H
#define PTERA_TOOLS_FUZZ_REDUCE_H

#include <signal.h>

#include "tools/fuzz/gen.h"
#include "tools/fuzz/trial.h"

/* Takes nodes out while trials still end as `trial` did; *trial is the last of these in the end.
 * No trial begins when *stop is set or after ten minutes: what is left is the kernel of that
 * last trial. */
void gen_reduce(struct gen_kernel *kernel, struct pen *pen, struct trial *trial,
                const volatile sig_atomic_t *stop);

#endif
