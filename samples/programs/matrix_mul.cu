// C = A B in tiles of shared memory, timed by events.
#include "check.h"
#include <vector>

const int TILE = 16;

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main()
{
    const int n = 64;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++)
        a[i] = i % 7, b[i] = i % 5;
    float *da, *db, *dc, ms;
    cudaEvent_t begin, end;
    CUDA(cudaMalloc(&da, n * n * sizeof(float)));
    CUDA(cudaMalloc(&db, n * n * sizeof(float)));
    CUDA(cudaMalloc(&dc, n * n * sizeof(float)));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaMemcpy(da, a.data(), n * n * sizeof(float), cudaMemcpyDefault));
    CUDA(cudaMemcpy(db, b.data(), n * n * sizeof(float), cudaMemcpyDefault));
    CUDA(cudaEventRecord(begin));
    multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(da, db, dc, n);
    CUDA(cudaEventRecord(end));
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms > 0);
    CUDA(cudaMemcpy(c.data(), dc, n * n * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            EXPECT(c[i * n + j] == sum);
        }
    }
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    CUDA(cudaFree(da));
    CUDA(cudaFree(db));
    CUDA(cudaFree(dc));
    return passed();
}
