/* Chapters of surfaces: arrays, levels, layers and cubes that lanes load from, store to and reduce
 * into, and objects that are asked for their size. surface.txt has a line a case (surface_case.h),
 * surface.ptx the kernels, surface.out a surface_result and a hash of the lanes' words and the
 * array's bytes for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"
#include "tools/conform/surface_resource.h"

enum { WORDS_OUT = 4 };
enum buffer { IN, OUT, LINEAR_MEMORY, BUFFERS };

/* As surface.out has it. */
struct outcome {
    struct surface_result result;
    uint64_t hash;
};

struct job {
    const char *module; /* first: as kernel.h asks */
    struct surface_case c;
    char name[CONFORM_CASE_NAME];
    struct outcome want;
};

/* Of a run, in a worker. */
struct access {
    const struct job *job;
    struct surface_calls calls;
    struct surface_resource resource; /* its handle is the kernel's first parameter */
    uint32_t words[SURFACE_LANES * SURFACE_LANE_WORDS];
    unsigned char bytes[SURFACE_BYTES];
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t bytes;
    struct job *job = calloc(1, sizeof *job);
    if (!job || !surface_case_parse(field[0], &job->c) || job->c.lanes > SURFACE_LANES ||
        !conform_kernel_read_outcome(set, "surface.out", rows->n, &job->want, sizeof job->want))
        return false;
    job->module = conform_suite_read(set->suite, set->name, "surface.ptx", &bytes);
    return job->module && conform_kernel_add_case(set, job->c.kernel, job->name, job, rows);
}

/* ---- the surface ----------------------------------------------------------------------------- */

/* False: the driver lacks one. */
static bool find_calls(const struct driver *d, struct surface_calls *calls)
{
    *calls = (struct surface_calls){d->cuArray3DCreate_v2,      d->cuArrayDestroy,
                                    d->cuMipmappedArrayCreate,  d->cuMipmappedArrayGetLevel,
                                    d->cuMipmappedArrayDestroy, d->cuMemcpy3D_v2,
                                    d->cuTexObjectCreate,       d->cuTexObjectDestroy,
                                    d->cuSurfObjectCreate,      d->cuSurfObjectDestroy};
    return calls->array_create && calls->array_destroy && calls->mipmap_create &&
           calls->mipmap_level && calls->mipmap_destroy && calls->copy && calls->texture_create &&
           calls->texture_destroy && calls->surface_create && calls->surface_destroy;
}

/* Makes what the kernel's first parameter names. */
static bool prepare(struct worker *worker, struct launch *launch, const CUdeviceptr *at,
                    struct result *result)
{
    struct access *s = (struct access *)(uintptr_t)launch->data;
    const struct surface_case *c = &s->job->c;
    const struct surface_result *want = &s->job->want.result;
    conform_row_tell(result, VERDICT_SAME, "%s", "");
    CUresult r = surface_resource_object(&s->calls, c, at[LINEAR_MEMORY], &s->resource);
    return conform_launch_made(worker, "the object", r, want->object, result) && !r;
}

/* ---- running --------------------------------------------------------------------------------- */

/* What the array holds after the launch, and what the lanes have written. */
static void judge_contents(struct worker *worker, struct access *s, struct result *result)
{
    const struct outcome *want = &s->job->want;
    struct surface_result have = {.bytes = want->result.bytes};
    CUresult r = surface_resource_copy(&s->calls, &s->job->c, &s->resource, s->bytes, 1);
    if (conform_launch_failed(worker, "cuMemcpy3D", r, result))
        return;
    uint64_t hash = surface_resource_hash(&s->job->c, &have, s->words, s->bytes);
    if (hash != want->hash)
        conform_row_tell(result, VERDICT_DIFFERENT,
                         "what %u lanes loaded and %u bytes of the array have the hash %016llx, "
                         "expected %016llx",
                         s->job->c.lanes, have.bytes, (unsigned long long)hash,
                         (unsigned long long)want->hash);
}

static void judge(struct worker *worker, struct access *s, const struct launch *launch,
                  struct result *result)
{
    if (conform_launch_ended(launch, s->job->want.result.launched, result) && !launch->ended)
        judge_contents(worker, s, result);
}

/* The array is there. */
static void touch(struct worker *worker, const struct conform_row *row, struct access *s,
                  struct result *result)
{
    const struct surface_case *c = &s->job->c;
    const unsigned *size = s->resource.size;
    char *ptx = conform_kernel_case_text(row);
    struct launch launch = {
        .ptx = ptx,
        .kernel = c->kernel,
        .grid = {c->lanes / 32, 1, 1},
        .block = {32, 1, 1},
        .level = row->set->level,
        .buffer = {[IN] = {.bytes = c->lanes * SURFACE_LANE_WORDS * sizeof *s->words,
                           .from = s->words},
                   [OUT] = {.bytes = c->lanes * WORDS_OUT * sizeof *s->words,
                            .fill = 0xcd,
                            .to = s->words},
                   [LINEAR_MEMORY] = {.bytes = SURFACE_LINEAR_BYTES}},
        .n_buffers = BUFFERS,
        .value = &s->resource.handle,
        .order = "vbb",
        .prepare = prepare,
        .data = s};
    for (unsigned i = 0; i < c->lanes; i++)
        surface_fill_lane(c, i, size[0], size[1], size[2], s->words + i * SURFACE_LANE_WORDS);
    if (!ptx)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host, or no such kernel");
    else {
        conform_launch_run(worker, &launch, result);
        judge(worker, s, &launch, result);
    }
    free(ptx);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    struct access *s = calloc(1, sizeof *s);
    if (!s) {
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
        return;
    }
    s->job = row->data;
    const struct surface_result *want = &s->job->want.result;
    if (surface_case_is_undefined(&s->job->c))
        conform_row_tell(result, VERDICT_SKIPPED, "what comes of it is not defined");
    else if (!find_calls(&worker->driver, &s->calls))
        conform_row_tell(result, VERDICT_SKIPPED, "the driver has no surfaces");
    else {
        conform_row_tell(result, VERDICT_SAME, "%s", "");
        CUresult r = surface_resource_create(&s->calls, &s->job->c, &s->resource, s->bytes);
        if (conform_launch_made(worker, "the array", r, want->created, result) && !r)
            touch(worker, row, s, result);
        if (!worker->is_spoiled)
            surface_resource_destroy(&s->calls, &s->job->c, &s->resource);
    }
    free(s);
}

const struct conform_kind conform_surfaces = {
    "surfaces", "surface.txt", 1, add, run, conform_kernel_case_text, true};
