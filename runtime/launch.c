/* Launches: what fits a kernel, the parameter block, and the run. */
#include "runtime/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/bits.h"
#include "runtime/cancel.h"
#include "runtime/compile.h"
#include "runtime/counted.h"
#include "runtime/deadline.h"
#include "runtime/dependents.h"
#include "runtime/engine.h"
#include "runtime/fault.h"
#include "runtime/finding.h"
#include "runtime/footprint.h"
#include "runtime/handler.h"
#include "runtime/jit.h"
#include "runtime/job.h"
#include "runtime/native.h"
#include "runtime/observe.h"
#include "runtime/order.h"
#include "runtime/registers.h"
#include "runtime/run.h"
#include "runtime/services.h"
#include "runtime/sized.h"
#include "runtime/thread.h"
#include "runtime/timeline.h"

void ptera_launch_init_sized(ptera_launch *launch, size_t size)
{
    const ptera_launch defaults = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    PT_INIT(launch, size, defaults);
}

#define REFUSE(job, ...) (PT_JOB_FAIL(job, __VA_ARGS__), PTERA_ERROR_INVALID_LAUNCH)

static const struct pt_func *func_of(const ptera_kernel *kernel)
{
    return &kernel->module->ir.funcs.v[kernel->func];
}

/* Threads' windows of a multiple of 4 KiB would all compete for the same lines of the cache. */
static ptera_result set_local(struct pt_job *job)
{
    const struct pt_module *ir = &job->kernel->module->ir;
    uint64_t bytes = job->launch.program->local_bytes, align = 16;
    if (bytes > PT_DEVICE_LOCAL)
        return REFUSE(
            job, "kernel '%s': %" PRIu64 " bytes of local memory for a thread, which has up to %d",
            func_of(job->kernel)->name, bytes, PT_DEVICE_LOCAL);
    if (!bytes)
        bytes = job->engine->stack_bytes;
    for (uint32_t i = 1; i < ir->symbols.n; i++)
        if (ir->symbols.v[i].space == PT_SPACE_LOCAL && ir->symbols.v[i].align > align)
            align = ir->symbols.v[i].align;
    bytes = pt_round_up(bytes, align);
    if (bytes % 4096 == 0)
        bytes += align > 64 ? align : 64;
    job->launch.local_stride = bytes;
    if (bytes > (UINT64_C(1) << 32))
        return REFUSE(job, "kernel '%s': a stack of %" PRIu64 " bytes for a thread",
                      func_of(job->kernel)->name, bytes);
    return PTERA_OK;
}

static void take_shape(struct pt_job *job, const struct pt_shape *s)
{
    struct pt_launch *l = &job->launch;
    memcpy(l->grid, s->grid, sizeof l->grid);
    memcpy(l->block, s->block, sizeof l->block);
    memcpy(l->cluster, s->cluster, sizeof l->cluster);
    memcpy(job->clusters, s->clusters, sizeof job->clusters);
    l->is_explicit_cluster = s->is_explicit_cluster;
    l->threads = s->threads;
    l->n_warps = s->n_warps;
    l->dynamic_offset = s->dynamic_offset;
    l->shared_bytes = s->shared_bytes;
    job->cluster_ctas = s->cluster_ctas;
    job->n_clusters = s->n_clusters;
    job->capacity = s->capacity;
}

