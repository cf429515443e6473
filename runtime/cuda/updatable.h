/* Kernel nodes that kernels may change: their grid, their parameters, whether they run. Kernels
 * know such a node by an object that the graph's node has, and the node of its one executable. */
#ifndef PTERA_CUDA_UPDATABLE_H
#define PTERA_CUDA_UPDATABLE_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct CUgraph_st;

struct CUgraphDeviceUpdatableNode_st {
    struct pt_cu_object object;
    unsigned refs;    /* nodes */
    bool has_exec;    /* an executable was made of its graph */
    CUgraphNode node; /* the executable's; NULL: it was not uploaded or launched */
};

/* Makes one of a kernel node: for attributes of nodes and launches. */
CUresult pt_cu_updatable_set(CUgraphNode node, CUlaunchAttributeValue *value);
CUgraphDeviceNode pt_cu_updatable_ref(CUgraphDeviceNode updatable);
void pt_cu_updatable_put(CUgraphDeviceNode updatable);
/* The graph has such nodes, at any depth. */
bool pt_cu_updatable_is_in(const struct CUgraph_st *graph);
/* One executable at a time is made of it, or goes. */
CUresult pt_cu_updatable_take(CUgraph graph, bool take);
/* An executable is uploaded, or launched: from now on kernels change its nodes. */
void pt_cu_updatable_upload(CUgraph graph);
/* Its graph is another one now, whose nodes kernels change if they did those of the one before. */
void pt_cu_updatable_replace(CUgraph graph);
/* A clone's nodes are ordinary ones. */
void pt_cu_updatable_drop(CUgraph graph);

#endif
