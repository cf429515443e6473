/* Execution environments, as CUDA's guide calls them: what a launch of a graph is part of, and the
 * graphs that its kernels launch. One that is let go runs beside it, in an environment of its own,
 * which is part of that which it was launched in; a sibling in one that is part of the environment
 * around it. Tails wait until all that is part of it is done, and take the graph's place then, one
 * by one: those of the last graph before those that were there before. */
#ifndef PTERA_CUDA_ENVIRONMENT_H
#define PTERA_CUDA_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/cuda/command.h"

/* How kernels launch graphs: the highest byte of what they give as a stream. */
enum pt_cu_graph_mode { PT_CU_GRAPH_TAIL = 1, PT_CU_GRAPH_FREE, PT_CU_GRAPH_SIBLING };

/* The ends of launches have them (`more_ud`), as soon as there is need. */
struct pt_cu_environment {
    struct pt_cu_command *end;
    struct pt_cu_environment *around;     /* NULL: a stream */
    CUgraphExec current;                  /* that kernels can launch; NULL: another */
    CUgraph kept;                         /* whose branches are chosen while it runs, or NULL */
    CUgraphExec tails, added, last_added; /* added: by the current graph */
    unsigned n_tails, n_beside;           /* likewise */
    struct pt_cu_commands siblings;       /* of a graph in a stream, that its end waits for */
};

/* Each is called under the lock. */

/* The environment of a launch that is under way; NULL: no memory. */
struct pt_cu_environment *pt_cu_environment_of(struct pt_cu_command *end,
                                               bool (*more)(struct pt_cu_command *end));
/* Its graph begins. */
void pt_cu_environment_enter(struct pt_cu_environment *e, CUgraphExec exec);
/* Whether a kernel of its graph may launch this one, now. */
bool pt_cu_environment_admits(const struct pt_cu_environment *e, CUgraphExec exec,
                              enum pt_cu_graph_mode mode);
void pt_cu_environment_add_tail(struct pt_cu_environment *e, CUgraphExec exec);
/* Its graph is done. Returns the one in its place, or NULL. */
CUgraphExec pt_cu_environment_next(struct pt_cu_environment *e);
/* Its end waits for the siblings; false: there are none. */
bool pt_cu_environment_await_siblings(struct pt_cu_command *end);
void pt_cu_environment_delete(struct pt_cu_command *end);

#endif
