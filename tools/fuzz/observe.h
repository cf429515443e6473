/* What corners a kernel has when it runs. */
#ifndef PTERA_TOOLS_FUZZ_OBSERVE_H
#define PTERA_TOOLS_FUZZ_OBSERVE_H

#include "ptera.h"
#include "tools/fuzz/hits.h"

/* Traces a launch of the text's kernel, and counts: of some of its threads. */
void observe_launch(ptera_kernel *kernel, const ptera_launch *launch, const char *text,
                    uint32_t *corners);

#endif
