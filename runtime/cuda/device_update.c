/* What kernels call to change kernel nodes of graphs. A launch of the graph reads a node when its
 * turn has come: what is changed by then it has. */
#include "runtime/cuda/device_update.h"

#include <string.h>

#include "runtime/cuda/device_call.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/updatable.h"
#include "runtime/fault.h"

/* cudaGraphKernelNodeUpdate, and its cudaGraphKernelNodeField */
enum field { FIELD_GRID = 1, FIELD_PARAMETER, FIELD_ENABLED };
struct update {
    uint64_t node;
    enum field field;
    union {
        struct pt_cu_device_update_grid grid;
        struct {
            uint64_t value;
            size_t offset, bytes;
        } parameter;
        uint32_t is_enabled;
    };
};
_Static_assert(sizeof(struct update) == 40, "as the runtime library has it");

/* Under the lock. -1: the kernel gave an address that is none. */
static int set_parameter(CUgraphNode node, size_t offset, uint64_t value, size_t bytes)
{
    struct pt_cu_launch *l = &node->op.launch;
    if (!value || offset > l->bytes || bytes > l->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    return pt_fault_copy(l->parameters + offset, value, bytes) == bytes ? 0 : -1;
}

static int set_grid(CUgraphNode node, struct pt_cu_device_update_grid g)
{
    if (!g.x || !g.y || !g.z || g.x > INT32_MAX || g.y > UINT16_MAX || g.z > UINT16_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(node->op.launch.launch.grid, &g, sizeof g);
    return 0;
}

static int apply(CUgraphNode node, const struct update *u)
{
    switch (u->field) {
    case FIELD_GRID:
        return set_grid(node, u->grid);
    case FIELD_PARAMETER:
        return set_parameter(node, u->parameter.offset, u->parameter.value, u->parameter.bytes);
    case FIELD_ENABLED:
        node->is_disabled = !u->is_enabled;
        return 0;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* One of them, from begin to end. */
static int apply_one(const struct update *u)
{
    CUgraphDeviceNode updatable = (CUgraphDeviceNode)(uintptr_t)u->node;
    int error = CUDA_ERROR_INVALID_VALUE;
    pt_cu_device_call_begin(0);
    if (pt_cu_handle_is(updatable, PT_CU_DEVICE_NODE) && updatable->has_exec)
        error = updatable->node ? apply(updatable->node, u) : 0; /* the upload would undo it */
    pt_cu_device_call_end();
    if (error >= 0)
        return error;
    ptera_function_fail("the value of a graph node's parameter lies in no memory");
    return 0;
}

int pt_cu_device_update_parameter(uint64_t node, size_t offset, uint64_t value, size_t bytes)
{
    return apply_one(&(struct update){
        .node = node, .field = FIELD_PARAMETER, .parameter = {value, offset, bytes}});
}

int pt_cu_device_update_enabled(uint64_t node, uint32_t is_enabled)
{
    return apply_one(
        &(struct update){.node = node, .field = FIELD_ENABLED, .is_enabled = is_enabled});
}

int pt_cu_device_update_grid(uint64_t node, struct pt_cu_device_update_grid grid)
{
    return apply_one(&(struct update){.node = node, .field = FIELD_GRID, .grid = grid});
}

int pt_cu_device_update_all(uint64_t updates, size_t n)
{
    int error = updates ? 0 : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; !error && i < n; i++) {
        struct update u;
        if (pt_fault_copy(&u, updates + i * sizeof u, sizeof u) < sizeof u) {
            ptera_function_fail("updates of graphs' nodes lie in no memory");
            return 0;
        }
        error = apply_one(&u);
    }
    return error;
}
