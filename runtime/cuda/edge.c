#include "runtime/cuda/edge.h"

#include <string.h>

bool pt_cu_edge_is_legal(CUgraphNode from, CUgraphNodeType to, const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;
    if (!data || !memcmp(data, &plain, sizeof plain))
        return true;
    const CUgraphEdgeData programmatic[] = {
        {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
         .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
        {.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
         .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
    };
    return from->type == CU_GRAPH_NODE_TYPE_KERNEL && to == CU_GRAPH_NODE_TYPE_KERNEL &&
           (!memcmp(data, &programmatic[0], sizeof *data) ||
            !memcmp(data, &programmatic[1], sizeof *data));
}
