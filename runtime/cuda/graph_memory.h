/* Memory of graphs: a node allocates it, another one frees it. The block is there as long as a
 * graph, or an executable of one, has a node of it, so that its address stays; the nodes only say
 * from where to where it may be used. */
#ifndef PTERA_CUDA_GRAPH_MEMORY_H
#define PTERA_CUDA_GRAPH_MEMORY_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct CUgraph_st;
struct pt_cu_graph_block;

/* The block of a graph's memory that begins there, or NULL. */
struct pt_cu_graph_block *pt_cu_graph_memory_block_at(CUdeviceptr address);
/* The program frees what a launch has allocated; false: nothing has. */
bool pt_cu_graph_memory_block_release(struct pt_cu_graph_block *block);
/**/
struct pt_cu_graph_block *pt_cu_graph_memory_block_ref(struct pt_cu_graph_block *block);
void pt_cu_graph_memory_block_put(struct pt_cu_graph_block *block);
bool pt_cu_graph_memory_is_in(const struct CUgraph_st *graph);
CUresult pt_cu_graph_memory_set_alloc(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params);
CUresult pt_cu_graph_memory_set_free(CUgraphNode node, CUdeviceptr address);
/* An executable's memory is there from now on, until it is trimmed. */
void pt_cu_graph_memory_reach(CUgraph graph);
/* An executable is made, or goes. */
CUresult pt_cu_graph_memory_take(CUgraph graph, bool take);
CUresult pt_cu_graph_memory_launch(CUgraph graph, bool frees_first);

#endif
