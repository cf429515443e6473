/* Memory of one process in another. An allocation moves to a file in memory, at the same address,
 * when its handle is first asked for; the other process opens that file. */
#ifndef PTERA_CUDA_IPC_H
#define PTERA_CUDA_IPC_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct pt_cu_range;

/* All of it, whatever interrupts. */
bool pt_cu_ipc_write(int fd, const void *from, size_t bytes);
/* The 64 bytes by which another process finds an allocation, of a pool whose number is not 0. */
CUresult pt_cu_ipc_export(struct pt_cu_range *range, uint64_t pool, void *handle);
/* What such bytes lead to, of that process's pool, if the number is not 0. */
CUresult pt_cu_ipc_import(const void *handle, uint32_t pid, uint64_t pool, CUcontext ctx,
                          struct pt_cu_range **range);
/* The file that such bytes lead to. */
uint64_t pt_cu_ipc_inode(const void *handle);
/* Unmaps what was imported, after range->keep was called. */
void pt_cu_ipc_close(struct pt_cu_range *range);

#endif
