/* What is mapped into reserved address space: memory of its own (vmm.c) and multicast objects. */
#include "runtime/cuda/mappable.h"

#include "runtime/cuda/driver.h"
#include "runtime/cuda/handle.h"

CUresult pt_cu_mappable_check(CUmemGenericAllocationHandle handle, enum pt_cu_kind kind,
                              void **object)
{
    struct pt_cu_mappable *m = (void *)(uintptr_t)handle;
    CUresult r = pt_cu_driver_check();
    if (r == CUDA_SUCCESS && !(pt_cu_handle_is(m, kind) && m->handles))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *object = m;
    return r;
}

CUresult pt_cu_mappable_check_types(unsigned long long types)
{
    const unsigned long long known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return types & ~known ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

void pt_cu_mappable_drop(struct pt_cu_mappable *m)
{
    if (m->handles || m->maps)
        return;
    m->delete (m);
}
