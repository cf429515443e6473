// The host's functions in the order of a stream.
#include "check.h"

__global__ void add_one(int *p)
{
    *p += 1;
}

static int seen[4], n_seen;

static void look(void *p)
{
    seen[n_seen++] = *(int *)p;
}

static void CUDART_CB look_old(cudaStream_t, cudaError_t status, void *p)
{
    EXPECT(status == cudaSuccess);
    look(p);
}

int main()
{
    int *p;
    cudaStream_t stream;
    CUDA(cudaHostAlloc(&p, sizeof *p, cudaHostAllocMapped));
    *p = 0;
    CUDA(cudaStreamCreate(&stream));
    for (int i = 0; i < 4; i++) {
        add_one<<<1, 1, 0, stream>>>(p);
        if (i % 2)
            CUDA(cudaLaunchHostFunc(stream, look, p));
        else
            CUDA(cudaStreamAddCallback(stream, look_old, p, 0));
    }
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(n_seen == 4);
    for (int i = 0; i < 4; i++)
        EXPECT(seen[i] == i + 1);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFreeHost(p));
    return passed();
}
