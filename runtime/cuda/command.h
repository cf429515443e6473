/* Work under way: commands that wait for each other, and the threads that run what waits for
 * nothing any more. Streams, events and graphs are all made of this. */
#ifndef PTERA_CUDA_COMMAND_H
#define PTERA_CUDA_COMMAND_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/overlap.h"
#include "runtime/history.h"

struct pt_cu_track;

struct pt_cu_commands {
    struct pt_cu_command **of;
    size_t n, cap;
};

/* An operation under way. It runs when all that it waits for is done. */
struct pt_cu_command {
    struct pt_cu_command *next; /* in the queue of what can run */
    CUcontext ctx;
    CUcontext owners[2]; /* of the memory that it uses, if they are others */
    struct pt_cu_op op;
    unsigned refs, unmet, n_owners;
    int priority;
    bool is_done, by_caller;
    CUresult failed;              /* this itself, not the context */
    uint64_t done_ns;             /* CLOCK_MONOTONIC */
    struct pt_cu_command *launch; /* of a graph's launch, which it is part of: its end */
    uint64_t run;                 /* of such an end: its number */
    uint64_t graph;               /* for kernels: %current_graph_exec */
    struct pt_cu_track *track;    /* where the timeline has it; NULL: nowhere */
    uint64_t arrow, node;         /* from its call; of a graph, its number */
    uint32_t correlation;         /* of its call, for the listener; 0: it was not told of it */
    uint64_t exec, exec_node;     /* of an executable graph, numbers, too; 0: of none */
    uint64_t stream;              /* its number; 0: a context's default stream */
    /* More work than its operation: called under the lock when that has run, and then each time
     * that what it added before (pt_cu_command_after) is done, until it returns false. After an
     * error it is called once more, to free what it has. */
    bool (*more)(struct pt_cu_command *command);
    void *more_ud;
    bool has_run;
    struct pt_cu_commands dependents;
    /* Kernels may begin before those that they depend on have ended: they end behind them. */
    struct pt_cu_commands early;     /* which begin when it lets them, or is done */
    struct pt_cu_commands primaries; /* that it depends on so */
    bool is_triggered;               /* it has let them */
    /* while races are checked: overlap.c */
    bool is_watched, is_unwaited; /* who finishes it has not waited for it, as far as CUDA says */
    struct pt_cu_before before;
    uint64_t asked;
    struct pt_history_call call; /* that asked for it */
};

/* A new command that takes the operation over; NULL if there is no memory. The caller has a
 * reference. */
struct pt_cu_command *pt_cu_command_new(CUcontext ctx, const struct pt_cu_op *op);
/* Makes it wait for another one (NULL: for nothing). False: no memory, and it does not. */
bool pt_cu_command_after(struct pt_cu_command *command, struct pt_cu_command *earlier);
/* The same for a kernel, which begins when the earlier one, if it is a kernel, lets it
 * (griddepcontrol). */
bool pt_cu_command_after_trigger(struct pt_cu_command *command, struct pt_cu_command *earlier);
/* Behind all that a list has references to, which it gives back; `failed` says where there was no
 * memory for that. */
void pt_cu_command_after_all(struct pt_cu_command *command, struct pt_cu_commands *list);
/* False: no memory. The list takes no reference. */
bool pt_cu_command_add(struct pt_cu_commands *list, struct pt_cu_command *command);
/* It is to do nothing when its turn comes. */
void pt_cu_command_cancel(struct pt_cu_command *command);
/* All dependencies are there: it runs as soon as they are done; short ones at once, here. */
void pt_cu_command_start(struct pt_cu_command *command);
/* As above, but never here: what starts it may be many of its like deep. */
void pt_cu_command_start_apart(struct pt_cu_command *command);
/* Waits until it is done. Returns the context's error, or the command's. */
CUresult pt_cu_command_finish(struct pt_cu_command *command);
void pt_cu_command_put(struct pt_cu_command *command);
struct pt_cu_command *pt_cu_command_ref(struct pt_cu_command *command);
/* All that is under way in any context is done. */
void pt_cu_command_drain_all(void);
/* Waits until nothing of the context is under way. */
CUresult pt_cu_command_drain(CUcontext ctx);
/* Leaves the lock for work on what belongs to the context, which stays until the call takes the
 * lock back and lets it go. */
void pt_cu_command_step_out(CUcontext ctx);
void pt_cu_command_step_in(CUcontext ctx);
/* Waits, before its end, until no call is outside either. */
void pt_cu_command_quiesce(CUcontext ctx);

#endif
