/* Events: the command that was last recorded. */
#ifndef PTERA_CUDA_EVENT_H
#define PTERA_CUDA_EVENT_H

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct pt_cu_capture;
struct pt_cu_command;
struct pt_cu_event_page;

struct CUevent_st {
    struct pt_cu_object object;
    CUcontext ctx;
    unsigned flags;
    struct pt_cu_event_page *shared; /* with other processes, or NULL */
    struct pt_cu_command *recorded;  /* NULL: never */
    struct pt_cu_capture *capture;   /* recorded while capturing */
    CUgraphNode *captured;
    size_t n_captured;
    CUevent next;
};

/* Takes `shared` over, also if it fails. */
CUresult pt_cu_event_new(CUcontext ctx, unsigned flags, struct pt_cu_event_page *shared,
                         CUevent *out);
void pt_cu_event_delete(CUevent event);
CUresult pt_cu_event_record(CUevent event, CUstream stream, unsigned flags);

#endif
