// An assertion that the first negative element breaks: the launch fails with its message.
// RUN: ptera run samples/assert/assert.ptx -b 4 fill:s32:4:7
// RUN: ptera run samples/assert/assert.ptx -b 4 fill:s32:4:-7
// EXPECT: assert.cu:10: void check_positive(const int *): block: [0,0,0], thread: [0,0,0] Assertion `values[threadIdx.x] > 0` failed.
// EXIT: 1
#include <assert.h>

extern "C" __global__ void check_positive(const int *values)
{
    assert(values[threadIdx.x] > 0);
}
