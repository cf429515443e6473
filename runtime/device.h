/* The GPU that Ptera stands for: its size, and the limits of what runs on it. Everything that
 * judges a launch, counts occupancy or answers what a device is like asks here. */
#ifndef PTERA_RUNTIME_DEVICE_H
#define PTERA_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Alike in all of them: CUDA C++ Programming Guide, "Technical Specifications"; units of registers
 * as cuda_occupancy.h has them. */
enum {
    PT_DEVICE_WARP = 32,
    PT_DEVICE_BLOCK_THREADS = 1024,
    PT_DEVICE_BLOCK_X = 1024, /* and y */
    PT_DEVICE_BLOCK_Z = 64,
    PT_DEVICE_GRID_X = INT32_MAX,
    PT_DEVICE_GRID_Y = 65535,          /* and z */
    PT_DEVICE_SM_REGISTERS = 64 << 10, /* of 32 bits, of most: what assemblers reckon with */
    PT_DEVICE_SM_PARTITIONS = 4,       /* likewise: which have equal shares of them */
    PT_DEVICE_REGISTER_UNIT = 256,     /* a warp's are a multiple: 8 of each thread */
    PT_DEVICE_THREAD_REGISTERS = 255,
    PT_DEVICE_STATIC_SHARED =
        48 << 10, /* of a block; more is dynamic, and more than that of both together is opted in */
    PT_DEVICE_CONSTANTS = 64 << 10, /* of a module */
    PT_DEVICE_LOCAL = 512 << 10,    /* of a thread */
    PT_DEVICE_CLUSTER_PORTABLE =
        8, /* blocks that a cluster may have unless the function allows more */
    PT_DEVICE_CLUSTER_MOST = 16,  /* of any device */
    PT_DEVICE_CLOCK_KHZ = 1000000 /* %clock counts nanoseconds */
};

/* The most shared memory that a block has, of any device. */
enum {
    PT_DEVICE_SHARED_MOST = sizeof(union {
#define LIMITS(major, minor, threads, blocks, sm_kib, block_kib, ...) \
    uint8_t of_##major##_##minor[block_kib << 10];
#define DEVICE(...)
#include "runtime/device.def"
#undef LIMITS
#undef DEVICE
    })
};

struct pt_device_limits {
    int major, minor; /* compute capability */
    int sm_threads, sm_blocks;
    int sm_shared,
        block_shared;    /* bytes of shared memory; of a block: static and dynamic, opted in */
    int reserved_shared; /* bytes of sm_shared for each block, beside its own */
    int shared_unit;     /* bytes that a block's are a multiple of */
    int cluster;         /* the most blocks of one; 0: there are no clusters */
    int fma32, fma64;    /* fused multiply-adds of an SM a clock */
    int sm_registers, block_registers; /* of 32 bits, in units of 1,024 */
    int parts;                         /* of an SM, which have equal shares of them, and of warps */
};

struct pt_device {
    const char *id;   /* for PTERA_DEVICE */
    const char *name; /* as NVIDIA's driver has it */
    const struct pt_device_limits *limits;
    int sms, l2_kib, memory_khz, memory_bits, memory_mib;
    int boost_mhz; /* 0: not known */
};

/* NULL past the last. */
const struct pt_device *pt_device_at(unsigned index);

/* The device of an id ("h100"; case, spaces and dashes do not matter). NULL: the one that
 * PTERA_DEVICE names, else the first of PTERA_COMPUTE_CAPABILITY ("9.0" or "90"), else an H200.
 * Both may be set if they agree. NULL with the reason in `why` (`size` bytes) if there is none. */
const struct pt_device *pt_device_choose(const char *id, char *why, size_t size);

/* Whether PTERA_DEVICE names one. */
bool pt_device_is_named(void);

/* How many blocks of so many threads, with so many registers each (0: they are not counted) and so
 * many bytes of shared memory an SM has room for, by the formulas of CUDA's occupancy calculator
 * (cuda_occupancy.h). */
int pt_device_blocks(const struct pt_device *device, int threads, int registers, int shared);

#endif
