/* The contexts of each thread: a stack, of which the last one is current. */
#ifndef PTERA_CUDA_CURRENT_H
#define PTERA_CUDA_CURRENT_H

#include "runtime/cuda/abi.h"

struct pt_cu_thread;

/* Puts a context on the caller's stack. */
CUresult pt_cu_current_push(CUcontext ctx);
/* It is not current any more, if it was. */
void pt_cu_current_leave(CUcontext ctx);
void pt_cu_current_leave_all(struct pt_cu_thread *thread);
/* A stack no longer has it: a dead one goes with the last. */
void pt_cu_current_unref(CUcontext ctx);
/* The current context; an error if there is none, it is gone or a kernel in it has failed. */
CUresult pt_cu_current_get(CUcontext *ctx);
/* Likewise, also if a kernel has failed in it. */
CUresult pt_cu_current_get_any(CUcontext *ctx);
/* What is current as the program knows it: a context or a green one; NULL: nothing. */
CUcontext pt_cu_current_handle(void);
/* `given` (NULL: the current one) if it can be used. */
CUresult pt_cu_current_or(CUcontext given, CUcontext *ctx);

#endif
