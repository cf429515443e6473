/* What virtual memory management (vmm.c) and multicast objects (multicast.c) have in common: what is mapped into reserved address
 * space. */
#ifndef PTERA_CUDA_VMM_H
#define PTERA_CUDA_VMM_H

#include "runtime/cuda/driver.h"

#define PT_CU_GRANULARITY ((size_t)2 << 20)

/* What a CUmemGenericAllocationHandle stands for: an allocation or a multicast object. */
struct pt_cu_mappable {
    struct pt_cu_object object;
    size_t bytes;
    unsigned handles, maps; /* it goes when there are none */
};

/* Memory made by cuMemCreate: a file that lives in memory. What is bound to a multicast object counts as a map. */
struct pt_cu_allocation {
    struct pt_cu_mappable base;
    CUmemAllocationProp prop;
    int fd;
};

/* vmm.c: the object of that kind behind a handle that has not been released; an error if there is none. */
CUresult pt_cu_check_mappable(CUmemGenericAllocationHandle handle, enum pt_cu_kind kind, void **object);
/* Whether handles may be made of it, by the types asked for. */
CUresult pt_cu_check_handle_types(unsigned long long types);
/* A handle or a map fewer: deletes what has none. */
void pt_cu_mappable_drop(struct pt_cu_mappable *m);
/* All that is under way in any context is done. */
void pt_cu_drain_all(void);

/* multicast.c: waits until all devices have been added. An error if it is released meanwhile. */
CUresult pt_cu_multicast_wait(CUmemGenericAllocationHandle handle);
/* Kernels find the range, of PT_CU_MULTICAST memory, from now on, or no longer. */
void pt_cu_multicast_enter(struct pt_cu_range *range);
void pt_cu_multicast_leave(struct pt_cu_range *range);
void pt_cu_multicast_protect(struct pt_cu_range *range, unsigned flags);
/* Ends a multicast object that has neither handles nor maps. */
void pt_cu_multicast_delete(struct pt_cu_mappable *m);

#endif
