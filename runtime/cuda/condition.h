/* Conditions of graphs: values that kernels set, which choose a branch of a conditional node. */
#ifndef PTERA_CUDA_CONDITION_H
#define PTERA_CUDA_CONDITION_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct CUgraph_st;

/* What a CUgraphConditionalHandle is the address of. It stays as long as its graph, or a node that
 * it decides on. */
struct pt_cu_condition {
    struct pt_cu_object object;
    struct CUgraph_st *graph; /* that it was made for; NULL: it is gone */
    CUcontext ctx;
    CUgraphNode node; /* of that graph, or inside of it, which it decides on; NULL: none yet */
    unsigned value, initial, refs;
    bool is_assigned;  /* the initial value, when a launch begins */
    bool was_launched; /* or can have been: kernels may set it */
    unsigned n_execs;
    struct pt_cu_condition *next; /* of its graph */
};

/* The condition a handle is of, for a conditional node of that graph; NULL: it cannot be. */
struct pt_cu_condition *pt_cu_condition_find(CUgraphConditionalHandle handle,
                                             const struct CUgraph_st *graph);
struct pt_cu_condition *pt_cu_condition_ref(struct pt_cu_condition *condition);
/* `node` lets it go; NULL: its graph does. */
void pt_cu_condition_put(struct pt_cu_condition *condition, CUgraphNode node);
/* The graph that they were made for goes. */
void pt_cu_condition_drop_all(CUgraph graph);
/* Whether there are conditional nodes in it, at any depth, or it is a branch of one. */
bool pt_cu_condition_is_in(const struct CUgraph_st *graph);
/* An executable is made, or goes. What branches cannot do, and conditions that decide on nothing,
 * are errors. */
CUresult pt_cu_condition_take(CUgraph graph, bool take);
/* A launch begins. */
void pt_cu_condition_assign_all(CUgraph graph);
/* False: no handle of a graph that was instantiated. */
bool pt_cu_condition_set(CUgraphConditionalHandle handle, unsigned value);
/* The graph that a conditional node is to run now, or NULL. */
CUgraph pt_cu_condition_branch(CUgraphNode node);

#endif
