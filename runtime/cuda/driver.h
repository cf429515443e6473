/* The state of the driver as a whole. */
#ifndef PTERA_CUDA_DRIVER_H
#define PTERA_CUDA_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "frontend/fatbin.h"
#include "runtime/cuda/abi.h"
#include "runtime/device.h"

enum { PT_CU_DEVICES_MAX = 32 };

struct pt_cu_device {
    CUcontext primary; /* made once; its handle stays the same */
    unsigned primary_flags, retained;
    size_t used_bytes; /* of its memory */
    CUmemoryPool default_pool, pool;
    uint64_t graph_bytes, graph_high[2]; /* of graphs' memory: used, reserved */
};

/* The newest release whose PTX runs here, 9.5. Programs that compile compare it with their
 * compiler's, and give an older driver machine code. CUDA_VERSION is that of our header. */
enum { PT_CU_DRIVER_VERSION = 13050 };

struct pt_cu_driver {
    bool is_initialised, is_inherited; /* inherited: by a process that was forked afterwards */
    const struct pt_device *profile;
    const struct pt_device_limits *limits; /* of it */
    bool has_name;                         /* PTERA_DEVICE gave it */
    int n_boards, n_devices;
    int shown[PT_CU_DEVICES_MAX]; /* by the device: which board it is */
    struct pt_cu_device *devices;
    size_t device_bytes;     /* memory of each */
    size_t managed_bytes;    /* that are allocated */
    bool launches_block;     /* CUDA_LAUNCH_BLOCKING=1: they return when the kernel is done */
    bool loads_eagerly;      /* CUDA_MODULE_LOADING=EAGER */
    bool waits_for_debugger; /* CUDA_DEVICE_WAITS_ON_EXCEPTION=1: where a kernel fails */
    enum pt_image_jit jit;   /* what is taken of images */
    bool traps_host;         /* PTERA_HOST_ACCESS=trap */
    /* Between cuProfilerStop and cuProfilerStart, and before the first one with
     * PTERA_PROFILE_FROM_START=0: nothing is counted (counted.h) or recorded (trace.h). */
    atomic_bool is_unprofiled;
    atomic_uint watchers; /* enum pt_cu_watcher: who is told of calls and operations */
};

enum pt_cu_watcher { PT_CU_TIMELINE = 1, PT_CU_LISTENER = 2 };

extern struct pt_cu_driver pt_cu_driver;
/* By any of them. */
static inline bool pt_cu_driver_is_watched(unsigned by)
{
    return (atomic_load_explicit(&pt_cu_driver.watchers, memory_order_relaxed) & by) != 0;
}
CUresult pt_cu_driver_check(void);

#endif
