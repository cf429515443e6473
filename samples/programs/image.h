// Images that kernels make, and the hashes they ought to have.
#ifndef SAMPLES_IMAGE_H
#define SAMPLES_IMAGE_H

#include "check.h"

#include <cstdint>
#include <vector>

static inline uint64_t hash_of(const void *data, size_t n)
{
    const unsigned char *bytes = (const unsigned char *)data;
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

template <typename T> struct pixels {
    int w, h;
    T *device;
    std::vector<T> host;
    pixels(int width, int height) : w(width), h(height), host((size_t)width * height)
    {
        CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
    }
    dim3 grid() const
    {
        return dim3((w + 15) / 16, (h + 7) / 8);
    }
    uint64_t hash()
    {
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        CUDA(cudaFree(device));
        return hash_of(host.data(), host.size() * sizeof(T));
    }
};

static bool is_wrong;

static inline void expect(const char *name, uint64_t have, uint64_t want)
{
    printf("%s %016llx\n", name, (unsigned long long)have);
    is_wrong |= have != want;
}

#endif
