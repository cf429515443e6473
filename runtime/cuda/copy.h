/* Copying and setting memory, in rows and boxes, between all kinds of memory. */
#ifndef PTERA_CUDA_COPY_H
#define PTERA_CUDA_COPY_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct pt_cu_op;

/* Operations from descriptions; one of no bytes has no width. *is_pageable: memory that the driver
 * does not know takes part. */
CUresult pt_cu_copy_op(const CUDA_MEMCPY3D *copy, struct pt_cu_op *op, bool *is_pageable);
/* Whether the contexts of both ends, or the current one (NULL), may use pools' and mapped memory
 * there. */
bool pt_cu_copy_is_granted(const struct pt_cu_op *op, CUcontext to, CUcontext from);
/* Of bytes in a row, at least one. */
CUresult pt_cu_copy_row_op(CUdeviceptr to, CUdeviceptr from, size_t bytes, struct pt_cu_op *op,
                           bool *is_pageable);
CUresult pt_cu_copy_set_op(const CUDA_MEMSET_NODE_PARAMS *params, struct pt_cu_op *op);
/* Waits for the copy where it is not asynchronous, or memory may change that the driver does not
 * know. */
CUresult pt_cu_copy_submit(CUstream stream, struct pt_cu_op *op, bool is_async, bool is_pageable);

#endif
