/* Launching kernels. */
#ifndef PTERA_CUDA_LAUNCH_H
#define PTERA_CUDA_LAUNCH_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/misfit.h"

struct pt_cu_launch;

/* Launches what a CUfunction or a CUkernel is; `cooperative`: the call says so. */
CUresult pt_cu_launch_start(CUstream null, const CUlaunchConfig *config, const void *handle,
                            void **parameters, void **extra, bool cooperative);
/* A launch ready to run, from dimensions and parameters. */
CUresult pt_cu_launch_ready(struct pt_cu_launch *launch, void **parameters, void **extra);
/* Why the calling thread's last launch did not fit. */
enum pt_misfit pt_cu_launch_last_misfit(void);

#endif
