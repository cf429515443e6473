/* Graphs that kernels may launch: what may be in them. */
#ifndef PTERA_CUDA_DEVICE_GRAPH_H
#define PTERA_CUDA_DEVICE_GRAPH_H

#include "runtime/cuda/abi.h"

/* On failure *node is the one that may not be there, or NULL. */
CUgraphInstantiateResult pt_cu_device_graph_check(CUgraph graph, CUgraphNode *node);

#endif
