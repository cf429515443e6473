/* Isolated launches: which memory is a kernel's. */
#ifndef PTERA_RUNTIME_ISOLATE_H
#define PTERA_RUNTIME_ISOLATE_H

#include "backend/exec.h"

/* The memory of an isolated launch that holds the address and is the lane's to touch: as
 * pt_services.find. */
bool pt_isolate_find(const struct pt_warp *warp, uint32_t lane, uint64_t address,
                     struct pt_extent *extent);

#endif
