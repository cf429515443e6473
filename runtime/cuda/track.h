/* Streams as rows of the timeline, and what runs in them. */
#ifndef PTERA_CUDA_TRACK_H
#define PTERA_CUDA_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/cuda/abi.h"
#include "runtime/launch.h"

struct pt_cu_op;
/* A stream's; it stays while commands have references. All calls but pt_cu_track_add are under the
 * lock. */
struct pt_cu_track;

/* NULL: there is no timeline, or no memory. */
struct pt_cu_track *pt_cu_track_new(CUcontext ctx, const char *name);
struct pt_cu_track *pt_cu_track_ref(struct pt_cu_track *track);
void pt_cu_track_put(struct pt_cu_track *track); /* may be NULL */
void pt_cu_track_name(struct pt_cu_track *track, const char *name);

/* What is recorded of an operation. */
struct pt_cu_traced {
    struct pt_cu_track *track; /* NULL: nothing */
    unsigned lane;             /* of the track: nodes of a graph may run side by side */
    uint64_t begun, arrow, node;
    const char *name;
    enum pt_cu_traced_what { PT_CU_TRACED_KERNEL, PT_CU_TRACED_MOVE, PT_CU_TRACED_WAIT } what;
    uint64_t bytes; /* that it moves */
    const ptera_launch *launch;
    struct pt_launched launched;
};

/* An operation of the track (NULL: none) begins. */
void pt_cu_track_begin(struct pt_cu_track *track, struct pt_cu_op *op, struct pt_cu_traced *traced);
/* It is done: `result` is its own. */
void pt_cu_track_add(const struct pt_cu_traced *traced, CUresult result);
void pt_cu_track_end(const struct pt_cu_traced *traced);

#endif
