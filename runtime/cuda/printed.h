/* Text that kernels print: it waits for the next call that synchronises. */
#ifndef PTERA_CUDA_PRINTED_H
#define PTERA_CUDA_PRINTED_H

#include "runtime/cuda/abi.h"

/* Hands out what kernels have printed. */
void pt_cu_printed_flush(CUcontext ctx);
/* ptera_options.print of every context (`ud`). From any worker. */
void pt_cu_printed_take(void *ud, const char *text, size_t bytes);

#endif
