/* A call that a kernel makes of CUDA's device runtime library. */
#ifndef PTERA_CUDA_DEVICE_CALL_H
#define PTERA_CUDA_DEVICE_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/cuda/abi.h"
#include "runtime/cuda/children.h"

struct pt_host_caller;

struct pt_cu_device_call {
    const struct pt_host_caller *caller;
    struct pt_cu_command *parent;
    CUcontext ctx;
    struct pt_cu_child_place place;
};

/* Takes the lock; the ends let it go. */
struct pt_cu_device_call pt_cu_device_call_begin(uint64_t stream);
int pt_cu_device_call_end(void);
/* The error becomes the thread's last one. */
int pt_cu_device_call_end_with(const struct pt_cu_device_call *c, int error);
/* To where a kernel says, without the lock: it may be no memory, which is the kernel's fault. */
void pt_cu_device_call_store(const struct pt_cu_device_call *c, void *to, const void *from,
                             size_t bytes);
/* Ends with the value stored, or with an error. */
int pt_cu_device_call_store_int(const struct pt_cu_device_call *c, int error, int *to, int value);
/* The kernel at an address that a kernel took; NULL: there is none. */
CUfunction pt_cu_device_call_function_at(const struct pt_cu_device_call *c, uint64_t address);

#endif
