/* Conditions of graphs: values that kernels set, which choose a branch of a conditional node. */
#include "runtime/cuda/condition.h"

#include <stdint.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/range.h"

/* ---- handles --------------------------------------------------------------------------------- */

static struct pt_cu_condition *condition_of(CUgraphConditionalHandle handle)
{
    void *object = (void *)(uintptr_t)handle;
    return pt_cu_handle_is(object, PT_CU_CONDITION) ? object : NULL;
}

static CUresult create(CUgraphConditionalHandle *out, CUgraph graph, CUcontext ctx,
                       unsigned initial, unsigned flags)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && (!out || !pt_cu_handle_is(graph, PT_CU_GRAPH) ||
                              flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = pt_cu_context_list_check(ctx, &ctx);
    if (r != CUDA_SUCCESS)
        return r;
    struct pt_cu_condition *c = pt_cu_handle_new(PT_CU_CONDITION, sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->graph = graph;
    c->ctx = ctx;
    c->initial = initial;
    c->is_assigned = flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
    c->refs = 1;
    c->next = graph->conditions;
    graph->conditions = c;
    *out = (uintptr_t)c;
    return CUDA_SUCCESS;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                        CUcontext ctx, unsigned initial, unsigned flags)
{
    return API(create(handle, graph, ctx, initial, flags));
}

struct pt_cu_condition *pt_cu_condition_find(CUgraphConditionalHandle handle,
                                             const struct CUgraph_st *graph)
{
    struct pt_cu_condition *c = condition_of(handle);
    while (c && graph && c->graph != graph)
        graph = graph->holder ? graph->holder->graph : NULL;
    return c && graph && !c->node ? c : NULL;
}

struct pt_cu_condition *pt_cu_condition_ref(struct pt_cu_condition *condition)
{
    if (condition)
        condition->refs++;
    return condition;
}

void pt_cu_condition_put(struct pt_cu_condition *condition, CUgraphNode node)
{
    if (condition && condition->node == node)
        condition->node = NULL;
    if (condition && --condition->refs == 0)
        pt_cu_handle_delete(condition);
}

void pt_cu_condition_drop_all(CUgraph graph)
{
    while (graph->conditions) {
        struct pt_cu_condition *c = graph->conditions;
        graph->conditions = c->next;
        c->graph = NULL;
        pt_cu_condition_put(c, NULL);
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static bool has_nodes(const struct CUgraph_st *graph)
{
    bool has = false;
    for (size_t i = 0; !has && i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        has = node->condition;
        for (unsigned k = 0; !has && k < node->n_inner; k++)
            has = has_nodes(node->inner[k]);
    }
    return has;
}

bool pt_cu_condition_is_in(const struct CUgraph_st *graph)
{
    return (graph->holder && graph->holder->condition) || has_nodes(graph);
}

/* Memory that the device reaches by itself. */
static bool is_reached(const void *address)
{
    return pt_cu_range_find((uintptr_t)address);
}

static bool can_be_in_branch(const struct CUgraphNode_st *node)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return is_reached(node->op.copy.from) && is_reached(node->op.copy.to);
    default:
        return false;
    }
}

static bool check(const struct CUgraph_st *graph, bool is_branch)
{
    bool ok = true;
    for (const struct pt_cu_condition *c = graph->conditions; c; c = c->next)
        ok &= c->node != NULL;
    for (size_t i = 0; ok && i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        ok = !is_branch || can_be_in_branch(node);
        for (unsigned k = 0; ok && k < node->n_inner; k++)
            ok = check(node->inner[k], is_branch || node->condition);
    }
    return ok;
}

/* What is done to all conditions that decide on nodes of a graph, at any depth. */
static void for_each(CUgraph graph, void (*call)(struct pt_cu_condition *condition))
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        CUgraphNode node = graph->nodes[i];
        if (node->condition)
            call(node->condition);
        for (unsigned k = 0; k < node->n_inner; k++)
            for_each(node->inner[k], call);
    }
}

static bool has_exec(const struct CUgraph_st *graph)
{
    bool has = false;
    for (size_t i = 0; !has && i < graph->n_nodes; i++)
        has = graph->nodes[i]->condition && graph->nodes[i]->condition->n_execs;
    return has;
}

static void take_one(struct pt_cu_condition *condition)
{
    condition->n_execs++;
    condition->was_launched = true;
}

static void leave_one(struct pt_cu_condition *condition)
{
    condition->n_execs--;
}

CUresult pt_cu_condition_take(CUgraph graph, bool take)
{
    if (take && !check(graph, false))
        return CUDA_ERROR_INVALID_VALUE;
    if (take && (has_exec(graph) || (graph->holder && graph->holder->condition)))
        return CUDA_ERROR_NOT_SUPPORTED; /* CUDA's, too: one executable at a time */
    for_each(graph, take ? take_one : leave_one);
    return CUDA_SUCCESS;
}

/* ---- launches -------------------------------------------------------------------------------- */

static void assign(struct pt_cu_condition *condition)
{
    if (condition->is_assigned)
        condition->value = condition->initial;
}

void pt_cu_condition_assign_all(CUgraph graph)
{
    for_each(graph, assign);
}

bool pt_cu_condition_set(CUgraphConditionalHandle handle, unsigned value)
{
    struct pt_cu_condition *c = condition_of(handle);
    if (!c || !c->was_launched)
        return false;
    c->value = value;
    return true;
}

CUgraph pt_cu_condition_branch(CUgraphNode node)
{
    unsigned value = node->condition->value;
    unsigned i = node->branches == CU_GRAPH_COND_TYPE_SWITCH ? value : !value;
    return i < node->n_inner ? node->inner[i] : NULL;
}
