/* What engines record in a timeline. */
#include "runtime/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/deadline.h"

const struct pt_trace_shape pt_timeline_load = {.phase = 'X', .category = "load"},
                            pt_timeline_compile = {.phase = 'X', .category = "compile"};
static const struct pt_trace_shape launch_shape = {
    .phase = 'X',
    .category = "kernel",
    .fields = {PT_TIMELINE_LAUNCH, {"result", PT_TRACE_ID}},
    .n_values = PT_TIMELINE_LAUNCH_VALUES + 1};

/* ---- a timeline of its own ------------------------------------------------------------------- */

static void say(void *ud, const char *path, const char *why, uint64_t lost)
{
    ptera_engine *engine = ud;
    if (lost)
        pt_engine_log(engine, PTERA_ERROR, "the timeline %s: %s: %" PRIu64 " events are lost", path,
                      why, lost);
    else
        pt_engine_log(engine, PTERA_ERROR, "the timeline %s cannot be written: %s", path, why);
}

ptera_result pt_timeline_open(ptera_engine *engine, const char *path)
{
    errno = 0;
    engine->trace = pt_trace_open(path, &engine->allocator, say, engine);
    engine->owns_trace = engine->trace != NULL;
    if (engine->trace)
        return PTERA_OK;
    if (!errno || errno == ENOMEM)
        return PTERA_ERROR_OUT_OF_MEMORY;
    say(engine, path, errno == EEXIST ? "it is there, and no timeline" : strerror(errno), 0);
    return PTERA_ERROR_FILE;
}

void pt_timeline_close(ptera_engine *engine)
{
    if (!engine->owns_trace)
        return;
    pt_trace_close(engine->trace);
    pt_trace_free(engine->trace);
}

/* ---- events ---------------------------------------------------------------------------------- */

uint64_t pt_timeline_begin(const ptera_engine *engine)
{
    bool is_on = engine->trace && !(engine->uncounted && atomic_load(engine->uncounted));
    return is_on ? pt_now_ns() : 0;
}

static void end(ptera_engine *engine, const char *name, const struct pt_trace_shape *shape,
                uint64_t begun, const uint64_t *values)
{
    pt_trace_add(engine->trace, shape,
                 &(struct pt_trace_event){.begin = begun,
                                          .end = pt_now_ns(),
                                          .process = pt_trace_process(engine->trace),
                                          .row = pt_trace_row(engine->trace),
                                          .name = name,
                                          .values = values});
}

void pt_timeline_end(ptera_engine *engine, const char *name, const struct pt_trace_shape *shape,
                     uint64_t begun)
{
    if (begun)
        end(engine, name, shape, begun, NULL);
}

uint64_t *pt_timeline_put_launch(uint64_t *v, const ptera_launch *l,
                                 const struct pt_launched *launched)
{
    const char *engine = !launched->was_native       ? "interpreter"
                         : launched->was_interpreted ? "interpreter, then native"
                                                     : "native";
    const unsigned *sizes[] = {l->grid, l->block, l->cluster};
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            *v++ = sizes[i][d];
    *v++ = l->shared_bytes;
    *v++ = (uintptr_t)engine;
    *v++ = launched->compile_ns;
    return v;
}

void pt_timeline_end_launch(const struct pt_job *job, const struct pt_launched *launched,
                            uint64_t begun)
{
    const struct pt_launch *l = &job->launch;
    uint64_t values[PT_TIMELINE_LAUNCH_VALUES + 1];
    ptera_launch shape = {.shared_bytes = l->shared_dynamic};
    for (int d = 0; d < 3; d++) {
        shape.grid[d] = l->grid[d];
        shape.block[d] = l->block[d];
        shape.cluster[d] = l->is_explicit_cluster ? l->cluster[d] : 0;
    }
    *pt_timeline_put_launch(values, &shape, launched) = (uint64_t)job->result;
    end(job->engine, ptera_kernel_name(job->kernel), &launch_shape, begun, values);
}
