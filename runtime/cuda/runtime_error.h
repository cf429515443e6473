/* Names and texts of the runtime library's errors, for it (which has this file, too) and for
 * kernels. */
#ifndef PTERA_CUDA_RUNTIME_ERROR_H
#define PTERA_CUDA_RUNTIME_ERROR_H

const char *pt_cu_runtime_error_name(int error);
const char *pt_cu_runtime_error_text(int error);

#endif
