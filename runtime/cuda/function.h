/* Functions and a library's kernels: attributes, parameters, names. */
#ifndef PTERA_CUDA_FUNCTION_H
#define PTERA_CUDA_FUNCTION_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* What the function or its kernel was set to, or what it is. */
CUresult pt_cu_function_value(CUfunction function, CUfunction_attribute attribute, int *value);
/* How many threads of a block have registers; 0: as many as are asked for, or as many as the
 * function declares. */
CUresult pt_cu_function_most_threads(CUfunction function, unsigned threads, uint32_t *most);
/**/
size_t pt_cu_function_parameter_bytes(CUfunction function);
/* Whether its kernel calls what is linked in for launches of kernels. */
bool pt_cu_function_calls_runtime(CUfunction function);
bool pt_cu_function_launches_graphs(CUfunction function);

#endif
