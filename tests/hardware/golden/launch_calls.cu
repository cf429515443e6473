/* What CUDA's device runtime makes of calls in kernels: what they return, what ran and in which
 * order. launch_calls.txt is what an H200 made of it (driver 580, nvcc 13.0). Fills are not among
 * them: there cudaMemsetAsync(p, 1, n) returned 0 and stored zeros; the guide has ones.
 *
 *     nvcc -rdc=true -arch=sm_90 launch_calls.cu -lcudadevrt
 *
 * Each case runs in a process of its own. */
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
__device__ int log_[4096], n_log, res[512];
__global__ void note(int v)
{
    int i = atomicAdd(&n_log, 1);
    if (i < 4096)
        log_[i] = v;
}

__global__ void slow(int v)
{
    long long t = clock64();
    while (clock64() - t < 2000000)
        ;
    int i = atomicAdd(&n_log, 1);
    if (i < 4096)
        log_[i] = v;
}

__global__ void nothing()
{
}

__global__ void bad()
{
    *(volatile int *)8 = 1;
}

static void show(const char *w)
{
    cudaError_t e = cudaDeviceSynchronize();
    int n = 0, l[4096], r[512];
    cudaMemcpyFromSymbol(&n, n_log, 4);
    cudaMemcpyFromSymbol(l, log_, sizeof l);
    cudaMemcpyFromSymbol(r, res, sizeof r);
    printf("%s: %d; log %d:", w, e, n);
    for (int i = 0; i < n && i < 40; i++)
        printf(" %d", l[i]);
    int m = 0;
    for (int i = 0; i < 512; i++)
        if (r[i])
            m = i + 1;
    printf("; res");
    if (e == 0)
        for (int i = 0; i < m; i++)
            if (r[i] || m < 16)
                printf(" %d", r[i]);
    printf("\n");
    static int z[4096];
    cudaMemcpyToSymbol(log_, z, sizeof z);
    cudaMemcpyToSymbol(n_log, z, 4);
    cudaMemcpyToSymbol(res, z, 2048);
}

__global__ void err(int k)
{
    int i = 0;
    switch (k) {
    case 0:
        nothing<<<1, 2000>>>();
        break;
    case 1:
        nothing<<<0, 1>>>();
        break;
    case 2:
        nothing<<<1, 0>>>();
        break;
    case 3:
        nothing<<<1, 1, 300000>>>();
        break;
    case 4:
        nothing<<<1, 1, 0, (cudaStream_t)0x1234560>>>();
        break;
    case 5:
        nothing<<<dim3(1, 70000), 1>>>();
        break;
    case 6:
        nothing<<<1, dim3(1, 1, 65)>>>();
        break;
    case 7:
        nothing<<<1, 1, 0, (cudaStream_t)1>>>();
        break;
    case 8:
        nothing<<<1, 1, 0, (cudaStream_t)2>>>();
        break;
    case 9:
        nothing<<<1, 1, 49153>>>();
        break;
    case 10: {
        cudaStream_t s;
        res[i++] = cudaStreamCreateWithFlags(&s, 0) + 1000;
        break;
    }
    case 11: {
        cudaEvent_t e;
        res[i++] = cudaEventCreateWithFlags(&e, 0) + 1000;
        break;
    }
    case 12: {
        cudaEvent_t e;
        res[i++] = cudaEventCreateWithFlags(&e, cudaEventDisableTiming) + 1000;
        slow<<<1, 1>>>(5);
        res[i++] = cudaEventRecord(e, 0) + 1000;
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        res[i++] = cudaStreamWaitEvent(s, e, 0) + 1000;
        note<<<1, 1, 0, s>>>(6);
        res[i++] = cudaEventDestroy(e) + 1000;
        break;
    }
    case 13: {
        res[i++] = cudaEventRecord((cudaEvent_t)0x1234, 0) + 1000;
        break;
    }
    case 14: {
        cudaEvent_t e;
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        res[i++] = cudaStreamWaitEvent(s, e, 0) + 1000;
        note<<<1, 1, 0, s>>>(6);
        break;
    }
    case 15:
        nothing<<<1, 2000>>>();
        res[i++] = cudaPeekAtLastError() + 1000;
        res[i++] = cudaPeekAtLastError() + 1000;
        break;
    case 16:
        res[i++] = cudaStreamDestroy((cudaStream_t)0x1234) + 1000;
        break;
    case 17: {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaStreamDestroy(s);
        nothing<<<1, 1, 0, s>>>();
        break;
    }
    case 18:
        res[i++] = cudaStreamCreateWithFlags(0, cudaStreamNonBlocking) + 1000;
        break;
    case 19: {
        cudaStream_t s;
        res[i++] = cudaStreamCreateWithFlags(&s, 7) + 1000;
        break;
    }
    case 20: {
        if (threadIdx.x == 0)
            nothing<<<1, 2000>>>();
        __syncthreads();
        res[threadIdx.x + 1] = cudaGetLastError() + 1000;
        break;
    }
    case 21: {
        cudaEvent_t e;
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
        res[i++] = cudaEventRecord(e, cudaStreamTailLaunch) + 1000;
        break;
    }
    case 24:
        res[i++] = cudaMemcpyAsync((void *)8, &res[1], 4, cudaMemcpyDeviceToDevice, 0) + 1000;
        break;
    case 25: {
        cudaFuncAttributes a;
        res[i++] = cudaFuncGetAttributes(&a, (void *)0x1234) + 1000;
        break;
    }
    case 26: {
        void *p;
        cudaMalloc(&p, 64);
        res[i++] = cudaFree((char *)p + 16) + 1000;
        break;
    }
    case 27:
        res[i++] = cudaDeviceGetLimit(0, cudaLimitStackSize) + 1000;
        break;
    case 28:
        res[i++] = cudaGetDevice(0) + 1000;
        break;
    case 29: {
        int v;
        res[i++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, nothing, 5000, 0) + 1000;
        res[i++] = v + 1000;
        res[i++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, nothing, 0, 0) + 1000;
        break;
    }
    }
    res[50] = cudaGetLastError() + 1000;
    res[51] = cudaGetLastError() + 1000;
}

