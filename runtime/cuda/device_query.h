/* What kernels ask of CUDA's device runtime library. */
#ifndef PTERA_CUDA_DEVICE_QUERY_H
#define PTERA_CUDA_DEVICE_QUERY_H

#include <stddef.h>
#include <stdint.h>

struct pt_cu_device_attributes;

/* As the library's functions; what is asked for is stored without the lock. */
int pt_cu_device_query_device(int *device);
int pt_cu_device_query_count(int *count);
int pt_cu_device_query_version(int *version);
int pt_cu_device_query_attribute(int *value, int attribute, int device);
int pt_cu_device_query_limit(size_t *value, unsigned limit);
int pt_cu_device_query_cache_config(int *config);
int pt_cu_device_query_shared_config(int *config);
int pt_cu_device_query_function(struct pt_cu_device_attributes *to, uint64_t address);
int pt_cu_device_query_plain_blocks(int *blocks, uint64_t function, int threads, size_t shared);
int pt_cu_device_query_blocks(int *blocks, uint64_t function, int threads, size_t shared,
                              unsigned flags);

#endif
