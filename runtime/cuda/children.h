/* What a kernel asks for while it runs, as CUDA's device runtime has it: launches, copies and fills
 * in streams of its own, events between them. They begin when the kernel has ended, which is done
 * when they are; what is in the tail stream begins, one by one, when all else is done. */
#ifndef PTERA_CUDA_CHILDREN_H
#define PTERA_CUDA_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/op.h"

struct pt_cu_command;

/* Streams that kernels need not make; others begin at PT_CU_CHILD_STREAMS. */
enum {
    PT_CU_CHILD_BLOCK, /* the block's, 0 */
    PT_CU_CHILD_LEGACY,
    PT_CU_CHILD_THREAD,
    PT_CU_CHILD_TAIL,
    PT_CU_CHILD_FREE, /* in no order */
    PT_CU_CHILD_STREAMS = 0x10000
};

/* Where a call comes from. */
struct pt_cu_child_place {
    uint64_t block, thread, stream;
};

/* Each is done under the lock; false: no memory. */

/* Takes the operation over. */
bool pt_cu_children_add(struct pt_cu_command *parent, const struct pt_cu_child_place *place,
                        const struct pt_cu_op *op);
bool pt_cu_children_record(struct pt_cu_command *parent, const struct pt_cu_child_place *place,
                           uint64_t event);
bool pt_cu_children_wait(struct pt_cu_command *parent, const struct pt_cu_child_place *place,
                         uint64_t event);

/* A launch that has been given room for parameters. */
struct pt_cu_prepared {
    uint64_t parameters; /* in the device's heap */
    CUfunction function;
    unsigned grid[3], block[3], shared;
};
bool pt_cu_children_prepare(struct pt_cu_command *parent, const struct pt_cu_prepared *launch);
/* Takes it out again; false: there is none with these parameters. */
bool pt_cu_children_take(struct pt_cu_command *parent, uint64_t parameters,
                         struct pt_cu_prepared *launch);

/* The error that a thread of the kernel was given last; 0: none. */
int pt_cu_children_error(const struct pt_cu_command *parent, uint64_t block, uint64_t thread);
/* False: no memory. */
bool pt_cu_children_set_error(struct pt_cu_command *parent, uint64_t block, uint64_t thread,
                              int error);

#endif
