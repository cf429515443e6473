/* What variables of CUDA's say of the driver as a whole. docs/environment.md has all of them, also
 * those that are read where they matter, and those that change nothing here. */
#include "runtime/cuda/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/cuda/board.h"

static bool is_one(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") == 0;
}

/* ---- CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER ------------------------------------------------- */

enum { NONE = -1, UUID_DIGITS = sizeof "00000000-0000-0000-0000-000000000000" - 1 };

/* The only board whose UUID begins as the `n` characters do; what is behind a whole one is not
 * looked at. */
static int find_uuid(const struct pt_cu_driver *driver, const char *text, size_t n)
{
    char digits[UUID_DIGITS + 1];
    int found = NONE;
    if (n > UUID_DIGITS)
        n = UUID_DIGITS;
    for (int board = 0; n && board < driver->n_boards; board++) {
        CUuuid uuid = pt_cu_board_uuid(driver, board);
        char *at = digits;
        for (int i = 0; i < 16; i++)
            at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                          (unsigned char)uuid.bytes[i]);
        if (strncasecmp(digits, text, n) != 0)
            continue;
        if (found != NONE)
            return NONE;
        found = board;
    }
    return found;
}

/* A board by its number, or, where the list begins so, by its UUID. MIG-UUID means a part of a
 * board, and as no board has any, the board. *list is behind it then. */
static int read_entry(const struct pt_cu_driver *driver, const char **list, bool by_uuid)
{
    char *end;
    if (by_uuid) {
        size_t n = strcspn(*list, ",");
        bool is_uuid = !strncmp(*list, "GPU-", 4) || !strncmp(*list, "MIG-", 4);
        int board = is_uuid ? find_uuid(driver, *list + 4, n - 4) : NONE;
        *list += n;
        return board;
    }
    long board = strtol(*list, &end, 10);
    if (end == *list || board < 0 || board >= driver->n_boards)
        return NONE;
    *list = end;
    return (int)board;
}

/* What is shown ends before the first entry that is none; no board may be shown twice. */
static CUresult read_shown(struct pt_cu_driver *driver, const char *list)
{
    bool by_uuid = strncmp(list, "GPU-", 4) == 0 || strncmp(list, "MIG-", 4) == 0;
    while (*list) {
        int board = read_entry(driver, &list, by_uuid);
        if (board == NONE)
            break;
        for (int i = 0; i < driver->n_devices; i++)
            if (driver->shown[i] == board)
                return CUDA_ERROR_INVALID_DEVICE;
        driver->shown[driver->n_devices++] = board;
        list += *list == ',';
    }
    return driver->n_devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

/* All boards are alike: the fastest first are those in the bus's order. */
static CUresult check_order(const char *order)
{
    bool is_known = !order || !strcmp(order, "FASTEST_FIRST") || !strcmp(order, "PCI_BUS_ID");
    return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult pt_cu_settings_read(struct pt_cu_driver *driver)
{
    const char *shown = getenv("CUDA_VISIBLE_DEVICES"), *loading = getenv("CUDA_MODULE_LOADING");
    driver->launches_block = is_one("CUDA_LAUNCH_BLOCKING");
    driver->waits_for_debugger = is_one("CUDA_DEVICE_WAITS_ON_EXCEPTION");
    driver->loads_eagerly = loading && !strcasecmp(loading, "EAGER");
    driver->jit = is_one("CUDA_FORCE_PTX_JIT") || is_one("CUDA_FORCE_JIT") ? PT_IMAGE_JIT_FORCED
                  : is_one("CUDA_DISABLE_PTX_JIT") || is_one("CUDA_DISABLE_JIT")
                      ? PT_IMAGE_JIT_DISABLED
                      : PT_IMAGE_JIT_ALLOWED;
    driver->n_devices = 0;
    CUresult r = check_order(getenv("CUDA_DEVICE_ORDER"));
    if (r == CUDA_SUCCESS && shown)
        return read_shown(driver, shown);
    for (; r == CUDA_SUCCESS && driver->n_devices < driver->n_boards; driver->n_devices++)
        driver->shown[driver->n_devices] = driver->n_devices;
    return r == CUDA_SUCCESS && !driver->n_devices ? CUDA_ERROR_NO_DEVICE : r;
}
