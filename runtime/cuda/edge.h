#ifndef PTERA_CUDA_EDGE_H
#define PTERA_CUDA_EDGE_H

#include <stdbool.h>

#include "runtime/cuda/graph.h"

/* Whether an edge of this kind (NULL: a plain one) may lead from one node to another. Between
 * kernels it may be programmatic, so that the second begins before the first has ended: when it has
 * let it. (All its blocks have begun: then it has ended, here.) */
bool pt_cu_edge_is_legal(CUgraphNode from, CUgraphNodeType to, const CUgraphEdgeData *data);

#endif
