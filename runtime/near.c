/* What lies at an address, or near it, in words: for failures of kernels and for findings. */
#define _GNU_SOURCE
#include "runtime/near.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/globals.h"
#include "runtime/history.h"
#include "runtime/job.h"

static void put_distance(struct pt_words *w, uint64_t address, uint64_t first, uint64_t bytes)
{
    if (address < first)
        pt_words_put(w, "%" PRIu64 " bytes before ", first - address);
    else if (address - first < bytes)
        pt_words_put(w, "at byte %" PRIu64 " of ", address - first);
    else
        pt_words_put(w, "%" PRIu64 " bytes behind the end of ", address - first - bytes);
}

static bool put_variable(struct pt_words *w, uint64_t address, const char *prefix)
{
    const ptera_module *module = w->job->kernel->module;
    uint32_t i = pt_globals_near(module, address);
    if (i == PT_NONE)
        return false;
    const struct pt_symbol *s = &module->ir.symbols.v[i];
    pt_words_put(w, "%s", prefix);
    put_distance(w, address, module->symbols[i], s->size);
    pt_words_put(w, "variable '%s' of %" PRIu64 " bytes", s->name, s->size);
    return true;
}

static bool put_window(struct pt_words *w, const struct pt_cta *cta, uint64_t address,
                       const char *prefix)
{
    const struct pt_launch *launch = &w->job->launch;
    uint64_t shared = (uintptr_t)cta->shared, local = (uintptr_t)cta->local;
    if (address - shared < UINT64_C(1) << 32) {
        pt_words_put(w,
                     "%sshared address 0x%" PRIx64 "; a CTA of this launch has 0x%" PRIx32
                     " bytes from 0x%" PRIx32,
                     prefix, address - shared, launch->shared_bytes, cta->window);
        return true;
    }
    uint64_t all = launch->local_stride * launch->threads;
    if (address + 4096 >= local && address < local + all + 4096) {
        pt_words_put(w, "%s", prefix);
        put_distance(w, address, local, all);
        pt_words_put(w, "the CTA's local memory");
        return true;
    }
    return false;
}

/* Buffers are named up to this distance: far away they explain nothing. */
static const uint64_t near_bytes = UINT64_C(16) << 20;

static const char *const record_text[] = {
    [PT_MEM_BUFFER] = "a buffer",
    [PT_MEM_GLOBALS] = "a module's variables",
    [PT_MEM_HEAP] = "the device heap",
    [PT_MEM_HOST] = "registered host memory",
};
_Static_assert(sizeof record_text / sizeof *record_text == PT_MEM_HOST + 1,
               "the last of enum pt_mem_kind");

/* Who made what holds the address, and who freed it. */
static void put_history(struct pt_words *w, const struct pt_allocation *a)
{
    char text[1024];
    pt_history_describe(&a->made, ", made", text, sizeof text);
    pt_words_put(w, "%s", text);
    if (!a->is_freed)
        return;
    pt_history_describe(&a->freed, ", freed", text, sizeof text);
    pt_words_put(w, "%s", text);
}

static bool put_freed(struct pt_words *w, uint64_t address, const char *prefix)
{
    struct pt_allocation a;
    if (!pt_history_find(w->job->engine->mem.history, address, &a) || !a.is_freed)
        return false;
    pt_words_put(w, "%s", prefix);
    put_distance(w, address, a.address, a.bytes);
    pt_words_put(w, "what was allocated, %" PRIu64 " bytes at 0x%" PRIx64, a.bytes, a.address);
    put_history(w, &a);
    return true;
}

/* The block that holds the address, or ends a little before it. */
static bool put_heap_block(struct pt_words *w, ptera_engine *engine, uint64_t address,
                           const char *prefix)
{
    enum { BEHIND = 64, STEP = 16 };
    uint64_t first = 0, bytes;
    bool is_found = false;
    for (uint64_t back = 0; !is_found && back <= BEHIND; back += STEP)
        is_found = pt_heap_find(&engine->heap, address - back, &first, &bytes);
    if (!is_found)
        return false;
    pt_words_put(w, "%s", prefix);
    put_distance(w, address, first, bytes);
    pt_words_put(w, "a block of %" PRIu64 " bytes of the device heap", bytes);
    struct pt_allocation a;
    if (pt_history_find(engine->mem.history, first, &a))
        put_history(w, &a);
    return true;
}

bool pt_near_put_record(struct pt_words *w, ptera_engine *engine, uint64_t address,
                        const char *prefix)
{
    struct pt_mem_record r;
    if (!pt_mem_near(&engine->mem, address, &r))
        return false;
    if (r.kind == PT_MEM_HEAP && put_heap_block(w, engine, address, prefix))
        return true;
    bool is_near = address < r.address ? r.address - address < near_bytes
                                       : address - r.address < r.bytes + near_bytes;
    if (!is_near)
        return false;
    pt_words_put(w, "%s", prefix);
    put_distance(w, address, r.address, r.bytes);
    pt_words_put(w, "%s of %" PRIu64 " bytes at 0x%" PRIx64, record_text[r.kind], r.bytes,
                 r.address);
    struct pt_allocation a;
    if (pt_history_find(engine->mem.history, r.address, &a))
        put_history(w, &a);
    return true;
}

bool pt_near_put(struct pt_words *w, const struct pt_cta *cta, uint64_t address, const char *prefix)
{
    return (cta && put_window(w, cta, address, prefix)) || put_freed(w, address, prefix) ||
           put_variable(w, address, prefix) ||
           pt_near_put_record(w, w->job->engine, address, prefix);
}

/* The system says it without a fault. Not by write(), which sanitizers watch. */
static bool is_readable(uint64_t address)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    bool is_good = syscall(SYS_write, ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return is_good;
}

/* Parameters and constants of kernels lie in memory of the process. */
static bool is_behind_readable(const struct pt_job *job, uint64_t address)
{
    enum { NEAR = 4096 };
    const ptera_module *module = job->kernel->module;
    uint64_t params = module->ir.funcs.v[job->kernel->func].param_size + NEAR;
    return address - (uintptr_t)job->launch.params < params ||
           address - (uintptr_t)module->constants.read < module->constants_bytes + NEAR;
}

bool pt_near_is_of_host(struct pt_job *job, const struct pt_cta *cta, uint64_t address)
{
    char text[PT_ERROR_BYTES];
    struct pt_words w = {job, text, 0};
    return !is_behind_readable(job, address) && !put_window(&w, cta, address, "") &&
           !put_freed(&w, address, "") && !pt_near_put_record(&w, job->engine, address, "") &&
           is_readable(address);
}
