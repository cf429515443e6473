/* What programs register before main: images, kernels and variables. */
#ifndef PTERA_CUDART_PROGRAM_H
#define PTERA_CUDART_PROGRAM_H

#include "runtime/cudart/abi.h"

/* A registered kernel by the address of its host function, its image loaded (or a cudaKernel_t
 * as it is); a registered variable by its host address. */
cudaError_t pt_rt_program_kernel(const void *function, CUkernel *kernel);
cudaError_t pt_rt_program_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);
/* What a program calls a kernel: the address of its host function; of one that was never
 * registered, the kernel itself. */
void *pt_rt_program_kernel_name(CUkernel kernel);
/* Loads the images that have managed variables, once: the program may touch them right after its
 * first call. */
cudaError_t pt_rt_program_load_managed(void);
/* To be done again: the context they were in is gone. */
void pt_rt_program_forget_managed(void);
/* For atexit: images are not unloaded any more. */
void pt_rt_program_end(void);

#endif
