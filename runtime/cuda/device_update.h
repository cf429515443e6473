/* What kernels call to change kernel nodes of graphs. */
#ifndef PTERA_CUDA_DEVICE_UPDATE_H
#define PTERA_CUDA_DEVICE_UPDATE_H

#include <stddef.h>
#include <stdint.h>

struct pt_cu_device_update_grid {
    uint32_t x, y, z;
};

/* The runtime library's errors, as an H200's has them (driver 580). */
int pt_cu_device_update_parameter(uint64_t node, size_t offset, uint64_t value, size_t bytes);
int pt_cu_device_update_enabled(uint64_t node, uint32_t is_enabled);
int pt_cu_device_update_grid(uint64_t node, struct pt_cu_device_update_grid grid);
int pt_cu_device_update_all(uint64_t updates, size_t n);

#endif
