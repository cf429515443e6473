// printf from a kernel.
// RUN: ptera run samples/hello/hello.ptx -g 2 -b 2 --threads 1 f32:1.5
// EXPECT: hello from CTA 0, thread 0: 1.50 0x0 left
// EXPECT: hello from CTA 0, thread 1: 3.00 0x1 right
// EXPECT: hello from CTA 1, thread 0: 1.50 0x100 left
// EXPECT: hello from CTA 1, thread 1: 3.00 0x101 right
#include <stdio.h>

extern "C" __global__ void hello(float x)
{
    unsigned long long id = blockIdx.x * 256ull + threadIdx.x;
    printf("hello from CTA %u, thread %u: %.2f 0x%llx %s\n", blockIdx.x, threadIdx.x,
           x * (threadIdx.x + 1), id, threadIdx.x ? "right" : "left");
}
