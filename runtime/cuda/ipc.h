/* Memory of one process in another. An allocation moves to a file in memory, at the same address,
 * when its handle is first asked for; the other process opens that file. */
#ifndef PTERA_CUDA_IPC_H
#define PTERA_CUDA_IPC_H

#include "runtime/cuda/abi.h"

struct pt_cu_range;

/**/
void pt_cu_ipc_close(struct pt_cu_range *range);

#endif
