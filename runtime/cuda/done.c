/* What the listener is told of an operation. */
#include "runtime/cuda/done.h"

#include <string.h>

#include "runtime/cuda/listener.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"

/* Memory of the host, and managed memory, is of the device that works on it. */
static enum pt_cu_place place_of(const void *address, CUdevice *device)
{
    const struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    if (range && pt_cu_range_is_device(address) && range->memory != PT_CU_MANAGED)
        *device = range->device;
    switch (range ? range->memory : 0) {
    case 0:
        return PT_CU_PLACE_PAGEABLE;
    case PT_CU_HOST:
    case PT_CU_REGISTERED:
        return PT_CU_PLACE_PINNED;
    case PT_CU_MANAGED:
        return PT_CU_PLACE_MANAGED;
    case PT_CU_TEXELS:
        return PT_CU_PLACE_ARRAY;
    default:
        return PT_CU_PLACE_DEVICE;
    }
}

static void describe_kernel(const struct pt_cu_launch *launch, struct pt_cu_done *done)
{
    const ptera_launch *l = &launch->launch;
    done->what = PT_CU_DONE_KERNEL;
    done->name = ptera_kernel_name(launch->job->kernel);
    memcpy(done->grid, l->grid, sizeof done->grid);
    memcpy(done->block, l->block, sizeof done->block);
    memcpy(done->cluster, l->cluster, sizeof done->cluster);
    done->shared_dynamic = (unsigned)l->shared_bytes;
    done->shared_static = launch->shared_static;
    done->local_bytes = launch->local_bytes;
    done->registers = launch->registers;
    done->is_cooperative = l->cooperative;
    done->priority = launch->priority;
}

void pt_cu_done_begin(const struct pt_cu_op *op, struct pt_cu_done *done)
{
    const struct pt_cu_copy *c = &op->copy;
    const struct pt_cu_set *s = &op->set;
    switch (op->work) {
    case PT_CU_KERNEL_LAUNCH:
        describe_kernel(&op->launch, done);
        break;
    case PT_CU_COPY:
        done->what = PT_CU_DONE_COPY;
        done->bytes = (uint64_t)c->width * c->height * c->depth;
        done->from_device = done->to_device = (CUdevice)done->device;
        done->from = place_of(c->from, &done->from_device);
        done->to = place_of(c->to, &done->to_device);
        break;
    case PT_CU_SET:
        done->what = PT_CU_DONE_SET;
        done->bytes = (uint64_t)s->width * s->element_bytes * s->height;
        done->value = s->value;
        done->to_device = (CUdevice)done->device;
        done->to = place_of(s->to, &done->to_device);
        break;
    default:
        return;
    }
    const struct pt_cu_listener *l = pt_cu_listener_get();
    done->begun = l ? l->now() : 0;
}

/* A listener that has gone is told nothing. */
void pt_cu_done_end(struct pt_cu_done *done)
{
    const struct pt_cu_listener *l = pt_cu_listener_get();
    if (!l)
        return;
    done->ended = l->now();
    l->done(done);
}
