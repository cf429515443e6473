// The driver API with PTX text, and errors that it tells. nvcc driver_api.cu -lcuda
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CU(call)                                                                                       \
    do {                                                                                               \
        CUresult result_ = (call);                                                                     \
        const char *text_ = "";                                                                        \
        if (result_ != CUDA_SUCCESS) {                                                                 \
            cuGetErrorString(result_, &text_);                                                         \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_);                               \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry triple(.param .u64 p)\n{\n"
                          ".reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n"
                          "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                          "ld.global.u32 %r2, [%rd3];\nmul.lo.u32 %r2, %r2, 3;\n"
                          "st.global.u32 [%rd3], %r2;\nret;\n}\n";

int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction triple;
    CUdeviceptr p;
    char log[512] = "";
    unsigned host[32];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&triple, module, "triple"));
    CU(cuMemAlloc(&p, sizeof host));
    for (int i = 0; i < 32; i++)
        host[i] = i;
    CU(cuMemcpyHtoD(p, host, sizeof host));
    void *args[] = {&p};
    CU(cuLaunchKernel(triple, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
    CU(cuMemcpyDtoH(host, p, sizeof host));
    for (unsigned i = 0; i < 32; i++) {
        if (host[i] != 3 * i) {
            printf("host[%u] is %u\n", i, host[i]);
            return 1;
        }
    }
    CU(cuModuleUnload(module));
    if (cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_70\nnonsense", 2, options, values) !=
            CUDA_ERROR_INVALID_PTX ||
        !strstr(log, "nonsense")) {
        printf("bad PTX was taken: %s\n", log);
        return 1;
    }
    CU(cuMemFree(p));
    CU(cuDevicePrimaryCtxRelease(device));
    puts("PASSED");
    return 0;
}
