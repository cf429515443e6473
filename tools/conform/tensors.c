/* Chapters of tensor maps: what the driver takes for one, what kernels copy, store and reduce by
 * it, and what they change of one. tensor.txt has a line a case (tensor_case.h), tensor.ptx the
 * kernels, tensor.out a tensor_result and its bytes for each. The bits of maps are the driver's
 * own: they are not compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kernel.h"
#include "tools/conform/kind.h"
#include "tools/conform/tensor_case.h"

enum buffer { ARGS, DATA, TENSOR, BUFFERS };

struct job {
    const char *module; /* first: as kernel.h asks */
    const char *bytes;  /* what is left, in tensor.out */
    struct tensor_case c;
    char name[CONFORM_CASE_NAME];
    struct tensor_result want;
};

static bool add(const struct conform_set *set, char **field, struct conform_rows *rows)
{
    size_t bytes, all;
    const struct job *last = rows->n ? rows->v[rows->n - 1].data : NULL;
    const char *module = conform_suite_read(set->suite, set->name, "tensor.ptx", &bytes),
               *results = conform_suite_read(set->suite, set->name, "tensor.out", &all);
    struct job *job = calloc(1, sizeof *job);
    if (!module || !results || !job || !tensor_case_read(field[0], &job->c))
        return false;
    size_t at = last ? (size_t)(last->bytes - results) + last->want.bytes : 0;
    if (at > all || all - at < sizeof job->want)
        return false;
    memcpy(&job->want, results + at, sizeof job->want);
    job->module = module;
    job->bytes = results + at + sizeof job->want;
    return job->want.bytes <= all - at - sizeof job->want && job->want.bytes <= TENSOR_BYTES &&
           conform_kernel_add_case(set, job->c.kernel, job->name, job, rows);
}

