/* Launches of executable graphs, by the host and by kernels. */
#ifndef PTERA_CUDA_EXEC_LAUNCH_H
#define PTERA_CUDA_EXEC_LAUNCH_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/environment.h"

struct pt_cu_command;

/* The stream goes on when all is done; a graph's launches never overlap. */
CUresult pt_cu_exec_launch_in(CUgraphExec exec, CUstream stream);
/* By a kernel, under the lock: `from` runs it. */
CUresult pt_cu_exec_launch_from(struct pt_cu_command *from, CUgraphExec exec,
                                enum pt_cu_graph_mode mode);
/* What kernels launch from now on is what the graph is now. */
void pt_cu_exec_launch_upload(CUgraphExec exec);
/* Kernels launch neither this nor what it launched any more. */
void pt_cu_exec_launch_finish(CUgraphExec exec);

#endif
