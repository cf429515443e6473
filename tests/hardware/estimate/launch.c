/* Launches kernels for profilers, of a GPU or Ptera, and says which, a line each:
 *
 *     launch FOLDER CASES [N]
 *
 * FOLDER is tests. CASES has a line for each case: "profile NAME BLOCKS THREADS", a kernel of
 * hardware/profile; "unit NAME BLOCKS THREADS TURNS", one of units.cu; "bench NAME SIZE", the
 * launches of a case of bench, of which the first few are made; or "sample ...", a kernel of
 * samples (tests/hardware/samples.h). With N, line N alone is run. Link with libcuda. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/case.h"
#include "tests/hardware/samples.h"

#ifdef PTERA_PROFILED
#include "runtime/cuda/abi.h"
#else
#include <cuda.h>
#endif

enum { FLOATS = 40 << 20, BEFORE = 2 << 20, PLACES = 1 << 22, MOST_LAUNCHES = 12 };
enum { SIDE = 1024, ROWS = 512 * 32 }; /* of images; of tensors of that width */

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "launch: %s: error %u\n", what, (unsigned)result);
    exit(1);
}

static CUmodule load(const char *folder, const char *file)
{
    CUmodule module;
    char path[4096], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s.ptx", folder, file);
    FILE *in = fopen(path, "r");
    if (!in || !text || !fread(text, 1, (1 << 20) - 1, in))
        must(CUDA_ERROR_FILE_NOT_FOUND, path);
    fclose(in);
    must(cuModuleLoadData(&module, text), path);
    free(text);
    return module;
}

static CUdeviceptr make(const void *from, size_t bytes)
{
    CUdeviceptr p;
    must(cuMemAlloc_v2(&p, bytes ? bytes : 1), "cuMemAlloc");
    must(cuMemcpyHtoD_v2(p, from, bytes), "cuMemcpyHtoD");
    return p;
}

/* ---- what kernels work on -------------------------------------------------------------------- */

static CUdeviceptr make_floats(void)
{
    float *v = malloc(FLOATS * sizeof *v);
    for (int i = 0; v && i < FLOATS; i++)
        v[i] = (float)(i % 1001) * 0.125f;
    CUdeviceptr p = make(v, FLOATS * sizeof *v);
    free(v);
    return p;
}

static CUdeviceptr make_places(void)
{
    int *v = malloc(PLACES * sizeof *v);
    uint32_t state = 1;
    for (int i = 0; v && i < PLACES; i++) { /* each once, by Fisher and Yates */
        state = state * 1664525 + 1013904223;
        int k = (int)(state >> 8) % (i + 1);
        v[i] = v[k];
        v[k] = i;
    }
    CUdeviceptr p = make(v, PLACES * sizeof *v);
    free(v);
    return p;
}

static CUdeviceptr in, out, at;

static void make_data(void)
{
    if (in)
        return;
    in = make_floats() + BEFORE * sizeof(float);
    out = make_floats();
    at = make_places();
}

static CUtexObject make_texture(const CUDA_RESOURCE_DESC *resource, bool is_smooth, unsigned flags)
{
    CUDA_TEXTURE_DESC how = {.filterMode =
                                 is_smooth ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
                             .flags = flags};
    CUtexObject texture;
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    must(cuTexObjectCreate(&texture, resource, &how, NULL), "cuTexObjectCreate");
    return texture;
}

static CUarray make_array(const CUDA_ARRAY3D_DESCRIPTOR *shape, size_t texel, CUdeviceptr from)
{
    CUarray array;
    must(cuArray3DCreate_v2(&array, shape), "cuArray3DCreate");
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = from,
                          .srcPitch = shape->Width * texel,
                          .srcHeight = shape->Height,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = shape->Width * texel,
                          .Height = shape->Height,
                          .Depth = shape->Depth ? shape->Depth : 1};
    must(cuMemcpy3D_v2(&copy), "cuMemcpy3D");
    return array;
}

static void run(CUmodule module, const char *name, unsigned blocks, unsigned threads,
                void **parameters)
{
    CUfunction f;
    must(cuModuleGetFunction(&f, module, name), name);
    must(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL), name);
    must(cuCtxSynchronize(), name);
}

/* ---- kernels of hardware/profile ------------------------------------------------------------- */

static void run_profile(const char *folder, const char *name, unsigned blocks, unsigned threads)
{
    static CUmodule module;
    int zero = 0;
    make_data();
    if (!module)
        module = load(folder, "hardware/profile/kernels");
    void *parameters[] = {&in, &out, &at, &zero};
    run(module, name, blocks, threads, parameters);
    printf("profile %s %u: %s\n", name, blocks, name);
}

/* ---- kernels of units.cu --------------------------------------------------------------------- */

static CUtexObject make_linear(void)
{
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR};
    r.res.linear.devPtr = in;
    r.res.linear.format = CU_AD_FORMAT_FLOAT;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = sizeof(float) << 20;
    return make_texture(&r, false, 0);
}

static CUtexObject make_image(unsigned channels, bool is_smooth)
{
    unsigned side = channels == 1 ? SIDE : SIDE / 2;
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = side, .Height = side, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = channels};
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    r.res.array.hArray = make_array(&shape, channels * sizeof(float), in);
    return make_texture(&r, is_smooth, 0);
}

