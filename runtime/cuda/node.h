/* What the nodes of graphs do: adding them, their parameters. */
#ifndef PTERA_CUDA_NODE_H
#define PTERA_CUDA_NODE_H

#include "runtime/cuda/abi.h"

/* Checks parameters and gives the node its operation. */
CUresult pt_cu_node_set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult pt_cu_node_set_copy(CUgraphNode node, const CUDA_MEMCPY3D *params);
CUresult pt_cu_node_set_set(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params);
CUresult pt_cu_node_set_host(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params);
CUresult pt_cu_node_set_values(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params);
CUresult pt_cu_node_set_event(CUgraphNode node, CUevent event);
/* Whatever the type is. Memory that is allocated tells its address in `params`. */
CUresult pt_cu_node_set(CUgraphNode node, CUgraphNodeParams *params);
/* Parameters as they were until CUDA 11. */
CUDA_KERNEL_NODE_PARAMS pt_cu_node_of_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *params);

#endif
