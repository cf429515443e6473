/* Streams as rows of the timeline, and what runs in them. */
#include "runtime/cuda/track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/board.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/trace.h"
#include "runtime/deadline.h"
#include "runtime/timeline.h"

enum { LANES = 64 };

struct pt_cu_track {
    CUdevice device;
    uint32_t row; /* of its first lane; the others follow */
    unsigned refs;
    uint64_t busy, named; /* lanes */
    char name[80];
};

/* ---- tracks ---------------------------------------------------------------------------------- */

static void name_device(CUdevice device)
{
    static bool is_named[PT_CU_DEVICES_MAX];
    char name[128];
    if (is_named[device])
        return;
    int n = snprintf(name, sizeof name, "GPU %d: ", device);
    pt_cu_board_name(&pt_cu_driver, name + n, sizeof name - (size_t)n);
    pt_cu_trace_name_device(device, name);
    is_named[device] = true;
}

struct pt_cu_track *pt_cu_track_new(CUcontext ctx, const char *name)
{
    static uint32_t n_tracks;
    struct pt_cu_track *track = pt_cu_trace_is_on() ? calloc(1, sizeof *track) : NULL;
    if (!track)
        return NULL;
    name_device(ctx->device);
    track->refs = 1;
    track->device = ctx->device;
    track->row = ++n_tracks * LANES;
    if (ctx->is_primary)
        pt_cu_track_name(track, name);
    else {
        char text[sizeof track->name];
        snprintf(text, sizeof text, "%s, context %llu", name, (unsigned long long)ctx->object.id);
        pt_cu_track_name(track, text);
    }
    return track;
}

struct pt_cu_track *pt_cu_track_ref(struct pt_cu_track *track)
{
    if (track)
        track->refs++;
    return track;
}

void pt_cu_track_put(struct pt_cu_track *track)
{
    if (track && !--track->refs)
        free(track);
}

void pt_cu_track_name(struct pt_cu_track *track, const char *name)
{
    snprintf(track->name, sizeof track->name, "%s", name);
    track->named = 0;
}

/* The lowest lane that is free; what has none is seen on the last one. */
static unsigned take_lane(struct pt_cu_track *track)
{
    char name[sizeof track->name + 16];
    unsigned lane = ~track->busy ? (unsigned)__builtin_ctzll(~track->busy) : LANES - 1;
    uint64_t bit = UINT64_C(1) << lane;
    track->busy |= bit;
    if (!(track->named & bit)) {
        snprintf(name, sizeof name, lane ? "%s (%u)" : "%s", track->name, lane + 1);
        pt_cu_trace_name_row(track->device, track->row + lane, name);
        track->named |= bit;
    }
    return lane;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void describe_copy(const struct pt_cu_copy *c, struct pt_cu_traced *t)
{
    static const char *const names[2][2] = {{"copy host to host", "copy device to host"},
                                            {"copy host to device", "copy device to device"}};
    t->name = names[pt_cu_range_is_device(c->to)][pt_cu_range_is_device(c->from)];
    t->bytes = (uint64_t)c->width * c->height * c->depth;
}

/* False: it takes no time. */
static bool describe(struct pt_cu_op *op, struct pt_cu_traced *t)
{
    t->what = PT_CU_TRACED_MOVE;
    switch (op->work) {
    case PT_CU_KERNEL_LAUNCH:
        t->what = PT_CU_TRACED_KERNEL;
        t->name = ptera_kernel_name(op->launch.job->kernel);
        t->launch = &op->launch.launch;
        t->launched.is_brief = true;
        op->launch.launched = &t->launched;
        return true;
    case PT_CU_COPY:
        describe_copy(&op->copy, t);
        return true;
    case PT_CU_SET:
        t->name = "memory set";
        t->bytes = (uint64_t)op->set.width * op->set.element_bytes * op->set.height;
        return true;
    case PT_CU_HOST_CALL:
    case PT_CU_CALLBACK:
        t->what = PT_CU_TRACED_WAIT;
        t->name = op->work == PT_CU_CALLBACK ? "stream callback" : "host function";
        return true;
    case PT_CU_BATCH:
    case PT_CU_WAIT_VALUE:
        t->what = PT_CU_TRACED_WAIT;
        t->name = op->work == PT_CU_BATCH ? "values" : "wait for value";
        return true;
    default:
        return false;
    }
}

void pt_cu_track_begin(struct pt_cu_track *track, struct pt_cu_op *op, struct pt_cu_traced *traced)
{
    traced->track = track && describe(op, traced) ? track : NULL;
    if (!traced->track)
        return;
    traced->lane = take_lane(track);
    traced->begun = pt_now_ns();
}

/* The fields behind those of the kind. */
#define LAST                     \
    {"graph_node", PT_TRACE_ID}, \
    {                            \
        "result", PT_TRACE_ID    \
    }

static const struct pt_trace_shape shapes[] = {
    [PT_CU_TRACED_KERNEL] = {.phase = 'X',
                             .arrow = "flow_in",
                             .category = "kernel",
                             .fields = {PT_TIMELINE_LAUNCH, LAST},
                             .n_values = PT_TIMELINE_LAUNCH_VALUES + 2},
    [PT_CU_TRACED_MOVE] = {.phase = 'X',
                           .arrow = "flow_in",
                           .category = "memory",
                           .fields = {{"bytes", PT_TRACE_UNSIGNED}, LAST},
                           .n_values = 3},
    [PT_CU_TRACED_WAIT] = {
        .phase = 'X', .arrow = "flow_in", .category = "host", .fields = {LAST}, .n_values = 2}};

void pt_cu_track_add(const struct pt_cu_traced *t, CUresult result)
{
    struct pt_trace_event event = {.begin = t->begun,
                                   .end = pt_now_ns(),
                                   .process = pt_cu_trace_device(t->track->device),
                                   .row = t->track->row + t->lane,
                                   .id = t->arrow,
                                   .name = t->name};
    uint64_t values[PT_TIMELINE_LAUNCH_VALUES + 2], *v = values;
    if (t->what == PT_CU_TRACED_KERNEL)
        v = pt_timeline_put_launch(v, t->launch, &t->launched);
    else if (t->what == PT_CU_TRACED_MOVE)
        *v++ = t->bytes;
    *v++ = t->node;
    *v = result;
    event.values = values;
    pt_cu_trace_add(&shapes[t->what], &event);
}

void pt_cu_track_end(const struct pt_cu_traced *traced)
{
    traced->track->busy &= ~(UINT64_C(1) << traced->lane);
}
