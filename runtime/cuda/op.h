/* Operations as data: one piece of work, for a stream or a node of a graph. */
#ifndef PTERA_CUDA_OP_H
#define PTERA_CUDA_OP_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"
#include "runtime/launch.h"

struct pt_cu_event_page;
struct pt_cu_range;

enum pt_cu_work {
    PT_CU_EMPTY,
    PT_CU_KERNEL_LAUNCH,
    PT_CU_COPY,
    PT_CU_SET,
    PT_CU_HOST_CALL,
    PT_CU_CALLBACK, /* cuStreamAddCallback: called after a failure, too */
    PT_CU_RECORD,
    PT_CU_WAIT_VALUE,
    PT_CU_WRITE_VALUE,
    PT_CU_BATCH, /* of those two, one after the other */
    PT_CU_FREE_POOLED,
    PT_CU_WAIT_EVENT /* in graphs */
};

struct pt_cu_launch {
    CUfunction function;
    ptera_launch launch; /* without parameters */
    int priority;
    unsigned sms;                 /* of the green context it is in; 0: in none */
    bool is_early;                /* begins when the kernel before lets it */
    size_t bytes;                 /* of parameters */
    uint8_t *parameters;          /* the block; NULL in a job's */
    struct pt_job *job;           /* ready to run */
    struct pt_launched *launched; /* is told how it ran; NULL: nobody asks */
    unsigned registers, shared_static,
        local_bytes; /* of a thread, a block, a thread: for the listener */
};

/* A box of bytes; linear copies are one row. */
struct pt_cu_copy {
    uint8_t *to;
    const uint8_t *from;
    size_t to_pitch, to_slice, from_pitch,
        from_slice; /* bytes from row to row, from slice to slice */
    size_t width, height, depth;
};

struct pt_cu_set {
    uint8_t *to;
    size_t pitch, width, height; /* width: in elements */
    unsigned element_bytes;
    uint32_t value;
};

/* One piece of work, for a stream or a node of a graph. */
struct pt_cu_op {
    enum pt_cu_work work;
    union {
        struct pt_cu_launch launch;
        struct pt_cu_copy copy;
        struct pt_cu_set set;
        struct {
            CUhostFn call;
            void *ud;
        } host;
        struct {
            CUstreamCallback call;
            CUstream stream;
            void *ud;
        } callback;
        struct {
            CUevent event;
            struct pt_cu_event_page *shared; /* of several processes, or NULL; with number */
            uint64_t number;
        } record;
        struct {
            void *address;
            uint64_t value;
            unsigned bytes, flags;
            struct pt_cu_event_page *shared; /* whose page it is in, or NULL */
        } value;
        struct pt_cu_batch *batch;
        struct {
            struct pt_cu_range *range;
            void (*call)(struct pt_cu_range *range); /* when its turn has come */
        } free;
    };
};

/* Shared by a node and what is launched of it. */
struct pt_cu_batch {
    unsigned refs, n;
    struct pt_cu_op ops[]; /* PT_CU_EMPTY: a barrier, which commands are already */
};

/* The operations that one is, or that it has. */
static inline const struct pt_cu_op *pt_cu_op_parts(const struct pt_cu_op *op, unsigned *n)
{
    *n = op->work == PT_CU_BATCH ? op->batch->n : 1;
    return op->work == PT_CU_BATCH ? op->batch->ops : op;
}

/* Frees what the operation owns. */
void pt_cu_op_drop(struct pt_cu_op *op);
/* Worth no other thread: it waits for nobody, and is done sooner than one would have woken up. */
bool pt_cu_op_is_short(const struct pt_cu_op *op);
bool pt_cu_op_touches_memory(const struct pt_cu_op *op);

#endif
