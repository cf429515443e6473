/* Several devices with memory under one multicast address. */
#ifndef PTERA_TESTS_CUDA_MULTICAST_H
#define PTERA_TESTS_CUDA_MULTICAST_H

#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/support.h"

enum { UNIT = 2 << 20, DEVICES_MAX = 3 };

static int n_devices;

static inline CUmulticastObjectProp multicast_prop(size_t bytes)
{
    return (CUmulticastObjectProp){.numDevices = (unsigned)n_devices, .size = bytes};
}

static inline CUmemGenericAllocationHandle new_allocation(int device, size_t bytes)
{
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    OK(cuMemCreate(&handle, bytes, &prop, 0));
    return handle;
}

/* Mapped, for all devices. */
static inline CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes, size_t offset,
                              CUmemAccess_flags flags)
{
    CUdeviceptr p = 0;
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    OK(cuMemAddressReserve(&p, bytes, 0, 0, 0));
    OK(cuMemMap(p, bytes, offset, handle, 0));
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
        OK(cuMemSetAccess(p, bytes, &access, 1));
    return p;
}

static inline void unmap(CUdeviceptr p, size_t bytes)
{
    OK(cuMemUnmap(p, bytes));
    OK(cuMemAddressFree(p, bytes));
}

/* An object of three units: the first is bound to the second of each device's allocation, the
 * second to that of device 0 alone. The devices are added from the last to the first. */
struct team {
    CUmemGenericAllocationHandle object, allocation[DEVICES_MAX];
    CUdeviceptr all, replica[DEVICES_MAX]; /* in the order in which the devices were added */
};

static inline void make_team(struct team *t)
{
    CUmulticastObjectProp prop = multicast_prop(3 * UNIT);
    OK(cuMulticastCreate(&t->object, &prop));
    for (int i = 0; i < n_devices; i++)
        OK(cuMulticastAddDevice(t->object, n_devices - 1 - i));
    for (int i = 0; i < n_devices; i++) {
        t->allocation[i] = new_allocation(n_devices - 1 - i, 2 * UNIT);
        t->replica[i] = map(t->allocation[i], UNIT, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        if (i % 2)
            OK(cuMulticastBindAddr(t->object, 0, t->replica[i], UNIT, 0));
        else
            OK(cuMulticastBindMem(t->object, 0, t->allocation[i], UNIT, UNIT, 0));
    }
    OK(cuMulticastBindMem(t->object, UNIT, t->allocation[n_devices - 1], 0, UNIT, 0));
    t->all = map(t->object, 3 * UNIT, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

static inline void end_team(struct team *t)
{
    OK(cuMulticastUnbind(t->object, 0, UNIT, UNIT));
    OK(cuMemRelease(t->object)); /* mapped: it stays, and what is bound to it */
    unmap(t->all, 3 * UNIT);
    for (int i = 0; i < n_devices; i++) {
        unmap(t->replica[i], UNIT);
        OK(cuMemRelease(t->allocation[i]));
    }
}

/* Calls check() in a process with two devices, and in this one with three: a process has those that
 * it was started with. */
static inline void run_with(int n, const char *text, void (*check)(void))
{
    n_devices = n;
    setenv("PTERA_DEVICES", text, 1);
    check();
}

static inline void run_with_devices(void (*check)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        run_with(2, "2", check);
        fflush(NULL);
        _exit(check_failed != 0);
    }
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    run_with(3, "3", check);
}

#endif
