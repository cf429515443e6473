/* Isolated launches: what is tested before accesses. */
#ifndef PTERA_BACKEND_INTERP_ISOLATE_H
#define PTERA_BACKEND_INTERP_ISOLATE_H

#include "backend/interp/state.h"

#define pt_isolate_test PT_LEVEL_NAME(pt_isolate_test)
/* Makes the test of an access of `func` from a copy of its code; `number` tells the function's
 * accesses apart. Returns false if none is needed. */
bool pt_isolate_test(struct pt_code *test, const struct pt_func *func, bool is_write,
                     uint32_t number);

/* False, after pt_fail, if the launch is isolated and the lane may not access the memory. */
#define pt_isolate_allows PT_LEVEL_NAME(pt_isolate_allows)
bool pt_isolate_allows(const struct pt_code *c, struct pt_frame *f, uint32_t lane, uint64_t address,
                       uint64_t bytes, bool is_write);

#endif