/* A case that makes a map alone needs no kernel of its own. */
static char *text(const struct conform_row *row)
{
    static const char none[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry encode()\n{\n    ret;\n}\n";
    const struct job *job = row->data;
    return tensor_case_is_encode(&job->c) ? strdup(none) : conform_kernel_case_text(row);
}

/* ---- the map --------------------------------------------------------------------------------- */

static bool can_encode(const struct driver *d, const struct tensor_case *c)
{
    return c->im2col >= IM2COL_WIDE ? d->cuTensorMapEncodeIm2colWide != NULL
           : c->im2col              ? d->cuTensorMapEncodeIm2col != NULL
                                    : d->cuTensorMapEncodeTiled != NULL;
}

static CUresult encode(const struct driver *d, const struct tensor_case *c, CUdeviceptr at,
                       CUtensorMap *map)
{
    void *address = (void *)(uintptr_t)at;
    const cuuint64_t *dims = (const cuuint64_t *)c->dims, *strides = (const cuuint64_t *)c->strides;
    CUtensorMapDataType type = (CUtensorMapDataType)c->type;
    CUtensorMapInterleave interleave = (CUtensorMapInterleave)c->interleave;
    CUtensorMapSwizzle swizzle = (CUtensorMapSwizzle)c->swizzle;
    CUtensorMapL2promotion l2 = (CUtensorMapL2promotion)c->l2;
    CUtensorMapFloatOOBfill fill = (CUtensorMapFloatOOBfill)c->fill;
    if (c->im2col >= IM2COL_WIDE)
        return d->cuTensorMapEncodeIm2colWide(
            map, type, c->rank, address, dims, strides, c->lower[0], c->upper[0], c->channels,
            c->pixels, c->steps, interleave, (CUtensorMapIm2ColWideMode)(c->im2col - IM2COL_WIDE),
            swizzle, l2, fill);
    if (c->im2col)
        return d->cuTensorMapEncodeIm2col(map, type, c->rank, address, dims, strides, c->lower,
                                          c->upper, c->channels, c->pixels, c->steps, interleave,
                                          swizzle, l2, fill);
    return d->cuTensorMapEncodeTiled(map, type, c->rank, address, dims, strides, c->box, c->steps,
                                     interleave, swizzle, l2, fill);
}

/* Makes the map of the tensor, whose address the kernel is told among the arguments. */
static bool prepare(struct worker *worker, struct launch *launch, const CUdeviceptr *at,
                    struct result *result)
{
    const struct job *job = launch->data;
    const struct tensor_case *c = &job->c;
    struct driver *d = &worker->driver;
    CUdeviceptr address = at[TENSOR] + c->shift;
    if (!can_encode(d, c)) {
        conform_row_tell(result, VERDICT_SKIPPED, "the driver has no call that makes such a map");
        return false;
    }
    CUresult r = encode(d, c, address, launch->value);
    if (!r != !job->want.encoded) {
        conform_row_tell(result, VERDICT_DIFFERENT, "the map is %s",
                         r ? "refused, and must be allowed" : "allowed, and must be refused");
        return false;
    }
    size_t place = offsetof(struct tensor_case, args[12]) - offsetof(struct tensor_case, args);
    return !r && !tensor_case_is_encode(c) &&
           !conform_launch_failed(worker, "cuMemcpyHtoD",
                                  d->cuMemcpyHtoD_v2(at[ARGS] + place, &address, sizeof address),
                                  result);
}

/* ---- running --------------------------------------------------------------------------------- */

static void compare(const struct job *job, const unsigned char *got, struct result *result)
{
    for (uint32_t i = 0; i < job->want.bytes; i++)
        if (got[i] != (unsigned char)job->bytes[i]) {
            conform_row_tell(result, VERDICT_DIFFERENT,
                             "byte %u of %u: it is 0x%02x, expected 0x%02x", i, job->want.bytes,
                             got[i], (unsigned char)job->bytes[i]);
            return;
        }
}

static void judge(const struct job *job, const struct launch *launch, const unsigned char *got,
                  struct result *result)
{
    if (!launch->has_started)
        return; /* the result says why */
    if (launch->ended == (CUresult)job->want.launched) {
        conform_row_tell(result, VERDICT_SAME, "%s", "");
        compare(job, got, result);
    } else if (launch->ended == CUDA_SUCCESS) {
        conform_row_tell(result, VERDICT_DIFFERENT, "it ends, expected: fault %u",
                         job->want.launched);
    } else {
        result->verdict = VERDICT_DIFFERENT;
    }
}

/* Arguments, data and, behind them, the tensor, which is no parameter. */
static void describe(const struct job *job, struct launch *l, unsigned char *data,
                     unsigned char *tensor)
{
    const struct tensor_case *c = &job->c;
    bool replaces = tensor_case_is_replace(c);
    tensor_case_fill(tensor, TENSOR_BYTES, c->type, c->pattern, 0);
    tensor_case_fill(data, TENSOR_BYTES, c->type, c->pattern, 1 << 20);
    if (replaces)
        memset(data, c->byte, TENSOR_MAP);
    l->buffer[ARGS] = (struct launch_buffer){.bytes = replaces ? sizeof c->value : sizeof c->args,
                                             .from = replaces ? (const void *)&c->value : c->args};
    l->buffer[DATA] = (struct launch_buffer){.bytes = TENSOR_BYTES, .from = data};
    l->buffer[TENSOR] = (struct launch_buffer){.bytes = TENSOR_BYTES, .from = tensor};
    unsigned left = tensor_case_is_load(c) || replaces ? DATA : TENSOR;
    l->buffer[left].to = left == DATA ? data : tensor;
    l->n_buffers = BUFFERS;
    memcpy(l->order, replaces ? "bb" : "vbb", 3);
    l->block[0] = replaces ? 1 : TENSOR_THREADS;
    l->shared = replaces ? 0 : TENSOR_SHARED;
    l->prepare = replaces ? NULL : prepare;
}

static void run(struct worker *worker, const struct conform_row *row, struct result *result)
{
    static unsigned char data[TENSOR_BYTES], tensor[TENSOR_BYTES];
    static CUtensorMap map;
    const struct job *job = row->data;
    char *ptx = text(row);
    struct launch launch = {.ptx = ptx,
                            .kernel = job->c.kernel,
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .level = row->set->level,
                            .value = &map,
                            .data = job};
    describe(job, &launch, data, tensor);
    if (!ptx)
        conform_row_tell(result, VERDICT_FAILED, "no memory on the host, or no such kernel");
    else {
        conform_launch_run(worker, &launch, result);
        judge(job, &launch, launch.buffer[DATA].to ? data : tensor, result);
    }
    free(ptx);
}

const struct conform_kind conform_tensors = {"tensors", "tensor.txt", 1, add, run, text, true};
