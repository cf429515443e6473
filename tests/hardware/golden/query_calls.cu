// What kernels ask of CUDA's device runtime library: query_calls.txt is what an H100 answered (driver 580.159.04, CUDA 13.0).
#include <cstdio>

__global__ void ask()
{
    int *p = 0, v = 0, d = -1;
    cudaError_t e = cudaMalloc(&p, 100);
    printf("malloc %d %d\n", e, p != 0);
    if (p) {
        *p = 5;
        printf("%d\n", *p);
    }
    e = cudaFree(p);
    printf("free %d\n", e);
    e = cudaGetDevice(&d);
    printf("device %d %d\n", e, d);
    e = cudaGetDeviceCount(&v);
    printf("count %d %d\n", e, v);
    size_t s = 0;
    for (int l = 0; l < 8; l++) {
        s = 77;
        e = cudaDeviceGetLimit(&s, (cudaLimit)l);
        printf("limit %d: %d %llu\n", l, e, (unsigned long long)s);
    }
    for (int a = 1; a < 13; a++) {
        v = 77;
        e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0);
        printf("attr %d: %d %d\n", a, e, v);
    }
    cudaFuncCache c;
    e = cudaDeviceGetCacheConfig(&c);
    printf("cache %d %d\n", e, (int)c);
    cudaSharedMemConfig sc;
    e = cudaDeviceGetSharedMemConfig(&sc);
    printf("shared %d %d\n", e, (int)sc);
    printf("%s\n", cudaGetErrorString(cudaErrorInvalidValue));
    e = cudaRuntimeGetVersion(&v);
    printf("version %d %d\n", e, v);
    cudaFuncAttributes at;
    e = cudaFuncGetAttributes(&at, ask);
    printf("func %d %d\n", e, at.maxThreadsPerBlock);
    int blocks = 0;
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ask, 128, 0);
    printf("occ %d %d\n", e, blocks);
}

int main()
{
    ask<<<1, 1>>>();
    printf("host %d\n", cudaDeviceSynchronize());
}
