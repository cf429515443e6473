/* Anybody's driver library, opened, with a device and a context. */
#include "tools/conform/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find(void *library, const char *name, bool is_needed, void **call, char *why, size_t n)
{
    *call = dlsym(library, name);
    if (!*call && is_needed)
        snprintf(why, n, "it has no %s", name);
    return *call || !is_needed;
}

const char *conform_driver_error(const struct driver *driver, CUresult error)
{
    static char text[96];
    const char *name = NULL;
    if (driver->cuGetErrorName)
        driver->cuGetErrorName(error, &name);
    snprintf(text, sizeof text, "%s (%d)", name ? name : "error", (int)error);
    return text;
}

bool conform_driver_open(struct driver *driver, const char *library, char *why, size_t why_bytes)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int minor = 0;
    memset(driver, 0, sizeof *driver);
    if (!handle) {
        snprintf(why, why_bytes, "%s", dlerror());
        return false;
    }
#define CALL(name)                                                                  \
    if (!find(handle, #name, true, (void **)(void *)&driver->name, why, why_bytes)) \
        return false;
#define OPTIONAL(name) find(handle, #name, false, (void **)(void *)&driver->name, why, why_bytes);
#include "tools/conform/driver.def"
    const char *call = "cuInit";
    CUresult r = driver->cuInit(0);
    if (!r && (call = "cuDeviceGet"))
        r = driver->cuDeviceGet(&driver->device, 0);
    if (!r && (call = "cuDriverGetVersion"))
        r = driver->cuDriverGetVersion(&driver->version);
    if (!r && (call = "cuDeviceGetName"))
        r = driver->cuDeviceGetName(driver->device_name, sizeof driver->device_name,
                                    driver->device);
    if (!r && (call = "cuDeviceGetAttribute"))
        r = driver->cuDeviceGetAttribute(
            &driver->capability, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, driver->device);
    if (!r)
        r = driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                         driver->device);
    driver->capability = 10 * driver->capability + minor;
    if (!r && (call = "cuCtxCreate"))
        r = driver->cuCtxCreate_v2(&driver->context, 0, driver->device);
    if (r)
        snprintf(why, why_bytes, "%s: %s", call, conform_driver_error(driver, r));
    return r == CUDA_SUCCESS;
}
