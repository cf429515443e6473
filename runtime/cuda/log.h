/* The log that PTERA_LOG asks for, on stderr. */
#ifndef PTERA_CUDA_LOG_H
#define PTERA_CUDA_LOG_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

enum pt_cu_log_subject { PT_CU_LOG_API = 1, PT_CU_LOG_LOAD = 2, PT_CU_LOG_LAUNCH = 4 };
enum { PT_CU_LOG_BYTES = 1024 /* of a line at most */ };
/* Whether PTERA_LOG (a list of api, load, launch) asks for it. */
bool pt_cu_log_is_on(enum pt_cu_log_subject what);
__attribute__((format(printf, 1, 2))) void pt_cu_log_print(const char *format, ...);
/* An entry begins; whether anything was written since. By thread. */
void pt_cu_log_begin_call(void);
bool pt_cu_log_has_written(void);

#endif
