/* Which atomic operations kernels can do on memory of the host, and of other devices. */
#include <stddef.h>

#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/entry.h"

enum {
    SIGNED = CU_ATOMIC_CAPABILITY_SIGNED,
    UNSIGNED = CU_ATOMIC_CAPABILITY_UNSIGNED,
    REDUCTION = CU_ATOMIC_CAPABILITY_REDUCTION,
    WORDS = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64,
    INTEGER = SIGNED | UNSIGNED | REDUCTION | WORDS,
    EXCHANGES = SIGNED | UNSIGNED | WORDS | CU_ATOMIC_CAPABILITY_SCALAR_128
};

/* What PTX has of them, on any memory here. */
static const unsigned char all[CU_ATOMIC_OPERATION_MAX] = {
    [CU_ATOMIC_OPERATION_INTEGER_ADD] = INTEGER,
    [CU_ATOMIC_OPERATION_INTEGER_MIN] = INTEGER,
    [CU_ATOMIC_OPERATION_INTEGER_MAX] = INTEGER,
    [CU_ATOMIC_OPERATION_INTEGER_INCREMENT] = UNSIGNED | REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32,
    [CU_ATOMIC_OPERATION_INTEGER_DECREMENT] = UNSIGNED | REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32,
    [CU_ATOMIC_OPERATION_AND] = INTEGER,
    [CU_ATOMIC_OPERATION_OR] = INTEGER,
    [CU_ATOMIC_OPERATION_XOR] = INTEGER,
    [CU_ATOMIC_OPERATION_EXCHANGE] = EXCHANGES,
    [CU_ATOMIC_OPERATION_CAS] = EXCHANGES,
    [CU_ATOMIC_OPERATION_FLOAT_ADD] = SIGNED | REDUCTION | WORDS,
};

static CUresult tell(unsigned *out, const CUatomicOperation *operations, unsigned n, bool is_native)
{
    if (!out || !operations || !n)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++)
        out[i] = 0;
    for (unsigned i = 0; i < n; i++) {
        if ((unsigned)operations[i] >= CU_ATOMIC_OPERATION_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        out[i] = is_native ? all[operations[i]] : 0;
    }
    return CUDA_SUCCESS;
}

static CUresult of_host(unsigned *out, const CUatomicOperation *operations, unsigned n,
                        CUdevice device)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !pt_cu_device_is_valid(device))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r != CUDA_SUCCESS)
        return r;
    return tell(out, operations, n,
                pt_cu_device_attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, device));
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned *capabilities,
                                           const CUatomicOperation *operations, unsigned n,
                                           CUdevice device)
{
    return API(of_host(capabilities, operations, n, device));
}

static CUresult of_peer(unsigned *out, const CUatomicOperation *operations, unsigned n,
                        CUdevice from, CUdevice to)
{
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS &&
        (!pt_cu_device_is_valid(from) || !pt_cu_device_is_valid(to) || from == to))
        r = CUDA_ERROR_INVALID_DEVICE;
    return r == CUDA_SUCCESS ? tell(out, operations, n, true) : r;
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities,
                                          const CUatomicOperation *operations, unsigned n,
                                          CUdevice from, CUdevice to)
{
    return API(of_peer(capabilities, operations, n, from, to));
}
