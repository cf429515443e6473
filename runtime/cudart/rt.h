/* What the files of the runtime library share. It is written on the driver library's calls alone. */
#ifndef PTERA_CUDART_RT_H
#define PTERA_CUDART_RT_H

#include <stdbool.h>

#include "runtime/cudart/abi.h"

/* call.c: makes the driver ready and a context current, as every call of the runtime does that needs one: the primary one of
 * the thread's device, unless the program has made another one current. */
cudaError_t pt_rt_ready(void);
/* Remembers what went wrong for cudaGetLastError, and gives it back. */
cudaError_t pt_rt_done(cudaError_t error);
/* The body of an entry that needs a context, and of one that does not. */
#define RT_API(call) pt_rt_done(pt_rt_ready() ?: (cudaError_t)(call))
#define RT_PLAIN(call) pt_rt_done((cudaError_t)(call))

/* The default stream of an entry whose name ends with _ptsz is one for each thread. */
static inline CUstream pt_rt_per_thread(cudaStream_t stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

/* call.c: whether the process is running its exit handlers. */
bool pt_rt_is_ending(void);

/* call.c: the device of the calling thread, whether its context is there yet or not. */
cudaError_t pt_rt_device(int *device);
/* call.c: whether there is such a device; makes the driver ready. */
cudaError_t pt_rt_check_device(int device);

/* call.c: the primary context of a device. */
cudaError_t pt_rt_context(int device, CUcontext *context);

/* program.c: a registered kernel by the address of its host function, its image loaded (or a cudaKernel_t as it is); a registered
 * variable by its host address. */
cudaError_t pt_rt_kernel(const void *function, CUkernel *kernel);
cudaError_t pt_rt_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);
/* What a program calls a kernel: the address of its host function; of one that was never registered, the kernel itself. */
void *pt_rt_kernel_name(CUkernel kernel);
/* Loads the images that have managed variables, once: the program may touch them right after its first call. */
cudaError_t pt_rt_load_managed(void);
/* To be done again: the context they were in is gone. */
void pt_rt_forget_managed(void);

/* array.c: the bytes of an array's element. */
cudaError_t pt_rt_element(cudaArray_t array, size_t *bytes);
/* memory.c: the driver's description of a copy, and back. */
cudaError_t pt_rt_copy_3d(const cudaMemcpy3DParms *p, CUDA_MEMCPY3D *copy);
void pt_rt_copy_3d_back(const CUDA_MEMCPY3D *copy, cudaMemcpy3DParms *p);
/* memory.c: the place of `bytes` bytes from `offset` of a registered variable. */
cudaError_t pt_rt_place(const void *symbol, size_t offset, size_t bytes, void **place);

#endif