static CUtensorMap make_map(CUdeviceptr memory)
{
    CUtensorMap map;
    cuuint64_t sides[] = {SIDE, ROWS}, pitch[] = {SIDE * sizeof(float)};
    cuuint32_t box[] = {64, 32}, step[] = {1, 1};
    must(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)memory, sides,
                                pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
         "cuTensorMapEncodeTiled");
    return map;
}

static void run_unit(const char *folder, const char *name, unsigned blocks, unsigned threads,
                     unsigned turns)
{
    static CUmodule module;
    static CUtexObject linear, image, smooth, colours;
    static CUtensorMap map, result;
    make_data();
    if (!module) {
        module = load(folder, "hardware/estimate/units");
        linear = make_linear();
        image = make_image(1, false);
        smooth = make_image(1, true);
        colours = make_image(4, false);
        map = make_map(in);
        result = make_map(out);
    }
    void *parameters[] = {&in,    &out,    &at,      &turns, &linear,
                          &image, &smooth, &colours, &map,   &result};
    run(module, name, blocks, threads, parameters);
    printf("unit %s %u %u %u: %s\n", name, blocks, threads, turns, name);
}

/* ---- cases of bench -------------------------------------------------------------------------- */

static CUtexObject make_bench_texture(const struct bench_texture *t, CUdeviceptr buffer)
{
    size_t channel = t->is_bytes ? 1 : sizeof(float);
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = t->size[0],
                                     .Height = t->axes > 1 ? t->size[1] : 0,
                                     .Depth = t->axes > 2 ? t->size[2] : 0,
                                     .Format = t->is_bytes ? CU_AD_FORMAT_UNSIGNED_INT8
                                                           : CU_AD_FORMAT_FLOAT,
                                     .NumChannels = t->channels};
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    r.res.array.hArray = make_array(&shape, t->channels * channel, buffer);
    return make_texture(&r, t->is_linear, t->is_normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0);
}

static void *parameter_of(struct bench_argument *a, CUdeviceptr *buffers)
{
    if (a->is_texture && !a->texture.handle)
        a->texture.handle = make_bench_texture(&a->texture, buffers[a->texture.buffer]);
    return a->is_buffer    ? (void *)&buffers[a->buffer]
           : a->is_texture ? (void *)&a->texture.handle
                           : (void *)a->raw;
}

static void launch_bench(CUmodule module, struct bench_launch *l, CUdeviceptr *buffers)
{
    CUfunction f;
    void *parameters[BENCH_ARGUMENTS];
    for (unsigned a = 0; a < l->n_arguments; a++)
        parameters[a] = parameter_of(&l->argument[a], buffers);
    must(cuModuleGetFunction(&f, module, l->kernel), l->kernel);
    must(cuLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                        l->block[2], 0, NULL, parameters, NULL),
         l->kernel);
    must(cuCtxSynchronize(), l->kernel);
}

static void run_bench(const char *folder, const char *name, unsigned size)
{
    struct bench_case c;
    CUdeviceptr buffers[BENCH_BUFFERS];
    char path[200];
    int i = 0;
    while (bench_kind(i) && strcmp(bench_kind(i)->name, name) != 0)
        i++;
    const char *why = bench_kind(i) ? bench_case_make(&c, bench_kind(i), size) : "unknown";
    if (why) {
        fprintf(stderr, "launch: %s %u: %s\n", name, size, why);
        exit(1);
    }
    for (int b = 0; b < c.n_buffers; b++)
        buffers[b] = make(c.buffer[b].host, c.buffer[b].bytes);
    snprintf(path, sizeof path, "bench/kernels/%s", c.kind->file);
    CUmodule module = load(folder, path);
    for (int l = 0; l < c.n_launches && l < MOST_LAUNCHES; l++) {
        launch_bench(module, &c.launch[l], buffers);
        printf("bench %s %u: %s\n", name, size, c.launch[l].kernel);
    }
    must(cuModuleUnload(module), "cuModuleUnload");
    for (int l = 0; l < c.n_launches; l++)
        for (unsigned a = 0; a < c.launch[l].n_arguments; a++)
            if (c.launch[l].argument[a].is_texture)
                c.launch[l].argument[a].texture.handle = 0; /* no memory of the case's */
    for (int b = 0; b < c.n_buffers; b++)
        must(cuMemFree_v2(buffers[b]), "cuMemFree");
    bench_case_free(&c);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    char line[200], name[100];
    unsigned a, b, c;
    int only = argc == 4 ? atoi(argv[3]) : 0;
    FILE *cases = argc >= 3 ? fopen(argv[2], "r") : NULL;
    if (!cases)
        return 2;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (int n = 1; fgets(line, sizeof line, cases); n++) {
        if (only && n != only)
            continue;
        if (sscanf(line, "profile %99s %u %u", name, &a, &b) == 3)
            run_profile(argv[1], name, a, b);
        else if (sscanf(line, "unit %99s %u %u %u", name, &a, &b, &c) == 4)
            run_unit(argv[1], name, a, b, c);
        else if (sscanf(line, "bench %99s %u", name, &a) == 2)
            run_bench(argv[1], name, a);
        else if (strncmp(line, "sample ", 7) == 0)
            samples_run(argv[1], line + 7);
    }
    fclose(cases);
    return 0;
}
