/* Streams as data: making and finding them, and what waits for what. */
#ifndef PTERA_CUDA_STREAM_H
#define PTERA_CUDA_STREAM_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/hint.h"

struct pt_cu_capture;
struct pt_cu_command;
struct pt_cu_op;
struct pt_cu_track;

enum { PT_CU_PRIORITY_GREATEST = -5 }; /* the least is 0 */

struct CUstream_st {
    struct pt_cu_object object;
    CUcontext ctx;
    unsigned flags;
    int priority;
    struct pt_cu_command *tail; /* the last one; NULL: none yet */
    struct pt_cu_capture *capture;
    CUgraphNode *capture_tail; /* what the next node depends on */
    size_t n_capture_tail;
    CUgraphNode capture_last; /* the node that was made last of what it was given */
    struct pt_cu_hints hints;
    struct pt_cu_track *track; /* in the timeline; NULL: there is none */
    CUcontext green;           /* that it was made in, or NULL */
    uint64_t thread;           /* whose default stream it is; 0: none's */
    CUstream next;
};

/* What a handle means: 0 is `null` (CU_STREAM_LEGACY or CU_STREAM_PER_THREAD), in the current
 * context. */
CUresult pt_cu_stream_find(CUstream null, CUstream given, CUstream *stream);
/* A command behind all that is in the stream, its last one from now on; it takes the operation
 * over. Add further dependencies, start it and put it. NULL: no memory, and nothing is done. Not
 * for streams that are captured. `by_caller`: who finishes it runs it. */
struct pt_cu_command *pt_cu_stream_append(CUstream stream, struct pt_cu_op *op, bool by_caller);
CUstream pt_cu_stream_new(CUcontext ctx, unsigned flags, int priority);
/* The default stream goes on waiting for what is under way in a stream that goes. */
void pt_cu_stream_hand_over(CUstream stream);
/* The green context that its work is of, or NULL: a default stream has the current one. */
CUcontext pt_cu_stream_green(const struct CUstream_st *stream);
/* The default stream is through when all that it would wait for is. */
bool pt_cu_stream_is_idle(CUstream stream);
/* The host has been told so. */
void pt_cu_stream_waited(CUstream stream);

#endif
