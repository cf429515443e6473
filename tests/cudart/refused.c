/* A program with kernels that cannot run, and with NVIDIA's closed libraries (closed/): what a
 * launch says, and what exec.sh has `ptera doctor` say. */
#include "tests/cuda/support.h"

int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cufftPlan1d(int *plan, int n, int type, int batch);
int cufftExecC2C(int plan, void *in, void *out, int direction);

/* A fatbinary with one entry of PTX, where nvcc puts it: frontend/fatbin.c has the format. */
#define PTX                                                                                       \
    PTX_HEADER                                                                                    \
    ".visible .entry fine() { ret; }\n"                                                           \
    ".visible .entry texture(.param .u64 t)\n{\n"                                                 \
    "    .reg .b64 %rd<2>; .reg .b32 %r<5>; ld.param.u64 %rd1, [t]; mov.b32 %r1, 1;\n"            \
    "    tex.2dms.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r1, %r1, %r1, %r1}],\n"               \
    "    {%r1, %r1}; ret;\n}\n"                                                                 \
    ".extern .func (.param .b32 r) __cudaCDP2Memcpy3DAsync(.param .b64 f, .param .b64 n);\n"     \
    ".visible .entry parent()\n{\n"                                                               \
    "    .param .b64 f; .param .b64 n; .param .b32 r; st.param.b64 [f], 0; st.param.b64 [n], 0;\n" \
    "    call (r), __cudaCDP2Memcpy3DAsync, (f, n); ret;\n}\n"

static const struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t bytes;
        uint32_t compressed_bytes, options;
        uint16_t minor, major;
        uint32_t arch, name, name_bytes;
        uint64_t flags, hash, plain_bytes;
    } entry;
    char text[(sizeof PTX + 7) / 8 * 8];
} image __attribute__((section(".nv_fatbin"), aligned(8))) = {0xba55ed50,
                                                              1,
                                                              16,
                                                              64 + sizeof image.text,
                                                              {.kind = 1,
                                                               .version = 0x101,
                                                               .header_bytes = 64,
                                                               .bytes = sizeof image.text,
                                                               .arch = 70,
                                                               .flags = 0x11},
                                                              PTX};

int main(void)
{
    CUmodule module;
    CUdeviceptr none = 0;
    void *handle;
    int plan = 0;
    begin();
    OK(cuModuleLoadData(&module, &image));
    OK(LAUNCH(function_of(module, "fine"), 1, NULL, &none));
    for (int i = 0; i < 2; i++) { /* said once */
        CHECK_CU(LAUNCH(function_of(module, "texture"), 1, NULL, &none), CUDA_ERROR_NOT_SUPPORTED);
        CHECK_CU(LAUNCH(function_of(module, "parent"), 1, NULL, &none), CUDA_ERROR_NOT_SUPPORTED);
    }
    CHECK(cublasCreate_v2(&handle) && cublasDestroy_v2(handle));
    CHECK(cufftPlan1d(&plan, 8, 0, 1) && cufftExecC2C(plan, NULL, NULL, 0));
    return CHECK_DONE("cudart_refused");
}
