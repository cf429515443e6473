/* The entries of streams. */
#ifndef PTERA_CUDA_STREAM_MANAGEMENT_H
#define PTERA_CUDA_STREAM_MANAGEMENT_H

#include "runtime/cuda/abi.h"

/**/
void pt_cu_stream_management_delete(CUstream stream);

#endif
