// Texture references of a module, bound by the driver API. nvcc -Xcompiler=-Wno-deprecated-declarations references.cu -lcuda
//
// So programs did before texture objects: an image that is turned, through a table of colours. The hashes are those of
// the pixels that an H100 makes.
#include <cuda.h>

#include "image.h"

#define CU(call) EXPECT((call) == CUDA_SUCCESS)

enum { WIDTH = 45, HEIGHT = 37, COLOURS = 256 };

static const char ptx[] = R"(.version 7.0
.target sm_70
.address_size 64
.global .texref image;
.global .texref colours;
.visible .entry turn(.param .u64 to, .param .u32 w, .param .u32 h, .param .f32 a, .param .f32 b)
{
    .reg .pred %p<3>;
    .reg .b32 %r<10>;
    .reg .f32 %f<16>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [w];
    ld.param.u32 %r2, [h];
    ld.param.f32 %f1, [a];
    ld.param.f32 %f2, [b];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    mov.u32 %r4, %ctaid.y;
    mov.u32 %r5, %ntid.y;
    mov.u32 %r6, %tid.y;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    setp.ge.u32 %p1, %r3, %r1;
    setp.ge.u32 %p2, %r4, %r2;
    or.pred %p1, %p1, %p2;
    @%p1 ret;
    cvt.rn.f32.u32 %f3, %r3;
    cvt.rn.f32.u32 %f4, %r4;
    cvt.rn.f32.u32 %f5, %r1;
    cvt.rn.f32.u32 %f6, %r2;
    div.rn.f32 %f3, %f3, %f5;
    div.rn.f32 %f4, %f4, %f6;
    mul.f32 %f5, %f3, %f1;
    fma.rn.f32 %f5, %f4, %f2, %f5;
    neg.f32 %f2, %f2;
    mul.f32 %f6, %f4, %f1;
    fma.rn.f32 %f6, %f3, %f2, %f6;
    tex.2d.v4.f32.f32 {%f7, %f8, %f9, %f10}, [image, {%f5, %f6}];
    mul.f32 %f7, %f7, 0f437F0000;
    cvt.rni.s32.f32 %r7, %f7;
    tex.1d.v4.u32.s32 {%r5, %r6, %r8, %r9}, [colours, {%r7}];
    mad.lo.u32 %r7, %r4, %r1, %r3;
    mul.wide.u32 %rd2, %r7, 4;
    add.s64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r5;
    ret;
}
)";

static unsigned char image[HEIGHT][WIDTH];
static unsigned colours[COLOURS];

// The image's pixels from an array, or from rows of memory.
static CUarray bind_array(CUtexref reference)
{
    CUDA_ARRAY_DESCRIPTOR d = {WIDTH, HEIGHT, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUDA_MEMCPY2D copy = {};
    CUarray array;
    CU(cuArrayCreate(&array, &d));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = image;
    copy.srcPitch = WIDTH;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = WIDTH;
    copy.Height = HEIGHT;
    CU(cuMemcpy2D(&copy));
    CU(cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
    return array;
}

static CUdeviceptr bind_rows(CUtexref reference)
{
    CUDA_ARRAY_DESCRIPTOR d = {WIDTH, HEIGHT, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUdeviceptr rows;
    size_t pitch;
    CU(cuMemAllocPitch(&rows, &pitch, WIDTH, HEIGHT, 4));
    CUDA(cudaMemcpy2D((void *)rows, pitch, image, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    CU(cuTexRefSetAddress2D(reference, &d, rows, pitch));
    return rows;
}

static void turn(CUfunction kernel, const char *name, float a, float b, uint64_t want)
{
    pixels<unsigned> seen(59, 47);
    unsigned *to = seen.device;
    void *arguments[] = {&to, &seen.w, &seen.h, &a, &b};
    dim3 grid = seen.grid();
    CU(cuLaunchKernel(kernel, grid.x, grid.y, 1, 16, 8, 1, 0, NULL, arguments, NULL));
    expect(name, seen.hash(), want);
}

int main(void)
{
    CUmodule module;
    CUfunction kernel;
    CUtexref picture, table;
    CUdeviceptr words;
    size_t offset;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            image[y][x] = (unsigned char)((x * 6) ^ (y * 5) ^ ((x / 7 + y / 5) % 2 ? 160 : 0));
    for (unsigned i = 0; i < COLOURS; i++)
        colours[i] = 0xff000000u | i << 16 | (i * 3 & 255) << 8 | (255 - i);
    CUDA(cudaFree(NULL));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&kernel, module, "turn"));
    CU(cuModuleGetTexRef(&picture, module, "image"));
    CU(cuModuleGetTexRef(&table, module, "colours"));

    CU(cuMemAlloc(&words, sizeof colours));
    CU(cuMemcpyHtoD(words, colours, sizeof colours));
    CU(cuTexRefSetFormat(table, CU_AD_FORMAT_UNSIGNED_INT32, 1));
    CU(cuTexRefSetFlags(table, CU_TRSF_READ_AS_INTEGER));
    CU(cuTexRefSetAddress(&offset, table, words, sizeof colours));
    EXPECT(offset == 0);

    CU(cuTexRefSetFlags(picture, CU_TRSF_NORMALIZED_COORDINATES));
    CU(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    for (int k = 0; k < 2; k++)
        CU(cuTexRefSetAddressMode(picture, k, CU_TR_ADDRESS_MODE_WRAP));
    CUarray array = bind_array(picture);
    turn(kernel, "wrapped", 0.8f, 0.6f, 0x339525f53dd3a053);
    for (int k = 0; k < 2; k++)
        CU(cuTexRefSetAddressMode(picture, k, CU_TR_ADDRESS_MODE_MIRROR));
    turn(kernel, "mirrored", 1.6f, 1.2f, 0x657c743199738b15);
    CU(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_POINT));
    turn(kernel, "points", 0.28f, 0.96f, 0xd0dcd9e1175ea10b);
    CUdeviceptr rows = bind_rows(picture);
    for (int k = 0; k < 2; k++)
        CU(cuTexRefSetAddressMode(picture, k, CU_TR_ADDRESS_MODE_CLAMP));
    CU(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    turn(kernel, "rows", 0.8f, 0.6f, 0x734d8777e02d0f26);

    CU(cuModuleUnload(module));
    CU(cuArrayDestroy(array));
    CU(cuMemFree(rows));
    CU(cuMemFree(words));
    return is_wrong ? 1 : passed();
}
