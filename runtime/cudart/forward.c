/* Calls that only hand their arguments on to the driver, and those that are not supported. */
#include <stdatomic.h>
#include <stdio.h>

#include "runtime/cudart/refuse.h"
#include "runtime/cudart/rt.h"

/* ---- calls that are the driver's ------------------------------------------------------------- */

#define FORWARD(name, parameters, symbol, types, arguments) \
    CUresult symbol types;                                  \
    cudaError_t name parameters                             \
    {                                                       \
        return RT_API(symbol arguments);                    \
    }
#define STREAM(name, parameters, symbol, types, arguments) \
    FORWARD(name, parameters, symbol, types, arguments)    \
    cudaError_t name##_ptsz parameters                     \
    {                                                      \
        stream = pt_rt_per_thread(stream);                 \
        return RT_API(symbol arguments);                   \
    }
#include "runtime/cudart/forward.def"

/* ---- what is not supported ------------------------------------------------------------------- */

int ptera_cudart_refuse(struct ptera_refusal *refusal)
{
    if (!atomic_exchange(&refusal->is_told, true))
        fprintf(stderr, "ptera: %s is not supported\n", refusal->name);
    return (int)pt_rt_error_done(cudaErrorNotSupported);
}

#define NOT_SUPPORTED(name)                                   \
    cudaError_t name(void)                                    \
    {                                                         \
        static struct ptera_refusal refusal = {#name, false}; \
        return (cudaError_t)ptera_cudart_refuse(&refusal);    \
    }
#include "runtime/cudart/refused.def"
