/* CUDA's device runtime library, libcudadevrt.a, which programs link for barriers of whole grids:
 * of those it has machine code alone for most GPUs, so that Ptera has functions of its own. */
#ifndef PTERA_FRONTEND_DEVICE_RUNTIME_H
#define PTERA_FRONTEND_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* Is the archive that library? */
bool pt_device_runtime_is(const void *data, size_t size);

/* Is the PTX that library's, which calls functions that only NVIDIA's drivers have? */
bool pt_device_runtime_is_text(const char *text, size_t len);

/* A module to link in its place. What else kernels call of the library, the driver has. */
extern const char pt_device_runtime_text[];

#endif
