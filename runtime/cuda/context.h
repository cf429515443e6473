/* Contexts: each has an engine of its own, so that what a kernel breaks stays inside. */
#ifndef PTERA_CUDA_CONTEXT_H
#define PTERA_CUDA_CONTEXT_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct pt_cu_thread;

/* A thread ends: so do its default streams, and its hold on contexts. */
void pt_cu_context_end_thread(struct pt_cu_thread *thread);

/* A context without an engine, not live yet; NULL: no memory. */
CUcontext pt_cu_context_new(CUdevice device, bool is_primary);
/* Gives it an engine and a default stream: it is live. */
CUresult pt_cu_context_revive(CUcontext ctx);
/* Ends all that a context has. The object stays. */
void pt_cu_context_kill(CUcontext ctx);
/* Whether a context may have these flags. */
bool pt_cu_context_are_flags(unsigned flags);

#endif
