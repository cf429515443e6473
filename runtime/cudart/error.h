/* The calling thread's last error. */
#ifndef PTERA_CUDART_ERROR_H
#define PTERA_CUDART_ERROR_H

#include "runtime/cudart/abi.h"

/* Remembers what went wrong for cudaGetLastError, and gives it back. */
cudaError_t pt_rt_error_done(cudaError_t error);

#endif
