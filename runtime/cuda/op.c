/* Operations as data: one piece of work, for a stream or a node of a graph. */
#include "runtime/cuda/op.h"

#include <stdlib.h>

#include "runtime/cuda/event_page.h"
#include "runtime/run.h"

enum { SHORT_BYTES = 64 << 10 };

void pt_cu_op_drop(struct pt_cu_op *op)
{
    struct pt_cu_event_page **shared = op->work == PT_CU_RECORD       ? &op->record.shared
                                       : op->work == PT_CU_WAIT_VALUE ? &op->value.shared
                                                                      : NULL;
    if (shared) {
        pt_cu_event_page_put(*shared);
        *shared = NULL;
    }
    if (op->work == PT_CU_BATCH && --op->batch->refs == 0)
        free(op->batch);
    if (op->work != PT_CU_KERNEL_LAUNCH)
        return;
    free(op->launch.parameters);
    if (op->launch.job)
        pt_launch_drop(op->launch.job);
    op->launch.parameters = NULL;
    op->launch.job = NULL;
}

bool pt_cu_op_is_short(const struct pt_cu_op *op)
{
    switch (op->work) {
    case PT_CU_KERNEL_LAUNCH:
        return pt_run_is_short(op->launch.job);
    case PT_CU_COPY:
        return op->copy.width * op->copy.height * op->copy.depth <= SHORT_BYTES;
    case PT_CU_SET:
        return op->set.width * op->set.element_bytes * op->set.height <= SHORT_BYTES;
    case PT_CU_HOST_CALL:
    case PT_CU_CALLBACK:
    case PT_CU_WAIT_VALUE:
        return false;
    case PT_CU_BATCH:
        for (unsigned i = 0; i < op->batch->n; i++)
            if (!pt_cu_op_is_short(&op->batch->ops[i]))
                return false;
        return true;
    default:
        return true;
    }
}

bool pt_cu_op_touches_memory(const struct pt_cu_op *op)
{
    return op->work == PT_CU_KERNEL_LAUNCH || op->work == PT_CU_COPY || op->work == PT_CU_SET ||
           op->work == PT_CU_WAIT_VALUE || op->work == PT_CU_WRITE_VALUE || op->work == PT_CU_BATCH;
}
