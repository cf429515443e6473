#include "runtime/cuda/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"

static bool read_count(const char *text, int *n)
{
    char *end;
    long value = strtol(text, &end, 10);
    *n = (int)value;
    return *text && !*end && value >= 0 && value <= PT_CU_DEVICES_MAX;
}

/* The host's memory is what there is; of a device that is asked for by its name as much as that
 * has. */
static size_t memory_of(const struct pt_cu_driver *driver)
{
    size_t host = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
           own = (size_t)driver->profile->memory_mib << 20;
    return driver->has_name && own < host ? own : host;
}

CUresult pt_cu_board_read(struct pt_cu_driver *driver)
{
    const char *count = getenv("PTERA_DEVICES");
    char why[512];
    driver->profile = pt_device_choose(NULL, why, sizeof why);
    driver->n_boards = 1;
    if (!driver->profile) {
        pt_cu_log_print("%s", why);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    driver->limits = driver->profile->limits;
    driver->has_name = pt_device_is_named();
    if (count && *count && !read_count(count, &driver->n_boards)) {
        pt_cu_log_print("PTERA_DEVICES: '%s' is not a number up to %d", count, PT_CU_DEVICES_MAX);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    driver->device_bytes = memory_of(driver);
    return CUDA_SUCCESS;
}

void pt_cu_board_name(const struct pt_cu_driver *driver, char *name, size_t bytes)
{
    if (driver->has_name)
        snprintf(name, bytes, "%s", driver->profile->name);
    else
        snprintf(name, bytes, "Ptera %d.%d", driver->limits->major, driver->limits->minor);
}

CUuuid pt_cu_board_uuid(const struct pt_cu_driver *driver, int board)
{
    return (CUuuid){{'P', 't', 'e', 'r', 'a', 0, 0, 0, 0, 0, 0, 0, 0, (char)driver->limits->major,
                     (char)driver->limits->minor, (char)board}};
}

void pt_cu_board_bus_id(int board, char *id, size_t bytes)
{
    snprintf(id, bytes, "0000:%02x:00.0", (unsigned)board + 1);
}

/* What this process has of the board's memory: other processes have boards of their own. */
static size_t used_of(int board)
{
    size_t used = 0;
    pt_cu_lock_take();
    for (int d = 0; d < pt_cu_driver.n_devices; d++)
        if (pt_cu_driver.shown[d] == board)
            used = pt_cu_driver.devices[d].used_bytes;
    pt_cu_lock_release();
    return used;
}

CUresult pt_cu_board_describe(int board, struct pt_cu_board *description)
{
    struct pt_cu_driver driver = {0};
    CUresult r = pt_cu_board_read(&driver);
    if (r != CUDA_SUCCESS)
        return r;
    if (board < 0 || board >= driver.n_boards)
        return driver.n_boards ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_NO_DEVICE;
    *description = (struct pt_cu_board){
        .uuid = pt_cu_board_uuid(&driver, board),
        .n_boards = driver.n_boards,
        .major = driver.limits->major,
        .minor = driver.limits->minor,
        .sm_mhz = PT_DEVICE_CLOCK_KHZ / 1000,
        .memory_mhz = driver.profile->memory_khz / 1000,
        .memory_bits = driver.profile->memory_bits,
        .bytes = driver.device_bytes,
        .used_bytes = used_of(board),
    };
    pt_cu_board_name(&driver, description->name, sizeof description->name);
    return CUDA_SUCCESS;
}
