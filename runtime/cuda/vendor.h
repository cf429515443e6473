/* What Ptera's libraries ask of Ptera's driver beyond CUDA: by cuGetExportTable, as NVIDIA's do. */
#ifndef PTERA_CUDA_VENDOR_H
#define PTERA_CUDA_VENDOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cuda/abi.h"
#include "runtime/misfit.h"

#define PT_CU_LAUNCHES_ID \
    {'P', 't', 'e', 'r', 'a', ' ', 'l', 'a', 'u', 'n', 'c', 'h', 'e', 's', 0, 1}

struct pt_cu_launches {
    enum pt_misfit (*last_misfit)(void); /* why the calling thread's last launch did not fit */
};

#define PT_CU_CALLS_ID {'P', 't', 'e', 'r', 'a', ' ', 'c', 'a', 'l', 'l', 's', 0, 0, 0, 0, 2}

/* Calls of another API, of which those of the driver are a part. */
struct pt_cu_calls {
    const atomic_uint *watchers; /* 0: nobody wants to be told */
    void (*enter)(const char *call, const void *parameters);
    void (*leave)(const char *call, int result);
};

#define PT_CU_LISTENING_ID \
    {'P', 't', 'e', 'r', 'a', ' ', 'l', 'i', 's', 't', 'e', 'n', 'i', 'n', 'g', 1}

enum pt_cu_api { PT_CU_API_DRIVER = 1, PT_CU_API_RUNTIME };

/* A call of the program's, or one that is part of another. */
struct pt_cu_call {
    enum pt_cu_api api;
    const char *name;
    const char *symbol;       /* of a launch: the kernel, where the arguments do not tell */
    const void *parameters;   /* a structure of its arguments, as CUPTI has them; NULL: not told */
    int result;               /* once it is done */
    struct pt_cu_call *outer; /* that it is part of, or NULL */
    /* the listener's: */
    bool is_told;
    uint32_t correlation;
    uint64_t begun, data;
};

/* Arguments that are told. */
struct pt_cu_launch_arguments {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **parameters, **extra; /* the last one: not of cooperative launches */
};
struct pt_cu_launch_config_arguments {
    const CUlaunchConfig *config;
    CUfunction function;
    void **parameters, **extra;
};
struct pt_cu_graph_launch_arguments {
    CUgraphExec exec;
    CUstream stream;
};
struct pt_cu_stream_arguments {
    CUstream stream;
};
struct pt_cu_event_arguments {
    CUevent event;
};
struct pt_cu_wait_arguments {
    CUstream stream;
    CUevent event;
    unsigned flags;
};
struct pt_cu_context_arguments {
    CUcontext context;
};

/* Where memory is, as CUPTI numbers it. */
enum pt_cu_place {
    PT_CU_PLACE_PAGEABLE = 1,
    PT_CU_PLACE_PINNED,
    PT_CU_PLACE_DEVICE,
    PT_CU_PLACE_ARRAY,
    PT_CU_PLACE_MANAGED
};

/* An operation that has been done. */
struct pt_cu_done {
    enum pt_cu_done_what {
        PT_CU_DONE_NOTHING,
        PT_CU_DONE_KERNEL,
        PT_CU_DONE_COPY,
        PT_CU_DONE_SET
    } what;
    uint64_t begun, ended;                         /* by the listener's clock */
    uint32_t correlation;                          /* of the call that asked for it */
    uint64_t device, context, stream, graph, node; /* the last two: of an executable graph, or 0 */
    bool is_async;                                 /* the call did not wait for it */
    /* kernels */
    const char *name;
    unsigned grid[3], block[3], cluster[3];
    unsigned registers, shared_static, shared_dynamic, local_bytes;
    int priority;
    bool is_cooperative;
    /* copies, sets */
    uint64_t bytes;
    uint32_t value;
    enum pt_cu_place from, to;
    CUdevice from_device, to_device; /* of device memory */
};

/* Something is made, or is about to be destroyed. */
struct pt_cu_resource {
    unsigned what; /* CUPTI's number of it */
    CUcontext context;
    CUstream stream;
    CUgraph graph, original;
    CUgraphNode node, original_node;
    CUgraphNodeType type;
    CUgraphExec exec;
    uint32_t module;
};
enum pt_cu_resource_what {
    PT_CU_MADE_CONTEXT = 1,
    PT_CU_ENDS_CONTEXT,
    PT_CU_MADE_STREAM,
    PT_CU_ENDS_STREAM,
    PT_CU_IS_INITIALISED,
    PT_CU_MADE_MODULE,
    PT_CU_ENDS_MODULE,
    PT_CU_MADE_GRAPH = 9,
    PT_CU_ENDS_GRAPH,
    PT_CU_CLONED_GRAPH,
    PT_CU_MADE_NODE = 13,
    PT_CU_ENDS_NODE,
    PT_CU_MADE_EXEC = 18,
    PT_CU_ENDS_EXEC,
    PT_CU_CLONED_NODE
};

/* Who is told of all that: libcupti. Calls are told on their threads and without the driver's
 * lock, operations where they run, resources under the lock, which the listener shares. */
struct pt_cu_listener {
    uint64_t (*now)(void);
    void (*enter)(struct pt_cu_call *call);
    void (*leave)(struct pt_cu_call *call);
    void (*done)(const struct pt_cu_done *operation);
    void (*resource)(const struct pt_cu_resource *resource);
};

struct pt_cu_listening {
    void (*set)(const struct pt_cu_listener *listener); /* NULL: nobody */
    /* numbers of what programs have handles of: identity.h */
    uint64_t (*context)(CUcontext given, CUcontext *context, int *device);
    uint64_t (*stream)(CUcontext context, CUstream stream, bool is_per_thread);
    uint64_t (*event)(CUevent event);
    uint64_t (*graph)(CUgraph graph);
    uint64_t (*exec)(CUgraphExec exec);
    uint64_t (*node)(CUgraphNode node);
    bool (*symbol)(CUfunction function, char *name, size_t bytes);
};

#define PT_CU_BOARDS_ID {'P', 't', 'e', 'r', 'a', ' ', 'b', 'o', 'a', 'r', 'd', 's', 0, 0, 0, 1}

/* A board of the machine (board.h), whatever CUDA_VISIBLE_DEVICES hides. */
struct pt_cu_board {
    char name[64];
    CUuuid uuid;
    int n_boards;     /* that there are */
    int major, minor; /* compute capability */
    int sm_mhz, memory_mhz, memory_bits;
    size_t bytes, used_bytes; /* memory; used: by this process */
};

struct pt_cu_boards {
    CUresult (*describe)(int board, struct pt_cu_board *description);
};

#endif
