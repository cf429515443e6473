/* Chapters of textures: arrays, mipmapped arrays and memory, with the samplers of each, sampled by
 * lanes. texture.txt has a line a case (texture_case.h), texture.ptx the kernels, texture.out a
 * texture_result and a hash of the lanes' words for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"
#include "tools/conform/texture_resource.h"

enum { WORDS_OUT = 4 };
enum buffer { IN, OUT, TEXELS, BUFFERS };

/* As texture.out has it. */
struct outcome {
    struct texture_result result;
    uint64_t hash;
};

struct job {
    const char *module; /* first: as kernel.h asks */
    struct texture_case c;
    char name[CONFORM_CASE_NAME];
    struct outcome want;
};

/* Of a run, in a worker. */
struct sample {
    CUtexObject handle; /* first: the kernel's parameter is where this is */
    const struct job *job;
    struct texture_memory memory;
    struct texture_resource resource;
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t bytes;
    struct job *job = calloc(1, sizeof *job);
    if (!job || !texture_case_parse(field[0], &job->c) || job->c.lanes > MAX_LANES ||
        !conform_kernel_read_outcome(set, "texture.out", rows->n, &job->want, sizeof job->want))
        return false;
    job->module = conform_suite_read(set->suite, set->name, "texture.ptx", &bytes);
    return job->module && conform_kernel_add_case(set, job->c.kernel, job->name, job, rows);
}

/* ---- the texture ----------------------------------------------------------------------------- */

/* False: the driver lacks one. */
static bool find_calls(const struct driver *d, struct texture_calls *calls)
{
    *calls = (struct texture_calls){
        d->cuArray3DCreate_v2,       d->cuArrayDestroy,          d->cuMipmappedArrayCreate,
        d->cuMipmappedArrayGetLevel, d->cuMipmappedArrayDestroy, d->cuMemcpy3D_v2,
        d->cuMemcpyHtoD_v2,          d->cuTexObjectCreate,       d->cuTexObjectDestroy};
    return calls->array_create && calls->array_destroy && calls->mipmap_create &&
           calls->mipmap_level && calls->mipmap_destroy && calls->copy && calls->texture_create &&
           calls->texture_destroy;
}

/* Makes the texture, whose handle is the kernel's first parameter. */
static bool prepare(struct worker *worker, struct launch *launch, const CUdeviceptr *at,
                    struct result *result)
{
    struct sample *s = launch->value;
    const struct job *job = s->job;
    const struct texture_result *want = &job->want.result;
    struct texture_calls calls;
    s->memory.linear = at[TEXELS];
    if (!find_calls(&worker->driver, &calls)) {
        conform_row_tell(result, VERDICT_SKIPPED, "the driver has no textures");
        return false;
    }
    conform_row_tell(result, VERDICT_SAME, "%s", "");
    CUresult r = texture_resource_create(&calls, &job->c, &s->memory, &s->resource);
    if (!conform_launch_made(worker, "the array", r, want->created, result) || r)
        return false;
    r = texture_resource_sample(&calls, &job->c, &s->resource);
    s->handle = s->resource.texture;
    return conform_launch_made(worker, "the texture", r, want->object, result) && !r;
}

/* ---- running --------------------------------------------------------------------------------- */

static void judge(const struct job *job, const struct launch *launch, const uint32_t *words,
                  struct result *result)
{
    if (!conform_launch_ended(launch, job->want.result.launched, result) || launch->ended)
        return;
    uint64_t hash = conform_kernel_hash_words(words, (size_t)job->c.lanes * WORDS_OUT, FNV_BASIS);
    if (hash != job->want.hash)
        conform_row_tell(result, VERDICT_DIFFERENT,
                         "what %u lanes sampled has the hash %016llx, expected %016llx",
                         job->c.lanes, (unsigned long long)hash,
                         (unsigned long long)job->want.hash);
}

static void sample(struct worker *worker, const struct conform_row *row, struct sample *s,
                   uint32_t *words, struct result *result)
{
    const struct job *job = s->job;
    unsigned lanes = job->c.lanes;
    char *ptx = conform_kernel_case_text(row);
    struct launch launch = {
        .ptx = ptx,
        .kernel = job->c.kernel,
        .grid = {lanes / 32, 1, 1},
        .block = {32, 1, 1},
        .level = row->set->level,
        .buffer = {[IN] = {.bytes = lanes * LANE_WORDS * sizeof *words, .from = words},
                   [OUT] = {.bytes = lanes * WORDS_OUT * sizeof *words, .fill = 0xcd, .to = words},
                   [TEXELS] = {.bytes = TEXEL_BYTES, .from = s->memory.texels}},
        .n_buffers = job->c.resource < LINEAR ? TEXELS : BUFFERS,
        .value = s,
        .order = "vbb",
        .prepare = prepare};
    for (unsigned i = 0; i < lanes; i++)
        fill_lane(&job->c, i, words + i * LANE_WORDS);
    if (!ptx)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host, or no such kernel");
    else {
        conform_launch_run(worker, &launch, result);
        judge(job, &launch, words, result);
    }
    free(ptx);
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    struct sample s = {.job = row->data};
    struct texture_calls calls;
    uint32_t *words = calloc((size_t)s.job->c.lanes * LANE_WORDS, sizeof *words);
    s.memory.texels = calloc(1, TEXEL_BYTES);
    if (words && s.memory.texels)
        sample(worker, row, &s, words, result);
    else
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host");
    if (find_calls(&worker->driver, &calls) && !worker->is_spoiled)
        texture_resource_destroy(&calls, &s.resource);
    free(s.memory.texels);
    free(words);
}

const struct conform_kind conform_textures = {
    "textures", "texture.txt", 1, add, run, conform_kernel_case_text, true};
