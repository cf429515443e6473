/* A program that compiles or links at run time, and runs what comes out:
 *   client nvrtc LIBRARY OPTION...       compiles a kernel, loads its cubin, else its PTX
 *   client ltoir LIBRARY FILE            writes its LTO code
 *   client link LIBRARY TYPE FILE...     links files of an nvJitLink input type (0: one by one by
 * AddData as PTX), -lto if the type is 3 Prints what was loaded and the word that kernel k(int *)
 * leaves; or what failed. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/abi.h"

static void *library;

static void *function(const char *name)
{
    void *f = dlsym(library, name);
    if (!f) {
        printf("no %s\n", name);
        exit(1);
    }
    return f;
}

static void check(const char *what, int r)
{
    if (r == 0)
        return;
    printf("%s: %d\n", what, r);
    exit(1);
}

#define CALL(name, parameters, ...) check(#name, ((int(*) parameters)function(#name))(__VA_ARGS__))

static unsigned run(const void *image)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr p;
    unsigned out = 0;
    void *args[] = {&p};
    check("cuInit", cuInit(0));
    check("cuDeviceGet", cuDeviceGet(&device, 0));
    check("cuCtxCreate", cuCtxCreate_v2(&context, 0, device));
    check("cuModuleLoadData", cuModuleLoadData(&module, image));
    check("cuModuleGetFunction", cuModuleGetFunction(&kernel, module, "k"));
    check("cuMemAlloc", cuMemAlloc_v2(&p, sizeof out));
    check("cuLaunchKernel", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    check("cuMemcpyDtoH", cuMemcpyDtoH_v2(&out, p, sizeof out));
    return out;
}

static void *compiled(int n, char **options)
{
    static const char source[] = "extern \"C\" __global__ void k(int *p) { *p = 42; }";
    void *program;
    CALL(nvrtcCreateProgram, (void **, const char *, const char *, int, char **, char **), &program,
         source, "k.cu", 0, NULL, NULL);
    CALL(nvrtcCompileProgram, (void *, int, char **), program, n, options);
    return program;
}

static void write_lto(const char *path)
{
    static char lto[] = "-dlto", arch[] = "-arch=sm_90", *options[] = {lto, arch};
    void *program = compiled(2, options);
    size_t size = 0;
    CALL(nvrtcGetLTOIRSize, (void *, size_t *), program, &size);
    char *code = calloc(1, size + 1);
    CALL(nvrtcGetLTOIR, (void *, char *), program, code);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(code, 1, size, out) != size || fclose(out) != 0)
        puts("cannot write");
    free(code);
}

static void *compile(int n, char **options)
{
    void *program = compiled(n, options);
    size_t size = 77;
    CALL(nvrtcGetCUBINSize, (void *, size_t *), program, &size);
    char *image = calloc(1, size + 1);
    CALL(nvrtcGetCUBIN, (void *, char *), program, image);
    printf(size ? "cubin " : "ptx ");
    if (!size) {
        CALL(nvrtcGetPTXSize, (void *, size_t *), program, &size);
        image = realloc(image, size + 1);
        CALL(nvrtcGetPTX, (void *, char *), program, image);
    }
    CALL(nvrtcDestroyProgram, (void **), &program);
    return image;
}

static void *read_whole(const char *path, size_t *size)
{
    static char data[1 << 20];
    FILE *in = fopen(path, "rb");
    *size = in ? fread(data, 1, sizeof data - 1, in) : 0;
    data[*size] = 0;
    if (in)
        fclose(in);
    return data;
}

static void *link_files(int type, int n, char **files)
{
    const char *options[] = {"-arch=sm_90", "-lto"};
    void *handle;
    size_t size;
    CALL(__nvJitLinkCreate_13_0, (void **, uint32_t, const char **), &handle, type == 3 ? 2 : 1,
         options);
    for (int i = 0; i < n; i++) {
        const void *data = read_whole(files[i], &size);
        if (i % 2)
            CALL(nvJitLinkAddFile, (void *, int, const char *), handle, type, files[i]);
        else
            CALL(nvJitLinkAddData, (void *, int, const void *, size_t, const char *), handle, type,
                 data, size, files[i]);
    }
    CALL(nvJitLinkComplete, (void *), handle);
    CALL(nvJitLinkGetLinkedCubinSize, (void *, size_t *), handle, &size);
    char *image = calloc(1, size);
    CALL(__nvJitLinkGetLinkedCubin_13_0, (void *, void *), handle, image);
    CALL(nvJitLinkDestroy, (void **), &handle);
    printf("cubin ");
    return image;
}

int main(int argc, char **argv)
{
    if (argc < 4 || !(library = dlopen(argv[2], RTLD_NOW))) {
        puts(argc < 4 ? "usage" : "no library");
        return 1;
    }
    if (!strcmp(argv[1], "ltoir")) {
        write_lto(argv[3]);
        return 0;
    }
    void *image = !strcmp(argv[1], "nvrtc") ? compile(argc - 3, argv + 3)
                                            : link_files(atoi(argv[3]), argc - 4, argv + 4);
    printf("%u\n", run(image));
    free(image);
    return 0;
}
