/* Checkers of programs that use the driver. PTERA_CHECK names them; what they find goes to the file
 * that PTERA_CHECK_FILE names, from which `ptera check -- PROGRAM` makes its report, or else to
 * standard error. It is told when it is found, and once more with how often it was when the context
 * or the program ends. */
#include "runtime/cuda/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"
#include "runtime/finding.h"
#include "runtime/finding_file.h"
#include "runtime/finding_text.h"
#include "runtime/history.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void hear(void *ud, unsigned index)
{
    CUcontext ctx = ud;
    ptera_finding finding = {.size = sizeof finding};
    const char *path = variable("PTERA_CHECK_FILE");
    if (!ctx->engine || ptera_engine_finding(ctx->engine, index, &finding) != PTERA_OK)
        return;
    if (path)
        pt_finding_file_append(ctx->engine, index, path);
    else
        pt_cu_log_print("%s", finding.text);
}

/* ---- calls that fail ------------------------------------------------------------------------- */

static bool is_of_memory(const char *entry)
{
    return !strncmp(entry, "cuMemcpy", 8) || !strncmp(entry, "cuMemset", 8) ||
           !strncmp(entry, "cuMemFree", 9);
}

static void see_failure(const char *entry, CUresult result)
{
    CUcontext ctx;
    const char *name = "an error";
    if (pt_cu_current_get_any(&ctx) != CUDA_SUCCESS || !ctx->engine || !ctx->engine->mem.history ||
        !is_of_memory(entry) || result != CUDA_ERROR_INVALID_VALUE)
        return;
    cuGetErrorName(result, &name);
    char detail[1024];
    struct pt_history_call here;
    pt_history_now(&here);
    int n = snprintf(detail, sizeof detail, "it returned %s, ", name);
    pt_history_describe(&here, "called", detail + n, sizeof detail - (size_t)n);
    pt_finding_add_host(ctx->engine,
                        &(struct pt_finding){.kind = strncmp(entry, "cuMemFree", 9) == 0
                                                         ? PT_FINDING_MEM_INVALID_FREE
                                                         : PT_FINDING_MEM_API,
                                             .by = {.who = PT_PARTY_HOST, .place = entry},
                                             .detail = detail});
}

/* ---- contexts -------------------------------------------------------------------------------- */

void pt_cu_check_set(ptera_options *options, CUcontext ctx)
{
    const char *tools = variable("PTERA_CHECK");
    if (!tools)
        return;
    pt_cu_entry_watch(see_failure);
    options->observe = tools;
    options->finding = hear;
    options->finding_ud = ctx;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void find_leaks(CUcontext ctx)
{
    struct pt_history *history = ctx->engine->mem.history;
    struct pt_allocation a;
    for (size_t i = 0; history && pt_history_next_live(history, &i, &a);) {
        char place[64], detail[1024];
        snprintf(place, sizeof place, "%" PRIu64 " bytes at 0x%" PRIx64, a.bytes, a.address);
        pt_history_describe(&a.made, "they were never freed; made", detail, sizeof detail);
        pt_finding_add_host(ctx->engine,
                            &(struct pt_finding){.kind = PT_FINDING_MEM_LEAK,
                                                 .by = {.who = PT_PARTY_HOST, .place = place},
                                                 .detail = detail});
    }
}

static void put_counts(const ptera_engine *engine)
{
    ptera_finding finding = {.size = sizeof finding};
    for (unsigned i = 0; ptera_engine_finding(engine, i, &finding) == PTERA_OK; i++)
        if (finding.count > 1)
            pt_cu_log_print("%" PRIu64 " times: %s", finding.count, finding.message);
}

void pt_cu_check_end(CUcontext ctx)
{
    const char *path = variable("PTERA_CHECK_FILE");
    if (!ctx->engine || !variable("PTERA_CHECK"))
        return;
    if (variable("PTERA_CHECK_LEAKS"))
        find_leaks(ctx);
    if (path)
        ptera_engine_findings_save(ctx->engine, path);
    else
        put_counts(ctx->engine);
}

/* Contexts that are left when the program ends. Threads may still run. */
__attribute__((destructor)) static void end_all(void)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        pt_cu_check_end(ctx);
}
