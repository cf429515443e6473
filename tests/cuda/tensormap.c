/* Tensor maps: what is refused, and a kernel that copies a tile by two of them. */
#include <string.h>

#include "tests/cuda/support.h"

enum { WIDTH = 8, HEIGHT = 6 };

static CUresult encode(CUtensorMap *map, CUdeviceptr tensor, cuuint32_t box_width,
                       CUtensorMapSwizzle swizzle)
{
    const cuuint64_t size[] = {WIDTH, HEIGHT}, stride[] = {WIDTH * 4};
    const cuuint32_t box[] = {box_width, 2}, step[] = {1, 1};
    return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, (void *)(uintptr_t)tensor,
                                  size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static const char copy[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry copy(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128])\n{\n"
    "    .reg .pred %p; .reg .b32 %r; .reg .b64 %rd<3>; .shared .align 8 .b64 bar; "
    ".shared .align 128 .b8 "
    "room[32];\n"
    "    mov.b32 %r, from; cvt.u64.u32 %rd1, %r; cvta.param.u64 %rd1, %rd1;\n" /* as LLVM has it */
    "    mov.u64 %rd2, to; cvta.param.u64 %rd2, %rd2;\n"
    "    mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; "
    "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [room], "
    "[%rd1, {4, 3}], [bar];\n"
    "L:  mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra L;\n"
    "    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {0, 1}], [room];\n"
    "    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}\n";

static void check_copy(void)
{
    cuuint32_t words[WIDTH * HEIGHT], out[WIDTH * HEIGHT] = {0};
    CUdeviceptr from, to;
    CUmodule module;
    CUfunction f;
    CUtensorMap maps[2];
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        words[i] = i;
    OK(cuMemAlloc_v2(&from, sizeof words));
    OK(cuMemAlloc_v2(&to, sizeof out));
    OK(cuMemcpyHtoD_v2(from, words, sizeof words));
    OK(cuMemcpyHtoD_v2(to, out, sizeof out));
    OK(encode(&maps[0], to, 4, CU_TENSOR_MAP_SWIZZLE_NONE));
    OK(cuTensorMapReplaceAddress(&maps[0], (void *)(uintptr_t)from));
    OK(encode(&maps[1], to, 4, CU_TENSOR_MAP_SWIZZLE_NONE));
    OK(cuModuleLoadData(&module, copy));
    OK(cuModuleGetFunction(&f, module, "copy"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&maps[0], &maps[1]}, NULL));
    OK(cuMemcpyDtoH_v2(out, to, sizeof out));
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        unsigned x = i % WIDTH, y = i / WIDTH;
        CHECK_INT(out[i], x < 4 && (y == 1 || y == 2) ? (y + 2) * WIDTH + x + 4 : 0);
    }
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(from));
    OK(cuMemFree_v2(to));
}

static void check_refusals(void)
{
    const cuuint64_t size[] = {16, 9, 7, 2}, stride[] = {32, 288, 2016};
    const cuuint32_t step[] = {1, 1, 1, 1};
    const int lower[] = {-1, -1}, upper[] = {-1, -1}, far[] = {200, 0};
    CUtensorMap map, before;
    CUdeviceptr tensor;
    OK(cuMemAlloc_v2(&tensor, 8192));
    memset(&map, 1, sizeof map);
    before = map;
    CHECK_CU(encode(NULL, tensor, 4, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(encode((CUtensorMap *)((char *)&map + 16), tensor, 4, CU_TENSOR_MAP_SWIZZLE_NONE),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(encode(&map, tensor + 4, 4, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(encode(&map, tensor, 3, CU_TENSOR_MAP_SWIZZLE_NONE), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(encode(&map, tensor, 12, CU_TENSOR_MAP_SWIZZLE_32B), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(memcmp(&map, &before, sizeof map), 0);
    OK(encode(&map, tensor, 8, CU_TENSOR_MAP_SWIZZLE_32B));
    CHECK_INT(map.opaque[0], tensor);
    CHECK_CU(cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(tensor + 8)),
             CUDA_ERROR_INVALID_VALUE);
#define IM2COL(low)                                                                                \
    cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)(uintptr_t)tensor,   \
                            size, stride, low, upper, 16, 24, step, CU_TENSOR_MAP_INTERLEAVE_NONE, \
                            CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,           \
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    OK(IM2COL(lower));
    CHECK_CU(IM2COL(far), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(IM2COL(NULL), CUDA_ERROR_INVALID_VALUE);
#define WIDE(low, mode, step)                                                                   \
    cuTensorMapEncodeIm2colWide(                                                                \
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)(uintptr_t)tensor, size, stride, low, \
        -1, 16, 24, step, CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_SWIZZLE_NONE,      \
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    const int wide_lower[] = {-1, 0}, wide_upper[] = {-1, 0};
    OK(cuTensorMapEncodeIm2col(&before, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4,
                               (void *)(uintptr_t)tensor, size, stride, wide_lower, wide_upper, 16,
                               24, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    OK(WIDE(-1, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128, step));
    CHECK_INT(memcmp(&map, &before, sizeof map), 0);
    CHECK_CU(WIDE(200, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, step), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(WIDE(-1, (CUtensorMapIm2ColWideMode)2, step), CUDA_ERROR_INVALID_VALUE);
    CHECK_CU(WIDE(-1, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(tensor));
}

int main(void)
{
    begin();
    check_copy();
    check_refusals();
    return CHECK_DONE("cuda_tensormap");
}
