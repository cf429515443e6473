// A spin lock between the lanes of one warp: it finishes only if a lane that holds the lock makes progress while
// its neighbours spin (independent thread scheduling).
// RUN: ptera run samples/spinlock/spinlock.ptx -b 32 zero:4 zero:4@u32
// EXPECT: 32
extern "C" __global__ void spinlock(int *lock, unsigned *counter)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile unsigned *)counter = *(volatile unsigned *)counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}
