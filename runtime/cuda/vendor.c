/* What NVIDIA's own libraries ask of a driver. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/cuda/vendor.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/cuda/board.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/identity.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/log.h"

/* The table that the runtime library of every release asks for. Compilers ask for others, and go on
 * without. */
static const unsigned char runtimes[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                           0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/* Says once to a program with NVIDIA's runtime library inside why it is about to fail. */
static void explain(const void *caller)
{
    static atomic_bool is_told;
    Dl_info info = {0};
    if (!dladdr(caller, &info) || !info.dli_fname || atomic_exchange(&is_told, true))
        return;
    pt_cu_log_print(
        "%s has NVIDIA's CUDA runtime library inside, which works on NVIDIA's driver only. `ptera "
        "exec` redirects it to Ptera's where it recognises it (`ptera doctor` says whether); "
        "rebuilt with `nvcc -cudart shared`, it runs in any case.",
        info.dli_fname);
}

static const struct pt_cu_launches launches = {pt_cu_launch_last_misfit};
static const struct pt_cu_boards boards = {pt_cu_board_describe};

static void enter_call(const char *call, const void *parameters)
{
    pt_cu_listener_give(parameters);
    pt_cu_entry_enter(PT_CU_API_RUNTIME, call);
}

static const struct pt_cu_calls calls = {&pt_cu_driver.watchers, enter_call, pt_cu_entry_leave};
static const struct pt_cu_listening listening = {
    pt_cu_listener_set,   pt_cu_identity_context, pt_cu_identity_stream, pt_cu_identity_event,
    pt_cu_identity_graph, pt_cu_identity_exec,    pt_cu_identity_node,   pt_cu_identity_symbol,
};

static const struct {
    unsigned char id[16];
    const void *table;
} tables[] = {{PT_CU_LAUNCHES_ID, &launches},
              {PT_CU_BOARDS_ID, &boards},
              {PT_CU_CALLS_ID, &calls},
              {PT_CU_LISTENING_ID, &listening}};

/* NVIDIA's tables are not documented, and none of them is given out. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    for (size_t i = 0; id && table && i < sizeof tables / sizeof *tables; i++)
        if (!memcmp(id, tables[i].id, sizeof tables[i].id)) {
            *table = tables[i].table;
            return CUDA_SUCCESS;
        }
    if (id && !memcmp(id, runtimes, sizeof runtimes))
        explain(__builtin_return_address(0));
    if (table)
        *table = NULL;
    return API(CUDA_ERROR_INVALID_VALUE);
}
