/* What is mapped into reserved address space: memory of its own (vmm.c) and multicast objects. */
#ifndef PTERA_CUDA_MAPPABLE_H
#define PTERA_CUDA_MAPPABLE_H

#include "runtime/cuda/abi.h"
#include "runtime/cuda/handle.h"

#define PT_CU_GRANULARITY ((size_t)2 << 20)

/* What a CUmemGenericAllocationHandle stands for: an allocation or a multicast object. */
struct pt_cu_mappable {
    struct pt_cu_object object;
    size_t bytes;
    unsigned handles, maps;                   /* it goes when there are none */
    void (*delete)(struct pt_cu_mappable *m); /* ends it */
};

/* Memory made by cuMemCreate: a file that lives in memory. What is bound to a multicast object
 * counts as a map. */
struct pt_cu_allocation {
    struct pt_cu_mappable base;
    CUmemAllocationProp prop;
    int fd;
};

/* The object of that kind behind a handle that has not been released; an error if there is none. */
CUresult pt_cu_mappable_check(CUmemGenericAllocationHandle handle, enum pt_cu_kind kind,
                              void **object);
/* Whether handles may be made of it, by the types asked for. */
CUresult pt_cu_mappable_check_types(unsigned long long types);
/* A handle or a map fewer: deletes what has none. */
void pt_cu_mappable_drop(struct pt_cu_mappable *m);

#endif
