/* Anybody's driver library, opened, with a device and a context. Only workers open one: it may take
 * its process with it. */
#ifndef PTERA_TOOLS_CONFORM_DRIVER_H
#define PTERA_TOOLS_CONFORM_DRIVER_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

struct driver {
#define CALL(name) __typeof__(name) *name;
#include "tools/conform/driver.def"
    CUdevice device;
    CUcontext context;
    int capability; /* 90 */
    int version;    /* 13000 */
    char device_name[128];
};

/* False: it cannot be used, `why` says why. */
bool conform_driver_open(struct driver *driver, const char *library, char *why, size_t why_bytes);

/* "CUDA_ERROR_INVALID_PTX (218)"; static. */
const char *conform_driver_error(const struct driver *driver, CUresult error);

#endif
