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

#include "backend/shadow.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/current.h"
#include "runtime/cuda/entry.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/overlap.h"
#include "runtime/cuda/variable.h"
#include "runtime/finding.h"
#include "runtime/finding_file.h"
#include "runtime/finding_text.h"
#include "runtime/history.h"

/* A file, or standard error. */
static uint64_t number_of(const char *path)
{
    uint64_t number = UINT64_C(0xcbf29ce484222325);
    for (; path && *path; path++)
        number = (number ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return number;
}

/* A program may name another file, as one for each of its tests: it gets what is seen from then
 * on, found before or not. */
static void hear(void *ud, unsigned index)
{
    CUcontext ctx = ud;
    ptera_finding finding = {.size = sizeof finding};
    const char *path = pt_cu_variable("PTERA_CHECK_FILE");
    if (!ctx->engine || ptera_engine_finding(ctx->engine, index, &finding) != PTERA_OK)
        return;
    pt_finding_tell_launches(ctx->engine);
    if (!pt_finding_tell_to(ctx->engine, index, number_of(path)))
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

/* What a call gave to the program, which is to destroy it. */
struct given {
    CUcontext ctx;
    struct pt_history_call by;
};

static void *note_given(void)
{
    struct given *given = malloc(sizeof *given);
    if (!given)
        return NULL;
    if (pt_cu_current_get_any(&given->ctx) != CUDA_SUCCESS)
        given->ctx = NULL;
    pt_history_now(&given->by);
    return given;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static bool has_tool(const char *tools, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = tools; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (length == n && !memcmp(at, name, n))
            return true;
        at += length;
    }
    return false;
}

void pt_cu_check_set(ptera_options *options, CUcontext ctx)
{
    const char *tools = pt_cu_variable("PTERA_CHECK");
    unsigned parent = pt_cu_variable_number("PTERA_CHECK_PARENT");
    if (!tools || (parent && parent != (unsigned)getppid()))
        return;
    pt_cu_entry_watch(see_failure);
    if (pt_cu_variable("PTERA_CHECK_LEAKS"))
        pt_cu_handle_watch(note_given);
    options->observe = tools;
    if (has_tool(tools, "race") || has_tool(tools, "all"))
        pt_cu_overlap_watch();
    options->check_kernels = pt_cu_variable("PTERA_CHECK_KERNELS");
    options->check_skip = pt_cu_variable_number("PTERA_CHECK_SKIP");
    options->check_count = pt_cu_variable_number("PTERA_CHECK_COUNT");
    if (pt_cu_variable("PTERA_CHECK_SCHEDULES"))
        options->order_schedules = pt_cu_variable_number("PTERA_CHECK_SCHEDULES");
    if (pt_cu_variable("PTERA_CHECK_DEPTH"))
        options->order_depth = pt_cu_variable_number("PTERA_CHECK_DEPTH");
    if (pt_cu_variable("PTERA_CHECK_TOLERANCE"))
        options->order_tolerance = strtod(pt_cu_variable("PTERA_CHECK_TOLERANCE"), NULL);
    options->order_seed = pt_cu_variable_number("PTERA_CHECK_SCHEDULE");
    options->order_text = (int)pt_cu_variable_number("PTERA_CHECK_TEXT");
    options->finding = hear;
    options->finding_ud = ctx;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void add_leak(CUcontext ctx, const char *place, const char *detail)
{
    pt_finding_add_host(ctx->engine,
                        &(struct pt_finding){.kind = PT_FINDING_MEM_LEAK,
                                             .by = {.who = PT_PARTY_HOST, .place = place},
                                             .detail = detail});
}

static void find_handles(CUcontext ctx)
{
    static const char *const kinds[] = {
        [PT_CU_MODULE] = "module",     [PT_CU_STREAM] = "stream",
        [PT_CU_EVENT] = "event",       [PT_CU_POOL] = "memory pool",
        [PT_CU_GRAPH] = "graph",       [PT_CU_EXEC] = "executable graph",
        [PT_CU_LINK] = "linker state", [PT_CU_USER_OBJECT] = "user object"};
    const struct pt_cu_object *object;
    size_t i = 0;
    while ((object = pt_cu_handle_next_given(&i)) != NULL) {
        const struct given *given = object->given;
        char place[64], detail[1024];
        if (given->ctx != ctx)
            continue;
        snprintf(place, sizeof place, "the %s 0x%" PRIxPTR, kinds[object->kind], (uintptr_t)object);
        pt_history_describe(&given->by, "it was never destroyed; made", detail, sizeof detail);
        add_leak(ctx, place, detail);
    }
}

/* The variables of modules, which nobody has to unload at the end, are none. */
static void find_leaks(CUcontext ctx)
{
    struct pt_history *history = ctx->engine->mem.history;
    struct pt_allocation a;
    size_t i = 0;
    while (history && pt_history_next_live(history, &i, &a)) {
        struct pt_mem_record record;
        char place[64], detail[1024];
        if (pt_mem_near(&ctx->engine->mem, a.address, &record) && record.kind == PT_MEM_GLOBALS)
            continue;
        snprintf(place, sizeof place, "%" PRIu64 " bytes at 0x%" PRIx64, a.bytes, a.address);
        pt_history_describe(&a.made, "they were never freed; made", detail, sizeof detail);
        add_leak(ctx, place, detail);
    }
    if (history)
        find_handles(ctx);
}

/* Those that the file has. */
static void put_again(ptera_engine *engine, const char *path)
{
    ptera_finding finding = {.size = sizeof finding};
    for (unsigned i = 0; ptera_engine_finding(engine, i, &finding) == PTERA_OK; i++)
        if (pt_finding_was_told(engine, i, number_of(path)))
            pt_finding_file_append(engine, i, path);
    pt_finding_file_append_totals(engine, path);
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
    const char *path = pt_cu_variable("PTERA_CHECK_FILE");
    if (!ctx->engine || !pt_cu_variable("PTERA_CHECK"))
        return;
    if (pt_cu_variable("PTERA_CHECK_LEAKS"))
        find_leaks(ctx);
    if (path)
        put_again(ctx->engine, path);
    else
        put_counts(ctx->engine);
}

/* Contexts that are left when the program ends. Threads may still run. */
__attribute__((destructor)) static void end_all(void)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        pt_cu_check_end(ctx);
}

/* ---- values that nobody made ----------------------------------------------------------------- */

/* What no allocation of the driver's holds is the host's own. */
static bool is_host_memory(CUcontext ctx, uint64_t address)
{
    struct pt_mem_record r;
    return !pt_mem_near(&ctx->engine->mem, address, &r) || address - r.address >= r.bytes;
}

static void copy_row(CUcontext ctx, struct pt_shadow *shadow, const struct pt_cu_copy *c,
                     size_t row)
{
    size_t z = row / c->height, y = row % c->height;
    uint64_t from = (uintptr_t)(c->from + z * c->from_slice + y * c->from_pitch);
    uint64_t to = (uintptr_t)(c->to + z * c->to_slice + y * c->to_pitch);
    if (is_host_memory(ctx, to))
        pt_finding_add_unmade(ctx->engine, from, c->width, "a copy to the host");
    else
        pt_shadow_copy(shadow, to, from, c->width);
}

void pt_cu_check_op(CUcontext ctx, const struct pt_cu_op *op)
{
    struct pt_shadow *shadow = atomic_load(&ctx->engine->mem.shadow);
    const struct pt_cu_copy *c = &op->copy;
    if (!shadow)
        return;
    for (size_t i = 0; op->work == PT_CU_COPY && i < c->depth * c->height; i++)
        copy_row(ctx, shadow, c, i);
    for (size_t y = 0; op->work == PT_CU_SET && y < op->set.height; y++)
        pt_shadow_set(shadow, (uintptr_t)(op->set.to + y * op->set.pitch),
                      op->set.width * op->set.element_bytes, PT_SHADOW_DEFINED);
    unsigned n;
    const struct pt_cu_op *parts = pt_cu_op_parts(op, &n);
    for (unsigned i = 0; i < n; i++)
        if (parts[i].work == PT_CU_WRITE_VALUE)
            pt_shadow_set(shadow, (uintptr_t)parts[i].value.address, parts[i].value.bytes,
                          PT_SHADOW_DEFINED);
}
