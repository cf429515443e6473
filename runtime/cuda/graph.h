/* Graphs: nodes and the edges between them. */
#ifndef PTERA_CUDA_GRAPH_H
#define PTERA_CUDA_GRAPH_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/hint.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/user_object.h"

struct pt_cu_command;
struct pt_cu_condition;
struct pt_cu_environment;
struct pt_cu_graph_block;

struct CUgraphNode_st {
    struct pt_cu_object object;
    CUgraph graph;
    CUgraphNodeType type;
    CUgraphNode original; /* the node it was cloned from */
    CUcontext ctx;        /* where it runs */
    struct pt_cu_op op;   /* a kernel's has its parameters, and no job */
    CUDA_MEMCPY3D copy;   /* as it was given */
    CUDA_MEMSET_NODE_PARAMS set;
    void **pointers;                  /* of kernel parameters, into their block */
    CUstreamBatchMemOpParams *values; /* of a batch of them, as they were asked for */
    struct pt_cu_hints hints;
    CUevent event;
    CUgraph *inner; /* the graph of a child node; what a conditional node may run */
    unsigned n_inner;
    struct pt_cu_condition *condition; /* a conditional node's */
    CUgraphConditionalNodeType branches;
    bool is_disabled;
    CUgraphDeviceNode updatable; /* a kernel node's that kernels may change; NULL: they may not */
    struct pt_cu_graph_block *block; /* of nodes that allocate or free */
    CUgraphNode *before;             /* what it depends on */
    unsigned char *ports;            /* of those, which these edges come from; 0: plain edges */
    size_t n_before;
    size_t index;                  /* in an executable: its place in the order */
    struct pt_cu_command *command; /* in an executable, while it is being launched */
};

struct CUgraph_st {
    struct pt_cu_object object;
    CUgraphNode
        *nodes; /* as they were added; in an executable, each behind those that it depends on */
    size_t n_nodes, cap_nodes;
    bool is_owned;                      /* a node's, or an executable's */
    CUgraphNode holder;                 /* the node that it is inside of, or NULL */
    struct pt_cu_condition *conditions; /* whose handles were made for it */
    unsigned launches; /* of an executable, under way, that take nodes from it yet */
    bool is_dropped;   /* it goes with the last of them */
    bool is_read_late; /* an executable's: nodes in it are read when it is their turn */
    bool is_captured;  /* a stream's capture goes on in it */
    struct pt_cu_user_refs user;
};

struct CUgraphExec_st {
    struct pt_cu_object object;
    CUgraph graph;
    cuuint64_t flags;
    struct pt_cu_command *last; /* the end of its last launch */
    /* for kernels: */
    CUgraph uploaded; /* as it was then, kept by a launch that it counts as; NULL: it was not */
    struct pt_cu_environment *environment; /* that it runs in, or is to; NULL: it does not run */
    bool is_tail;                          /* it is to, again if it runs */
    CUgraphExec next_tail;
};

/* Lists are asked for twice: first without room, for their number. What is left of the room becomes
 * null. */
struct pt_cu_graph_listing {
    CUgraphNode *nodes;
    size_t room, n;
};

void pt_cu_graph_list_node(struct pt_cu_graph_listing *l, CUgraphNode node);
void pt_cu_graph_end_listing(const struct pt_cu_graph_listing *l, size_t *count);

/* The driver is there, and this is a graph, or a node. */
CUresult pt_cu_graph_check(CUgraph graph);
CUresult pt_cu_graph_check_node(CUgraphNode node);
/* They are nodes of the graph. */
CUresult pt_cu_graph_check_nodes(CUgraph graph, const CUgraphNode *nodes, size_t n);
/* It was made so that kernels may launch it. */
static inline bool pt_cu_graph_exec_is_for_kernels(const struct CUgraphExec_st *exec)
{
    return exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
}

/**/
CUgraph pt_cu_graph_new(void);
void pt_cu_graph_delete(CUgraph graph);
CUresult pt_cu_graph_clone(CUgraph graph, CUgraph *clone);
/* A node of that type; NULL: no memory. */
CUgraphNode pt_cu_graph_node_new(CUgraph graph, CUgraphNodeType type, CUcontext ctx);
/* From a port of the earlier one, unless there is an edge already. */
bool pt_cu_graph_node_after(CUgraphNode node, CUgraphNode earlier, unsigned char port);
void pt_cu_graph_node_forget(CUgraphNode node, CUgraphNode earlier);
/* Which of `before` it is; SIZE_MAX: none. */
size_t pt_cu_graph_node_find_edge(const struct CUgraphNode_st *node, CUgraphNode earlier);
void pt_cu_graph_node_delete(CUgraphNode node);
/* Takes over an operation that a stream was given. */
CUresult pt_cu_graph_node_take(CUgraphNode node, struct pt_cu_op *op);
/* What a node's operation is replaced with, from another node of its type. */
CUresult pt_cu_graph_node_assign(CUgraphNode node, CUgraphNode from);
CUresult pt_cu_graph_node_set_child(CUgraphNode node, CUgraph child);
/* Gives a node `n` empty graphs. */
CUresult pt_cu_graph_node_make_branches(CUgraphNode node, unsigned n);

#endif