static ptera_result set_shape(struct pt_job *job, const ptera_launch *given,
                              const struct pt_shape_bounds *bounds, enum pt_misfit *misfit)
{
    const struct pt_device *device = job->engine->device;
    struct pt_shape shape = {0};
    job->launch.shared_dynamic = given->shared_bytes;
    job->launch.sm_count = (uint32_t)device->sms;
    job->launch.sm_warps = (uint32_t)device->limits->sm_threads / PT_DEVICE_WARP;
    *misfit =
        pt_shape_check(device, func_of(job->kernel), job->launch.program, given, bounds, &shape);
    if (*misfit) {
        pt_misfit_refuse(job, *misfit, given, &shape);
        return PTERA_ERROR_INVALID_LAUNCH;
    }
    take_shape(job, &shape);
    return set_local(job);
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* The kernel's parameter that value `i` is for; NULL if it has none of that name. */
static const struct pt_symbol *parameter_given(const ptera_kernel *kernel,
                                               const ptera_launch *given, uint32_t i)
{
    const struct pt_func *f = func_of(kernel);
    const struct pt_symbol *symbols = kernel->module->ir.symbols.v;
    if (!given->parameter_names)
        return &symbols[f->params.v[i]];
    for (uint32_t k = 0; k < f->params.n; k++)
        if (!strcmp(symbols[f->params.v[k]].name, given->parameter_names[i]))
            return &symbols[f->params.v[k]];
    return NULL;
}

/* As many names as parameters: each is one of them if none comes twice. */
static ptera_result check_names(const struct pt_job *job, const ptera_launch *given)
{
    const char *const *names = given->parameter_names;
    const char *kernel_name = func_of(job->kernel)->name;
    for (unsigned i = 0; i < given->n_parameters; i++) {
        if (!names[i] || !parameter_given(job->kernel, given, i))
            return REFUSE(job, "kernel '%s' has no parameter '%s'", kernel_name,
                          names[i] ? names[i] : "(null)");
        for (unsigned k = 0; k < i; k++)
            if (!strcmp(names[i], names[k]))
                return REFUSE(job, "kernel '%s': parameter '%s' is given twice", kernel_name,
                              names[i]);
    }
    return PTERA_OK;
}

static ptera_result check_parameters(const struct pt_job *job, const ptera_launch *given)
{
    const struct pt_func *f = func_of(job->kernel);
    if (given->parameter_block) {
        if (given->parameter_block_bytes != f->param_size)
            return REFUSE(job, "kernel '%s': a parameter block of %zu bytes was given, it has %u",
                          f->name, given->parameter_block_bytes, f->param_size);
        return PTERA_OK;
    }
    if (given->n_parameters != f->params.n)
        return REFUSE(job, "kernel '%s': %u parameters were given, it has %u", f->name,
                      given->n_parameters, f->params.n);
    for (uint32_t i = 0; i < f->params.n; i++)
        if (!given->parameters || !given->parameters[i])
            return REFUSE(job, "kernel '%s': parameter %u is a null pointer", f->name, i);
    return given->parameter_names ? check_names(job, given) : PTERA_OK;
}

static void fill_parameters(const ptera_kernel *kernel, const ptera_launch *given, uint8_t *block)
{
    const struct pt_func *f = func_of(kernel);
    if (given->parameter_block) {
        memcpy(block, given->parameter_block, f->param_size);
        return;
    }
    for (uint32_t i = 0; i < f->params.n; i++) {
        const struct pt_symbol *s = parameter_given(kernel, given, i);
        memcpy(block + s->offset, given->parameters[i], s->size);
    }
}

static unsigned most_cluster(const ptera_kernel *kernel)
{
    const struct pt_device *device = kernel->module->engine->device;
    return device->limits->cluster ? (unsigned)device->limits->cluster : 1;
}

ptera_result ptera_kernel_properties_get(ptera_kernel *kernel, ptera_kernel_properties *properties)
{
    const struct pt_program *program;
    if (!kernel || !properties)
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (pt_engine_is_inherited(kernel->module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    ptera_result result = pt_compile_kernel(kernel, 0, &program);
    if (result != PTERA_OK)
        return result;
    const struct pt_func *f = func_of(kernel);
    ptera_kernel_properties mine = {
        .parameters = f->params.n,
        .parameter_bytes = f->param_size,
        .shared_bytes = program->shared_static,
        .local_bytes = program->local_bytes,
        .max_threads = (unsigned)pt_shape_declared_threads(f),
        .max_cluster = f->reqnctapercluster[0] ? 1
                       : f->maxclusterrank     ? f->maxclusterrank
                                               : most_cluster(kernel),
    };
    if (!mine.max_threads)
        mine.max_threads = PT_DEVICE_BLOCK_THREADS;
    for (int d = 0; d < 3; d++) {
        mine.required_block[d] = f->reqntid[0] && !f->reqntid[d] ? 1 : f->reqntid[d];
        mine.required_cluster[d] =
            f->reqnctapercluster[0] && !f->reqnctapercluster[d] ? 1 : f->reqnctapercluster[d];
        mine.max_cluster *= mine.required_cluster[d] ? mine.required_cluster[d] : 1;
    }
    mine.registers = pt_registers_count(kernel);
    return PT_GIVE(properties, mine);
}

/* ---- which engine ---------------------------------------------------------------------------- */

static const char *why_interpreted(const struct pt_job *job)
{
    if (job->tests & PT_TEST_isolate)
        return "an isolated launch is interpreted: it tests every access";
    if (job->tests & PT_TEST_OBSERVERS & ~(uint32_t)(PT_TEST_mem | PT_TEST_coverage))
        return job->is_checked ? "a checked launch is interpreted"
                               : "an observed launch is interpreted";
    if (job->is_late)
        return "a launch that puts asynchronous operations off is interpreted";
    if (job->unwritten)
        return "a launch that fills memory nobody has written is interpreted";
    if (job->tests & (PT_TEST_ORDER | PT_TEST_TURNS))
        return "a launch whose threads run in another order is interpreted";
    return NULL;
}

struct wanted {
    const struct pt_variant *variant;
    double seconds;
    struct pt_version *version;
    enum pt_native_end end;
};

static void get_version(void *ud)
{
    struct wanted *w = ud;
    w->end = pt_native_get(w->variant, w->seconds, &w->version);
}

/* The launch's time limit holds for the compile, too; what is left of it is for the run. */
static ptera_result get_native(struct pt_job *job, struct pt_version **version)
{
    const struct pt_variant variant = pt_native_variant(job);
    struct timespec deadline = pt_deadline_in(job->timeout_seconds);
    struct wanted w = {&variant, job->timeout_seconds, NULL, PT_NATIVE_NO_MEMORY};
    pt_thread_call(PT_STACK_WORK, get_version, &w);
    bool is_limited = job->timeout_seconds > 0;
    double left = is_limited ? pt_deadline_left(&deadline) : 0;
    if (w.end == PT_NATIVE_NO_MEMORY)
        return PTERA_ERROR_OUT_OF_MEMORY;
    if (w.end == PT_NATIVE_STOPPED || (is_limited && left <= 0)) {
        pt_native_put(job->engine, w.version);
        PT_JOB_FAIL(job, "timeout in kernel '%s' at %s, while it was compiled",
                    func_of(job->kernel)->name, job->kernel->module->name);
        return PTERA_ERROR_TIMEOUT;
    }
    job->timeout_seconds = left;
    *version = w.version;
    return PTERA_OK;
}

/* Native code, or why it is not. */
static ptera_result choose_native(struct pt_job *job)
{
    const char *why = why_interpreted(job);
    struct pt_version *version = NULL;
    if (!pt_jit())
        return REFUSE(job, "the compiler cannot be opened: %s", pt_jit_error());
    ptera_result r = why ? PTERA_OK : get_native(job, &version);
    if (r != PTERA_OK)
        return r;
    atomic_store(&job->version, version);
    bool is_small = version && version->native && !pt_native_fits(version->native, &job->launch);
    atomic_store(&job->kernel->why, why        ? why
                                    : is_small ? "a stack smaller than its calls take"
                                               : version->why);
    return PTERA_OK;
}

static ptera_result choose_engine(struct pt_job *job, const ptera_launch *given)
{
    ptera_backend backend =
        given->backend == PTERA_BACKEND_DEFAULT ? job->engine->tier : given->backend;
    job->math_fast = given->math_fast != 0;
    job->backend = backend;
    job->may_be_native = backend == PTERA_BACKEND_AUTO && !why_interpreted(job);
    return backend == PTERA_BACKEND_JIT ? choose_native(job) : PTERA_OK;
}

static void count_launch(struct pt_job *job)
{
    ptera_kernel *kernel = job->kernel;
    bool was_native = atomic_load(&job->was_native);
    atomic_fetch_add_explicit(was_native ? &kernel->native_launches : &kernel->interpreted_launches,
                              1, memory_order_relaxed);
}

/* What the program is compiled for. */
static uint32_t tests_of(const struct pt_job *job, const ptera_launch *given)
{
    uint32_t tests = job->engine->observers;
    if (given->isolate)
        tests |= PT_TEST_isolate;
    tests |= pt_observe_checks(given->checks);
    if (job->is_late || tests & (PT_TEST_race | PT_TEST_conflict | PT_TEST_sync))
        tests |= PT_TEST_ASYNC;
    if (given->order == PTERA_ORDER_LOCKSTEP)
        return tests;
    return tests | (given->order == PTERA_ORDER_TURNS ? PT_TEST_TURNS : PT_TEST_ORDER);
}

/* Everything that depends on what was given: afterwards it is not looked at any more. */
static ptera_result prepare(struct pt_job *job, const ptera_launch *given,
                            const struct pt_shape_bounds *bounds, enum pt_misfit *misfit)
{
    job->is_cooperative = given->cooperative != 0;
    job->timeout_seconds = given->timeout_seconds;
    job->is_late = given->async_late || job->engine->async_late;
    job->unwritten = (uint8_t)given->unwritten;
    job->tests = tests_of(job, given);
    job->is_checked = given->checks != 0;
    job->is_mute = job->tests & PT_TEST_OBSERVERS &&
                   pt_finding_is_mute(job->engine, func_of(job->kernel)->name);
    if (job->is_mute || (job->engine->uncounted && atomic_load(job->engine->uncounted)))
        job->tests &= ~(uint32_t)(PT_TEST_count | PT_TEST_time | PT_TEST_coverage);
    if (job->tests & PT_TEST_time)
        job->tests |= PT_TEST_TURNS | PT_TEST_count;
    if (job->tests & PT_TEST_count) /* which tells that, too */
        job->tests &= ~(uint32_t)PT_TEST_coverage;
    job->finding = given->finding;
    job->finding_ud = given->finding_ud;
    job->launch.is_reversed = given->order == PTERA_ORDER_REVERSE;
    uint32_t asks_memory = PT_TEST_isolate | PT_TEST_mem;
    job->launch.releases = job->tests & asks_memory ? &job->engine->mem.releases : NULL;
    if (job->tests & (PT_TEST_init | PT_TEST_init_load) &&
        !(job->launch.shadow = pt_engine_shadow(job->engine)))
        return PTERA_ERROR_OUT_OF_MEMORY;
    job->launch.services = &pt_launch_services;
    pt_dependents_prepare(job);
    job->launch.grid_id = atomic_fetch_add(&job->engine->grid_ids, 1) + 1;
    ptera_result r = pt_compile_kernel(job->kernel, job->tests, &job->launch.program);
    if (r == PTERA_ERROR_INVALID_PTX || r == PTERA_ERROR_UNSUPPORTED_PTX)
        PT_JOB_FAIL(job, "%s", atomic_load(&job->kernel->invalid));
    if (r == PTERA_OK)
        r = set_shape(job, given, bounds, misfit);
    if (r == PTERA_OK)
        r = check_parameters(job, given);
    if (r != PTERA_OK)
        return r;
    fill_parameters(job->kernel, given, job->parameters);
    return choose_engine(job, given);
}

static void say_no_memory(const ptera_kernel *kernel, const struct pt_own_error *own)
{
    pt_engine_fail_launch(kernel->module->engine, own, "no memory to launch kernel '%s'",
                          func_of(kernel)->name);
}

ptera_result pt_launch_prepare(ptera_kernel *kernel, const ptera_launch *given,
                               const struct pt_shape_bounds *bounds, struct pt_job **prepared,
                               enum pt_misfit *misfit)
{
    enum pt_misfit mine;
    ptera_engine *engine = kernel->module->engine;
    const struct pt_own_error own = {given->error_bytes ? given->error : NULL, given->error_bytes};
    struct pt_job *job = pt_engine_alloc(engine, sizeof *job + func_of(kernel)->param_size);
    ptera_result r = PTERA_ERROR_OUT_OF_MEMORY;
    if (job) {
        job->kernel = kernel;
        job->engine = engine;
        job->error = own;
        r = prepare(job, given, bounds, misfit ? misfit : &mine);
    }
    if (r == PTERA_OK) {
        *prepared = job;
        return PTERA_OK;
    }
    if (r == PTERA_ERROR_OUT_OF_MEMORY)
        say_no_memory(kernel, &own);
    if (job)
        pt_launch_drop(job);
    return r;
}

void pt_launch_drop(struct pt_job *job)
{
    pt_native_put(job->engine, atomic_load(&job->version));
    pt_engine_free(job->engine, job);
}

/* Of a launch that was interpreted, at least at first. */
static void say_why(const struct pt_job *job, char *why, size_t size)
{
    const struct pt_version *version = atomic_load(&job->version);
    const char *reason = why_interpreted(job);
    if (job->backend == PTERA_BACKEND_INTERP)
        reason = "the interpreter is asked for";
    else if (!reason && atomic_load(&job->was_native))
        reason = "until native code was there";
    else if (!reason && !version) {
        snprintf(why, size, "not hot yet: %.1f ms of it were interpreted so far",
                 (double)atomic_load(&job->kernel->interpreted_ns) * 1e-6);
        return;
    } else if (!reason && !atomic_load(&version->is_ready))
        reason = "native code is being compiled";
    else if (!reason && version->native)
        reason = pt_native_fits(version->native, &job->launch)
                     ? "it ended before its native code was there"
                     : "a stack smaller than its calls take";
    else if (!reason)
        reason = version->why;
    snprintf(why, size, "%s", reason);
}

static void run_job(void *ud)
{
    struct pt_job *job = ud;
    if (job->tests & PT_TEST_order)
        pt_order_run(job);
    else
        pt_run_job(job);
}

static void run_observed(struct pt_job *job)
{
    bool is_counted = job->tests & (PT_TEST_count | PT_TEST_coverage);
    uint64_t begun = is_counted ? pt_now_ns() : 0;
    if (is_counted && !pt_counted_begin(job))
        return; /* the result says that there is no memory */
    pt_observe_launch(&job->launch, false);
    pt_thread_call(PT_STACK_WORK, run_job, job);
    if (job->footprint)
        pt_footprint_take(job->footprint, job);
    pt_observe_launch(&job->launch, true);
    if (is_counted)
        pt_counted_end(job, begun);
}

static void tell(struct pt_job *job, uint64_t ns, struct pt_launched *launched)
{
    launched->run_ns = ns;
    launched->was_native = atomic_load(&job->was_native);
    launched->was_interpreted = atomic_load(&job->was_interpreted);
    launched->compile_ns = atomic_exchange(&job->kernel->compile_ns, 0);
    launched->why[0] = 0;
    if (launched->was_interpreted && !launched->is_brief)
        say_why(job, launched->why, sizeof launched->why);
}

ptera_result pt_launch_run(struct pt_job *job, struct pt_launched *launched)
{
    struct pt_launched mine = {.is_brief = true};
    uint64_t traced = job->engine->owns_trace ? pt_timeline_begin(job->engine) : 0;
    launched = launched || !traced ? launched : &mine;
    bool is_timed = launched && !launched->is_brief;
    uint64_t begun = is_timed ? pt_now_ns() : 0;
    if (!pt_fault_is_in(job->run))
        pt_handler_ensure();
    job->result = PTERA_ERROR_OUT_OF_MEMORY;
    bool is_long = !pt_run_is_short(job);
    if (is_long)
        pt_cancel_begin(job);
    if (job->tests & PT_TEST_OBSERVERS)
        run_observed(job);
    else
        pt_thread_call(PT_STACK_WORK, run_job, job);
    if (is_long)
        pt_cancel_end(job);
    if (launched)
        tell(job, is_timed ? pt_now_ns() - begun : 0, launched);
    if (traced)
        pt_timeline_end_launch(job, launched, traced);
    ptera_result r = job->result;
    uint32_t n = job->is_checked ? atomic_load(&job->n_findings) : 0;
    if (r == PTERA_OK && n) {
        PT_JOB_FAIL(job, "kernel '%s': %u finding%s", func_of(job->kernel)->name, n,
                    n > 1 ? "s" : "");
        r = PTERA_ERROR_FINDINGS;
    }
    count_launch(job);
    if (r == PTERA_ERROR_OUT_OF_MEMORY && !atomic_load(&job->is_reported))
        say_no_memory(job->kernel, &job->error);
    pt_launch_drop(job);
    return r;
}

ptera_result pt_launch_take(ptera_kernel *kernel, const ptera_launch *given, struct pt_job **job)
{
    ptera_launch mine;
    ptera_launch_init(&mine);
    if (!kernel || !given || !PT_TAKE(mine, given))
        return PTERA_ERROR_INVALID_ARGUMENT;
    if (mine.error && mine.error_bytes)
        mine.error[0] = 0;
    if (pt_engine_is_inherited(kernel->module->engine))
        return PTERA_ERROR_NOT_INITIALIZED;
    if (!(mine.timeout_seconds >= 0) || mine.backend < PTERA_BACKEND_DEFAULT ||
        mine.backend > PTERA_BACKEND_JIT || mine.checks & ~(unsigned)PT_CHECKS_ALL ||
        mine.order < PTERA_ORDER_LOCKSTEP || mine.order > PTERA_ORDER_TURNS ||
        mine.unwritten > UINT8_MAX)
        return PTERA_ERROR_INVALID_ARGUMENT;
    return pt_launch_prepare(kernel, &mine, NULL, job, NULL);
}

ptera_result ptera_kernel_launch(ptera_kernel *kernel, const ptera_launch *given)
{
    struct pt_job *job;
    ptera_result r = pt_launch_take(kernel, given, &job);
    return r == PTERA_OK ? pt_launch_run(job, NULL) : r;
}
