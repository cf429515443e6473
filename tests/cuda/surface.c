/* Surface objects: what is refused, as the driver of an H100 refuses it; what comes back; texels
 * loaded and stored; accesses outside; handles that are none. */
#include "tests/cuda/image.h"

enum { SIDE = 8 };

static const char swapper[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry swap(.param .u64 s, .param .u32 x, .param .u32 y, .param .u64 value) {\n"
    ".reg .b64 %p<2>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %p0, [s];\n"
    "ld.param.u64 %p1, [value];\n"
    "ld.param.u32 %r0, [x];\n"
    "ld.param.u32 %r1, [y];\n"
    "ld.u32 %r2, [%p1];\n"
    "suld.b.2d.b32.trap %r3, [%p0, {%r0, %r1}];\n"
    "sust.b.2d.b32.trap [%p0, {%r0, %r1}], %r2;\n"
    "st.u32 [%p1], %r3;\n"
    "ret; }\n";

static CUarray array;
static CUDA_RESOURCE_DESC whole;

static void make_array(void)
{
    uint32_t texels[SIDE * SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        texels[i] = 100 + i;
    array = new_square(SIDE, CU_AD_FORMAT_UNSIGNED_INT32, CUDA_ARRAY3D_SURFACE_LDST, texels);
    whole.res.array.hArray = array;
}

static void refuse(void)
{
    CUsurfObject s = 77;
    CUDA_RESOURCE_DESC r = whole;
    CHECK_CU(cuSurfObjectCreate(NULL, &whole), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuSurfObjectCreate(&s, NULL), CUDA_ERROR_INVALID_VALUE);
    r.flags = 1;
    CHECK_CU(cuSurfObjectCreate(&s, &r), CUDA_ERROR_INVALID_VALUE);
    r = whole;
    for (unsigned type = 1; type < 5; type++) {
        r.resType = type;
        CHECK_CU(cuSurfObjectCreate(&s, &r), CUDA_ERROR_INVALID_VALUE);
    }
    r = whole;
    r.res.array.hArray = NULL;
    CHECK_CU(cuSurfObjectCreate(&s, &r), CUDA_ERROR_INVALID_VALUE);
    r.res.array.hArray = WILD;
    CHECK_CU(cuSurfObjectCreate(&s, &r), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(s == 77, 1);
}

static void describe(void)
{
    CUsurfObject s;
    CUDA_RESOURCE_DESC r;
    OK(cuSurfObjectCreate(&s, &whole));
    OK(cuSurfObjectGetResourceDesc(&r, s));
    CHECK_INT(r.resType == CU_RESOURCE_TYPE_ARRAY && r.res.array.hArray == array, 1);
    CHECK_CU(cuSurfObjectGetResourceDesc(NULL, s), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuTexObjectGetResourceDesc(&r, s), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexObjectDestroy(s)); /* it is no texture */
    OK(cuSurfObjectGetResourceDesc(&r, s));
    OK(cuSurfObjectDestroy(s));
    CHECK_CU(cuSurfObjectGetResourceDesc(&r, s), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuSurfObjectGetResourceDesc(&r, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(cuSurfObjectGetResourceDesc(&r, 0x123450), CUDA_ERROR_INVALID_VALUE);
    OK(cuSurfObjectDestroy(s));
    OK(cuSurfObjectDestroy(0));
    OK(cuSurfObjectDestroy(0x123450));
}

static CUresult swap(CUfunction kernel, CUsurfObject s, uint32_t x, uint32_t y, CUdeviceptr value)
{
    CUresult r =
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&s, &x, &y, &value}, NULL);
    return r == CUDA_SUCCESS ? cuCtxSynchronize() : r;
}

static void swap_all(void)
{
    CUmodule module;
    CUfunction kernel;
    CUsurfObject s;
    CUdeviceptr memory;
    uint32_t value = 5, texel = 0;
    OK(cuModuleLoadData(&module, swapper));
    OK(cuModuleGetFunction(&kernel, module, "swap"));
    OK(cuMemAlloc_v2(&memory, sizeof value));
    OK(cuSurfObjectCreate(&s, &whole));
    OK(cuMemcpyHtoD_v2(memory, &value, sizeof value));
    OK(swap(kernel, s, 3 * 4, 6, memory));
    OK(cuMemcpyDtoH_v2(&value, memory, sizeof value));
    CHECK_INT(value, 100 + 6 * SIDE + 3);
    const CUDA_MEMCPY2D copy = {.srcXInBytes = 3 * sizeof texel,
                                .srcY = 6,
                                .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = array,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = &texel,
                                .WidthInBytes = sizeof texel,
                                .Height = 1};
    OK(cuMemcpy2D_v2(&copy));
    CHECK_INT(texel, 5);
    CHECK_CU(swap(kernel, s, SIDE * 4, 0, memory), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    make_array();
    refuse();
    describe();
    swap_all();
    return CHECK_DONE("cuda_surface");
}
