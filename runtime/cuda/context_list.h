/* The live contexts. */
#ifndef PTERA_CUDA_CONTEXT_LIST_H
#define PTERA_CUDA_CONTEXT_LIST_H

#include <pthread.h>
#include <stdbool.h>

#include "ptera.h"
#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

struct pt_cu_command;
struct pt_cu_range;

enum { PT_CU_KEPT_LISTS = 64 };

struct CUctx_st {
    struct pt_cu_object object;
    CUdevice device;
    bool is_primary, is_alive;
    CUcontext
        whole;    /* whose engine, memory and streams it has: itself, of a green one the primary */
    unsigned sms; /* of a green one */
    struct pt_cu_command *gate; /* what new work waits for (cuCtxWaitEvent); NULL: nothing */
    CUcontext next, previous;   /* live ones */
    unsigned api_version, flags;
    unsigned uses; /* cuCtxAttach and cuCtxDetach count them: goes with the last one */
    unsigned refs; /* of threads' stacks; a dead context stays while there are any */
    ptera_engine *engine;
    CUresult error; /* of a kernel: every later call returns it */
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache_config;
    uint64_t peers;       /* devices whose memory it may use: bits */
    CUstream null_stream; /* the legacy default stream */
    CUstream streams;     /* all, the default one first */
    CUevent events;
    CUmodule modules;
    CUarray arrays;
    struct pt_cu_range *kept[PT_CU_KEPT_LISTS]; /* freed blocks, by size: block.c */
    size_t kept_bytes;
    struct pt_cu_range *doomed; /* freed as soon as nothing is under way */
    size_t pending; /* commands that are not done: its own, and others' that use its memory */
    size_t outside; /* calls that use it while they have left the lock */
    char *printed;  /* text of kernels that goes out at the next synchronising call */
    size_t n_printed, cap_printed;
    pthread_mutex_t print_lock;
};

/* The live context behind another (NULL: the first), or NULL. */
CUcontext pt_cu_context_list_next(CUcontext ctx);
void pt_cu_context_list_enter(CUcontext ctx);
void pt_cu_context_list_leave(CUcontext ctx);
/* The object of a destroyed context goes; its handle is known as that. */
void pt_cu_context_list_bury(CUcontext ctx);
/* Whether what is given is a live context, or a green one, which are no context's in the list;
 * `whole` is what it is (of). */
CUresult pt_cu_context_list_check(CUcontext given, CUcontext *whole);
/* Whether what is given is a live green context. Its context is the same handle. */
CUresult pt_cu_context_list_check_green(CUgreenCtx green);

#endif
