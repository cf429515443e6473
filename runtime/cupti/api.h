/* What the entries of CUPTI share: the driver, the time, errors. */
#ifndef PTERA_CUPTI_API_H
#define PTERA_CUPTI_API_H

#include "runtime/cuda/vendor.h"
#include "runtime/cupti/abi.h"

/* What the driver tells and answers. */
const struct pt_cu_listening *pt_cupti_driver(void);
/* Nanoseconds, by the client's clock, if it has one. */
uint64_t pt_cupti_now(void);
/* Remembers an error of this thread, which it returns. */
CUptiResult pt_cupti_error(CUptiResult error);

#endif
