/* Executable graphs. */
#ifndef PTERA_CUDA_EXEC_H
#define PTERA_CUDA_EXEC_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* The driver is there, and this is an executable. */
CUresult pt_cu_exec_check(CUgraphExec exec);

/* Brings the nodes into an order in which each comes behind those that it depends on. False: there
 * is a circle. */
bool pt_cu_exec_sort(CUgraph graph);
/* Of launches under way the commands have all they need but user objects: if the graph has some it
 * goes when the last launch is done. */
void pt_cu_exec_drop_graph(CUgraphExec exec);
/* Gives it a sorted clone that nobody else has. */
void pt_cu_exec_give_graph(CUgraphExec exec, CUgraph clone);

#endif
