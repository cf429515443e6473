/* Runs the tensor group on a GPU: tensor_run FOLDER [FIRST] reads tensor.ptx and tensor.txt and
 * appends to tensor.out a struct tensor_result and its bytes for each case. After a fault it starts
 * itself again behind that case. Link with -lcuda. */
#include <cuda.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/conform/tensor_case.h"

static CUresult encode(const struct tensor_case *c, CUtensorMap *map, void *address)
{
    if (c->im2col >= IM2COL_WIDE)
        return cuTensorMapEncodeIm2colWide(
            map, (CUtensorMapDataType)c->type, c->rank, address, (const cuuint64_t *)c->dims,
            (const cuuint64_t *)c->strides, c->lower[0], c->upper[0], c->channels, c->pixels,
            c->steps, (CUtensorMapInterleave)c->interleave,
            (CUtensorMapIm2ColWideMode)(c->im2col - IM2COL_WIDE), (CUtensorMapSwizzle)c->swizzle,
            (CUtensorMapL2promotion)c->l2, (CUtensorMapFloatOOBfill)c->fill);
    if (c->im2col)
        return cuTensorMapEncodeIm2col(
            map, (CUtensorMapDataType)c->type, c->rank, address, (const cuuint64_t *)c->dims,
            (const cuuint64_t *)c->strides, c->lower, c->upper, c->channels, c->pixels, c->steps,
            (CUtensorMapInterleave)c->interleave, (CUtensorMapSwizzle)c->swizzle,
            (CUtensorMapL2promotion)c->l2, (CUtensorMapFloatOOBfill)c->fill);
    return cuTensorMapEncodeTiled(map, (CUtensorMapDataType)c->type, c->rank, address,
                                  (const cuuint64_t *)c->dims, (const cuuint64_t *)c->strides,
                                  c->box, c->steps, (CUtensorMapInterleave)c->interleave,
                                  (CUtensorMapSwizzle)c->swizzle, (CUtensorMapL2promotion)c->l2,
                                  (CUtensorMapFloatOOBfill)c->fill);
}

static CUdeviceptr tensor, data, args;

static CUresult run(CUmodule module, struct tensor_case *c, CUtensorMap *map, uint8_t *out)
{
    static uint8_t room[TENSOR_BYTES];
    CUfunction f;
    CUdeviceptr address = tensor + c->shift;
    memcpy(&c->args[12], &address, 8);
    CUresult r = cuModuleGetFunction(&f, module, c->kernel);
    if (r)
        return r;
    if (tensor_case_is_replace(c)) {
        cuMemsetD8(data, (unsigned char)c->byte, 128);
        cuMemcpyHtoD(args, &c->value, 8);
        void *params[] = {&args, &data};
        cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
        r = cuCtxSynchronize();
        return r ? r : cuMemcpyDtoH(out, data, 128);
    }
    tensor_case_fill(room, sizeof room, c->type, c->pattern, 0);
    cuMemcpyHtoD(tensor, room, sizeof room);
    tensor_case_fill(room, sizeof room, c->type, c->pattern, 1 << 20);
    cuMemcpyHtoD(data, room, sizeof room);
    cuMemcpyHtoD(args, c->args, sizeof c->args);
    cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, TENSOR_SHARED);
    void *params[] = {map, &args, &data};
    r = cuLaunchKernel(f, 1, 1, 1, TENSOR_THREADS, 1, 1, TENSOR_SHARED, NULL, params, NULL);
    if (!r)
        r = cuCtxSynchronize();
    return r ? r : cuMemcpyDtoH(out, tensor_case_is_load(c) ? data : tensor, tensor_case_bytes(c));
}

int main(int argc, char **argv)
{
    char path[512], line[TENSOR_LINE];
    static struct tensor_case c;
    static uint8_t out[TENSOR_BYTES];
    int first = argc > 2 ? atoi(argv[2]) : 0;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    snprintf(path, sizeof path, "%s/tensor.ptx", argv[1]);
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    CUresult r = cuModuleLoadData(&module, text);
    if (r)
        return printf("module: %d\n", r), 1;
    cuMemAlloc(&tensor, TENSOR_BYTES);
    cuMemAlloc(&data, TENSOR_BYTES);
    cuMemAlloc(&args, 4096);
    snprintf(path, sizeof path, "%s/tensor.txt", argv[1]);
    FILE *cases = fopen(path, "r");
    snprintf(path, sizeof path, "%s/tensor.out", argv[1]);
    FILE *results = fopen(path, first ? "ab" : "wb");
    for (int i = 0; fgets(line, sizeof line, cases) && tensor_case_read(line, &c); i++) {
        CUtensorMap map;
        struct tensor_result result = {0};
        if (i < first)
            continue;
        memset(&map, 0, sizeof map);
        result.address = tensor + c.shift;
        if (!tensor_case_is_replace(&c))
            result.encoded = encode(&c, &map, (void *)(tensor + c.shift));
        memcpy(result.map, &map, 128);
        if (!tensor_case_is_encode(&c) && !result.encoded) {
            result.launched = run(module, &c, &map, out);
            if (!result.launched)
                result.bytes = tensor_case_bytes(&c);
        }
        fwrite(&result, sizeof result, 1, results);
        fwrite(out, 1, result.bytes, results);
        if (result.launched) {
            char next[16];
            printf("case %d, %s: error %d\n", i, c.kernel, result.launched);
            fclose(results);
            fflush(stdout);
            snprintf(next, sizeof next, "%d", i + 1);
            execl(argv[0], argv[0], argv[1], next, NULL);
        }
    }
    fclose(results);
    return 0;
}
