// A kernel compiled while the program runs. nvcc nvrtc.cu -lnvrtc -lcuda
#include "check.h"
#include <cuda.h>
#include <nvrtc.h>
#include <string>

static const char source[] = "extern \"C\" __global__ void square(float *p)\n"
                             "{\n"
                             "    p[threadIdx.x] *= p[threadIdx.x];\n"
                             "}\n";

int main()
{
    nvrtcProgram program;
    const char *options[] = {"-arch=compute_90"};
    size_t bytes;
    CUmodule module;
    CUfunction square;
    float *p, host[32];
    CUDA(cudaMalloc(&p, sizeof host)); // the driver is in use before NVRTC is
    EXPECT(nvrtcCreateProgram(&program, source, "square.cu", 0, NULL, NULL) == NVRTC_SUCCESS);
    EXPECT(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
    EXPECT(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS && bytes > 1);
    std::string ptx(bytes, 0);
    EXPECT(nvrtcGetPTX(program, &ptx[0]) == NVRTC_SUCCESS);
    EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
    EXPECT(cuModuleLoadData(&module, ptx.c_str()) == CUDA_SUCCESS);
    EXPECT(cuModuleGetFunction(&square, module, "square") == CUDA_SUCCESS);
    for (int i = 0; i < 32; i++)
        host[i] = i;
    CUDA(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    void *args[] = {&p};
    EXPECT(cuLaunchKernel(square, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) == CUDA_SUCCESS);
    CUDA(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(host[i] == (float)i * i);
    EXPECT(cuModuleUnload(module) == CUDA_SUCCESS);
    CUDA(cudaFree(p));
    return passed();
}
