/* The OpenCL twins on pocl. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/runner.h"

enum { PLATFORMS = 8, SOURCE_BYTES = 1 << 16 };

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel *kernels; /* one a launch: its arguments are set once */
static cl_mem memory[BENCH_BUFFERS];
static char text[4096];

static const char *check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return NULL;
    snprintf(text, sizeof text, "%s: OpenCL error %d", what, error);
    return text;
}

static bool has(const struct bench_kind *kind)
{
    return !kind->is_limit;
}

static const char *find(const struct runner_setup *setup)
{
    (void)setup;
    cl_platform_id platform[PLATFORMS];
    cl_uint n = 0;
    cl_int error = clGetPlatformIDs(PLATFORMS, platform, &n);
    for (cl_uint i = 0; i < n && error == CL_SUCCESS; i++) {
        char name[64] = "";
        clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Portable Computing Language"))
            continue;
        error = clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL);
        if (error == CL_SUCCESS)
            context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
        if (error == CL_SUCCESS)
            queue = clCreateCommandQueue(context, device, 0, &error);
        return check(error, "pocl's device");
    }
    return "pocl is not installed (pocl-opencl-icd)";
}

static const char *build(const char *folder, const char *file)
{
    static char source[SOURCE_BYTES];
    const char *start = source;
    cl_int error;
    snprintf(text, sizeof text, "%s/%s.cl", folder, file);
    FILE *f = fopen(text, "rb");
    if (!f)
        return text;
    size_t bytes = fread(source, 1, sizeof source, f);
    fclose(f);
    program = clCreateProgramWithSource(context, 1, &start, &bytes, &error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (error == CL_BUILD_PROGRAM_FAILURE) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL);
        return text;
    }
    return check(error, "building the program");
}

/* The kernels work on the host's own memory, as Ptera's and OpenMP's do. */
static const char *make_buffers(const struct bench_case *c)
{
    cl_int error = CL_SUCCESS;
    for (int i = 0; i < c->n_buffers && error == CL_SUCCESS; i++)
        memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                   c->buffer[i].bytes, c->buffer[i].host, &error);
    return check(error, "making buffers");
}

static cl_mem make_image(const struct bench_case *c, const struct bench_texture *t, cl_int *error)
{
    const cl_image_format format = {t->channels == 4 ? CL_RGBA : CL_R,
                                    t->is_bytes ? CL_UNORM_INT8 : CL_FLOAT};
    const cl_image_desc d = {.image_type =
                                 t->axes == 3 ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D,
                             .image_width = t->size[0],
                             .image_height = t->size[1],
                             .image_depth = t->size[2]};
    return clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, &format, &d,
                         c->buffer[t->buffer].host, error);
}

static const char *make_kernel(const struct bench_case *c, const struct bench_launch *l,
                               cl_kernel *kernel)
{
    cl_int error;
    *kernel = clCreateKernel(program, l->kernel, &error);
    for (unsigned a = 0; a < l->n_arguments && error == CL_SUCCESS; a++) {
        const struct bench_argument *argument = &l->argument[a];
        cl_mem object = argument->is_buffer    ? memory[argument->buffer]
                        : argument->is_texture ? make_image(c, &argument->texture, &error)
                                               : NULL;
        if (error == CL_SUCCESS)
            error = object ? clSetKernelArg(*kernel, a, sizeof object, &object)
                           : clSetKernelArg(*kernel, a, argument->bytes, argument->raw);
    }
    return check(error, l->kernel);
}

static const char *open_case(struct bench_case *c, const struct runner_setup *setup)
{
    const char *why = build(setup->kernels, c->kind->file);
    if (!why)
        why = make_buffers(c);
    kernels = calloc((size_t)c->n_launches, sizeof *kernels);
    if (!kernels)
        return "out of memory";
    for (int i = 0; i < c->n_launches && !why; i++)
        why = make_kernel(c, &c->launch[i], &kernels[i]);
    return why;
}

static const char *run(struct bench_case *c)
{
    cl_int error = CL_SUCCESS;
    for (int i = 0; i < c->times * c->n_launches && error == CL_SUCCESS; i++) {
        int at = i % c->n_launches;
        const struct bench_launch *l = &c->launch[at];
        size_t all[3], group[3];
        for (int axis = 0; axis < 3; axis++) {
            group[axis] = l->block[axis];
            all[axis] = (size_t)l->grid[axis] * l->block[axis];
        }
        error = clEnqueueNDRangeKernel(queue, kernels[at], 3, NULL, all, group, 0, NULL, NULL);
        if (c->kind->is_launch && error == CL_SUCCESS)
            error = clFinish(queue);
    }
    return check(error == CL_SUCCESS ? clFinish(queue) : error, "running");
}

static const char *give_to_host(struct bench_case *c, bool host)
{
    cl_int error = CL_SUCCESS;
    for (int i = 0; i < c->n_buffers && error == CL_SUCCESS; i++) {
        if (host)
            clEnqueueMapBuffer(queue, memory[i], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                               c->buffer[i].bytes, 0, NULL, NULL, &error);
        else
            error = clEnqueueUnmapMemObject(queue, memory[i], c->buffer[i].host, 0, NULL, NULL);
    }
    if (error == CL_SUCCESS)
        error = clFinish(queue);
    return check(error, "mapping buffers");
}

static const char *version(void)
{
    static char line[256];
    char name[160] = "", driver[64] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    snprintf(line, sizeof line, "pocl %s, %s", driver, name);
    return line;
}

__attribute__((visibility("default"))) const struct runner runner = {.has = has,
                                                                     .find = find,
                                                                     .open = open_case,
                                                                     .version = version,
                                                                     .run = run,
                                                                     .give_to_host = give_to_host};
