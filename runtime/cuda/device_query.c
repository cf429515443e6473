/* What kernels ask of CUDA's device runtime library. */
#include "runtime/cuda/device_query.h"

#include "ptera.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/device_call.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/function.h"
#include "runtime/cuda/occupancy.h"

enum { RUNTIME_VERSION = 6000 };

int pt_cu_device_query_device(int *device)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    return pt_cu_device_call_store_int(&c, 0, device, c.ctx->device);
}

int pt_cu_device_query_count(int *count)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    return pt_cu_device_call_store_int(&c, 0, count, pt_cu_driver.n_devices);
}

int pt_cu_device_query_version(int *version)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    return pt_cu_device_call_store_int(&c, 0, version, RUNTIME_VERSION);
}

int pt_cu_device_query_attribute(int *value, int attribute, int device)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    bool is_one = attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX,
         is_device = pt_cu_device_is_valid(device);
    int error = !is_device ? CUDA_ERROR_INVALID_DEVICE : is_one ? 0 : CUDA_ERROR_INVALID_VALUE;
    return pt_cu_device_call_store_int(
        &c, error, value,
        error ? 0 : pt_cu_device_attribute((CUdevice_attribute)attribute, device));
}

int pt_cu_device_query_limit(size_t *value, unsigned limit)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    size_t is = limit < CU_LIMIT_MAX ? c.ctx->limits[limit] : 0;
    pt_cu_device_call_end();
    if (!value || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_known = limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH; /* since CUDA 12 */
    if (!is_known)
        is = SIZE_MAX;
    pt_cu_device_call_store(&c, value, &is, sizeof is);
    return is_known ? 0 : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

int pt_cu_device_query_cache_config(int *config)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    return pt_cu_device_call_store_int(&c, 0, config, c.ctx->cache_config);
}

/* As cuCtxGetSharedMemConfig. */
int pt_cu_device_query_shared_config(int *config)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    return pt_cu_device_call_store_int(&c, 0, config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
}

/* As cudaFuncAttributes begins, in all its versions. */
struct pt_cu_device_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache_mode, dynamic, carveout;
};

int pt_cu_device_query_function(struct pt_cu_device_attributes *to, uint64_t address)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    CUfunction f = pt_cu_device_call_function_at(&c, address);
    int v[] = {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
               CU_FUNC_ATTRIBUTE_NUM_REGS,
               CU_FUNC_ATTRIBUTE_PTX_VERSION,
               CU_FUNC_ATTRIBUTE_BINARY_VERSION,
               CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
               CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    CUresult r = to && address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && f && i < sizeof v / sizeof *v; i++)
        r = pt_cu_function_value(f, (CUfunction_attribute)v[i], &v[i]);
    if (r != CUDA_SUCCESS)
        return pt_cu_device_call_end_with(&c, (int)r);
    pt_cu_device_call_end();
    if (!f) {
        ptera_function_fail("cudaFuncGetAttributes: no kernel of the module");
        return 0;
    }
    const struct pt_cu_device_attributes all = {
        (size_t)v[0], (size_t)v[1], (size_t)v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]};
    pt_cu_device_call_store(
        &c, to, &all, offsetof(struct pt_cu_device_attributes, carveout) + sizeof all.carveout);
    return 0;
}

int pt_cu_device_query_blocks(int *blocks, uint64_t function, int threads, size_t shared,
                              unsigned flags)
{
    struct pt_cu_device_call c = pt_cu_device_call_begin(0);
    CUfunction f = pt_cu_device_call_function_at(&c, function);
    int n = 0;
    bool is_valid = f && blocks && threads > 0 && flags <= 1;
    CUresult r =
        is_valid ? pt_cu_occupancy_blocks(f, threads, shared, &n) : CUDA_ERROR_INVALID_VALUE;
    pt_cu_device_call_end();
    if (r == CUDA_SUCCESS)
        pt_cu_device_call_store(&c, blocks, &n, sizeof n);
    return r;
}

int pt_cu_device_query_plain_blocks(int *blocks, uint64_t function, int threads, size_t shared)
{
    return pt_cu_device_query_blocks(blocks, function, threads, shared, 0);
}
