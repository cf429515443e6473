/* PTERA_HOST_ACCESS=trap: the host's own accesses of device memory are faults, as they are where
 * there is a GPU, and so are kernels' accesses of the memory of devices that they have no peer
 * access to.
 *
 * A device address is a host address, so the pages are inaccessible while nothing of the driver's
 * touches them, and accessible meanwhile. So that this is for nothing but the driver, launches,
 * copies and settings are waited for (pt_cu_submit_op). Kernels themselves run as ever. */
#include "runtime/cuda/trap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/range.h"
#include "runtime/engine.h"
#include "runtime/handler.h"

/* What touches memory now: kernels of each device, and what may touch that of all. */
static unsigned n_all;
static struct {
    unsigned n;
    uint64_t peers; /* devices whose memory they may use, too */
} users[PT_CU_DEVICES_MAX];

static bool is_trapped(const struct pt_cu_range *range)
{
    return range->memory == PT_CU_DEVICE || range->memory == PT_CU_POOLED;
}

/* In the handler. The lock is taken by nobody where the program itself has faulted, or by somebody
 * else: then it is not said what lies there. */
static void tell(uint64_t address)
{
    char text[256];
    if (!pt_cu_lock_try())
        return;
    const struct pt_cu_range *range = pt_cu_range_find(address);
    int n = 0;
    if (range && is_trapped(range))
        n = snprintf(text, sizeof text,
                     "ptera: the host accesses byte %llu of device memory of %llu bytes at 0x%llx: "
                     "a segmentation fault where there is a "
                     "GPU, too (PTERA_HOST_ACCESS=trap)\n",
                     (unsigned long long)(address - range->first), (unsigned long long)range->bytes,
                     (unsigned long long)range->first);
    pt_cu_lock_release();
    if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
        return; /* nobody listens */
}

void pt_cu_trap_init(void)
{
    const char *how = getenv("PTERA_HOST_ACCESS");
    pt_cu_driver.traps_host = how && strcmp(how, "trap") == 0;
    if (pt_cu_driver.traps_host)
        pt_handler_tell(tell);
    else if (how && *how && strcmp(how, "allow") != 0)
        pt_cu_log_print(
            "PTERA_HOST_ACCESS=%s is neither allow nor trap: the host may access device memory",
            how);
}

/* ---- what is accessible ---------------------------------------------------------------------- */

static bool is_open(const struct pt_cu_range *range)
{
    bool is = n_all > 0;
    for (CUdevice d = 0; !is && d < pt_cu_driver.n_devices; d++)
        is = users[d].n > 0 && pt_cu_range_is_reached(range, d, users[d].peers, true);
    return is;
}

static void set_access(struct pt_cu_range *range, bool is_wanted)
{
    range->is_shut = !is_wanted;
    pt_mem_set_access(&range->ctx->engine->mem, range->first, is_wanted);
}

static void update_one(struct pt_cu_range *range, void *ud)
{
    (void)ud;
    if (is_trapped(range) && range->is_shut == is_open(range))
        set_access(range, range->is_shut);
}

void pt_cu_trap_new(struct pt_cu_range *range)
{
    if (pt_cu_driver.traps_host)
        set_access(range, !is_trapped(range) || is_open(range));
}

void pt_cu_trap_reach(CUcontext ctx)
{
    if (!pt_cu_driver.traps_host)
        return;
    if (ctx) {
        users[ctx->device].n++;
        users[ctx->device].peers |= ctx->peers;
    } else {
        n_all++;
    }
    pt_cu_range_each(update_one, NULL);
}

void pt_cu_trap_unreach(CUcontext ctx)
{
    if (!pt_cu_driver.traps_host)
        return;
    if (!ctx)
        n_all--;
    else if (--users[ctx->device].n == 0)
        users[ctx->device].peers = 0;
    pt_cu_range_each(update_one, NULL);
}
