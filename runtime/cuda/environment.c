/* Execution environments: what a launch of a graph is part of, and the graphs that its kernels
 * launch. */
#include "runtime/cuda/environment.h"

#include <stdlib.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/graph.h"

/* By one launch of a graph; what an H200 allows (driver 580). */
enum { TAILS_MAX = 255, BESIDE_MAX = 120 };

struct pt_cu_environment *pt_cu_environment_of(struct pt_cu_command *end,
                                               bool (*more)(struct pt_cu_command *end))
{
    struct pt_cu_environment *e = end->more_ud;
    if (e || !(e = calloc(1, sizeof *e)))
        return e;
    e->end = end;
    end->more = more;
    end->more_ud = e;
    return e;
}

void pt_cu_environment_enter(struct pt_cu_environment *e, CUgraphExec exec)
{
    e->current = exec;
    exec->environment = e;
    exec->is_tail = false;
}

bool pt_cu_environment_admits(const struct pt_cu_environment *e, CUgraphExec exec,
                              enum pt_cu_graph_mode mode)
{
    bool is_tail = mode == PT_CU_GRAPH_TAIL;
    bool is_again = is_tail && exec == e->current && !exec->is_tail;
    return exec->uploaded && (!exec->environment || is_again) &&
           (is_tail ? e->n_tails < TAILS_MAX : e->n_beside < BESIDE_MAX);
}

void pt_cu_environment_add_tail(struct pt_cu_environment *e, CUgraphExec exec)
{
    exec->environment = e;
    exec->is_tail = true;
    exec->next_tail = NULL;
    if (e->added)
        e->last_added->next_tail = exec;
    else
        e->added = exec;
    e->last_added = exec;
    e->n_tails++;
}

CUgraphExec pt_cu_environment_next(struct pt_cu_environment *e)
{
    if (e->current && !e->current->is_tail)
        e->current->environment = NULL;
    e->current = NULL;
    if (e->added) {
        e->last_added->next_tail = e->tails;
        e->tails = e->added;
        e->added = NULL;
    }
    e->n_tails = e->n_beside = 0;
    CUgraphExec next = e->tails;
    if (next) {
        e->tails = next->next_tail;
        next->environment = NULL;
        next->is_tail = false;
    }
    return next;
}

bool pt_cu_environment_await_siblings(struct pt_cu_command *end)
{
    struct pt_cu_environment *e = end->more_ud;
    bool has_some = e->siblings.n > 0;
    pt_cu_command_after_all(end, &e->siblings);
    return has_some;
}

void pt_cu_environment_delete(struct pt_cu_command *end)
{
    struct pt_cu_environment *e = end->more_ud;
    free(e->siblings.of);
    free(e);
    end->more_ud = NULL;
}
