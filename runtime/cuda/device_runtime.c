/* What kernels call of CUDA's device runtime library: functions of the host that take the driver's
 * lock, as its entries do. */
#include "runtime/cuda/device_runtime.h"

#include <stddef.h>

#include "runtime/cuda/condition.h"
#include "runtime/cuda/lock.h"

/* A GPU makes an illegal address of a handle that is none (error.c). */
static void set_conditional(CUgraphConditionalHandle handle, unsigned value)
{
    pt_cu_lock_take();
    bool is_set = pt_cu_condition_set(handle, value);
    pt_cu_lock_release();
    if (!is_set)
        ptera_function_fail("cudaGraphSetConditional: no handle of an instantiated graph");
}

static const struct {
    const char *name, *signature;
    void (*code)(void);
} functions[] = {
    {"cudaGraphSetConditional", "void (u64, u32)", (void (*)(void))set_conditional},
};

ptera_result pt_cu_device_runtime_register(ptera_engine *engine)
{
    ptera_result r = PTERA_OK;
    for (size_t i = 0; r == PTERA_OK && i < sizeof functions / sizeof *functions; i++)
        r = ptera_function_register(engine, functions[i].name, functions[i].signature,
                                    functions[i].code);
    return r;
}
