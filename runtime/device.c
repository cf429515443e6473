/* The GPU that Ptera stands for: which it is, and how much of it a block takes. */
#include "runtime/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/bits.h"

enum {
#define LIMITS(major, minor, ...) OF_##major##_##minor,
#define DEVICE(...)
#include "runtime/device.def"
#undef LIMITS
#undef DEVICE
};

static const struct pt_device_limits limits[] = {
#define LIMITS(major, minor, threads, blocks, sm_kib, block_kib, ...) \
    {major, minor, threads, blocks, sm_kib << 10, block_kib << 10, __VA_ARGS__},
#define DEVICE(...)
#include "runtime/device.def"
#undef LIMITS
#undef DEVICE
};

static const struct pt_device devices[] = {
#define LIMITS(...)
#define DEVICE(id, name, major, minor, ...) {id, name, &limits[OF_##major##_##minor], __VA_ARGS__},
#include "runtime/device.def"
#undef LIMITS
#undef DEVICE
};

enum { N_DEVICES = sizeof devices / sizeof *devices };
static const char default_capability[] = "9.0";

const struct pt_device *pt_device_at(unsigned index)
{
    return index < N_DEVICES ? &devices[index] : NULL;
}

/* ---- which it is ----------------------------------------------------------------------------- */

static const char *skip(const char *s)
{
    return s + strspn(s, " -_");
}

/* As ids are given: "RTX 4090", "rtx-4090". */
static bool is_same(const char *given, const char *id)
{
    for (given = skip(given); *given && tolower((unsigned char)*given) == *id; id++)
        given = skip(given + 1);
    return !*given && !*id;
}

static bool is_of(const struct pt_device_limits *l, const char *capability)
{
    char dotted[16], plain[16];
    snprintf(dotted, sizeof dotted, "%d.%d", l->major, l->minor);
    snprintf(plain, sizeof plain, "%d%d", l->major, l->minor);
    return strcmp(capability, dotted) == 0 || strcmp(capability, plain) == 0;
}

static const struct pt_device *find_capability(const char *capability, char *why, size_t size)
{
    for (unsigned i = 0; i < N_DEVICES; i++)
        if (is_of(devices[i].limits, capability))
            return &devices[i];
    snprintf(why, size, "PTERA_COMPUTE_CAPABILITY: no device has '%s'", capability);
    return NULL;
}

static const struct pt_device *find_id(const char *id, char *why, size_t size)
{
    for (unsigned i = 0; i < N_DEVICES; i++)
        if (is_same(id, devices[i].id))
            return &devices[i];
    int n = snprintf(why, size, "PTERA_DEVICE: there is no '%s', but", id);
    for (unsigned i = 0; i < N_DEVICES && n > 0 && (size_t)n < size; i++)
        n += snprintf(why + n, size - (size_t)n, "%s %s", i ? "," : "", devices[i].id);
    return NULL;
}

/* A variable of the environment; NULL: it is not set, or empty. */
static const char *variable(const char *value)
{
    return value && *value ? value : NULL;
}

bool pt_device_is_named(void)
{
    return variable(getenv("PTERA_DEVICE"));
}

const struct pt_device *pt_device_choose(const char *id, char *why, size_t size)
{
    if (id)
        return find_id(id, why, size);
    const char *named = variable(getenv("PTERA_DEVICE")),
               *capability = variable(getenv("PTERA_COMPUTE_CAPABILITY"));
    if (!named)
        return find_capability(capability ? capability : default_capability, why, size);
    const struct pt_device *device = find_id(named, why, size);
    if (!device || !capability || is_of(device->limits, capability))
        return device;
    snprintf(why, size,
             "PTERA_DEVICE: %s has compute capability %d.%d, PTERA_COMPUTE_CAPABILITY says %s",
             device->id, device->limits->major, device->limits->minor, capability);
    return NULL;
}

/* ---- how much of it a block takes ------------------------------------------------------------ */

/* Warps share the registers of one part of the SM. */
static int by_registers(const struct pt_device_limits *l, int registers, int warps)
{
    int warp_registers =
        (int)pt_round_up((uint64_t)registers * PT_DEVICE_WARP, PT_DEVICE_REGISTER_UNIT);
    int assumed = (int)pt_round_up((uint64_t)warps, (uint64_t)l->parts) * warp_registers;
    int part_warps = (l->sm_registers << 10) / l->parts / warp_registers;
    return assumed > l->block_registers << 10 ? 0 : part_warps * l->parts / warps;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int pt_device_blocks(const struct pt_device *device, int threads, int registers, int shared)
{
    const struct pt_device_limits *l = device->limits;
    int warps = (threads + PT_DEVICE_WARP - 1) / PT_DEVICE_WARP;
    int block_shared =
        (int)pt_round_up((uint64_t)(shared + l->reserved_shared), (uint64_t)l->shared_unit);
    int n = least(l->sm_blocks, l->sm_threads / PT_DEVICE_WARP / warps);
    if (registers)
        n = least(n, by_registers(l, registers, warps));
    return block_shared ? least(n, l->sm_shared / block_shared) : n;
}