__global__ void deep(int d, int max)
{
    if (threadIdx.x == 0) {
        res[d] = d + 1;
        if (d < max) {
            deep<<<1, 1>>>(d + 1, max);
            int e = cudaGetLastError();
            if (e)
                res[100 + d] = e;
        }
    }
}

__global__ void tailtail(int d)
{
    note<<<1, 1>>>(d * 10 + 1);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(d * 10 + 5);
    if (d < 3)
        tailtail<<<1, 1, 0, cudaStreamTailLaunch>>>(d + 1);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(d * 10 + 6);
    slow<<<1, 1>>>(d * 10 + 3);
}

__global__ void child_tail()
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(20);
    slow<<<1, 1>>>(10);
}

__global__ void tailmix()
{
    child_tail<<<1, 1>>>();
    note<<<1, 1>>>(30);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(40);
}

__global__ void faf()
{
    slow<<<1, 1, 0, cudaStreamFireAndForget>>>(1);
}

__global__ void fault()
{
    bad<<<1, 1>>>();
}

__global__ void threads()
{
    note<<<1, 1>>>(threadIdx.x);
}

int main(int argc, char **v)
{
    const char *t[] = {"deep", "tailtail", "faf", "fault", "tailmix"};
    const int n_errors = 30;
    int k = argc > 1 ? atoi(v[1]) : -1;
    if (k < 0) {
        for (k = 0; k < n_errors + 5; k++) {
            if (k == 22 || k == 23)
                continue;
            fflush(stdout);
            if (!fork()) {
                char number[8];
                snprintf(number, sizeof number, "%d", k);
                execl(v[0], v[0], number, NULL);
                _exit(9);
            }
            int s;
            wait(&s);
            if (s)
                printf("%d ended %x\n", k, s);
        }
        return 0;
    }
    char name[16];
    snprintf(name, sizeof name, "e%d", k);
    if (k < n_errors)
        err<<<1, k == 20 ? 2 : 1>>>(k);
    else
        switch (k - n_errors) {
        case 0:
            deep<<<1, 1>>>(0, 40);
            break;
        case 1:
            tailtail<<<1, 1>>>(0);
            note<<<1, 1>>>(99);
            break;
        case 2:
            faf<<<1, 1>>>();
            note<<<1, 1>>>(2);
            break;
        case 3:
            fault<<<1, 1>>>();
            break;
        case 4:
            tailmix<<<1, 1>>>();
            break;
        }
    show(k < n_errors ? name : t[k - n_errors]);
    return 0;
}
