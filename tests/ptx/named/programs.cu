// Programs that live on forward progress and on barriers; tests/api/named.c runs all of them and checks their results.
// RUN: ptera run tests/ptx/named/programs.ptx -k spin_lock -b 32 --timeout 60 zero:4 zero:4@u32
// EXPECT: 528
// RUN: ptera run tests/ptx/named/programs.ptx -k ticket_lock -g 8 -b 64 --timeout 60 zero:4 zero:4@u32 zero:4@u32
// EXPECT: 512
// EXPECT: 1792

// Each thread of a warp takes one lock and holds it over several steps: only if the others let the holder go on does it end.
extern "C" __global__ void spin_lock(volatile int *lock, volatile unsigned *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS((int *)lock, 0, 1) == 0) {
            unsigned seen = *count;
            __threadfence();
            *count = seen + threadIdx.x + 1;
            __threadfence();
            atomicExch((int *)lock, 0);
            done = true;
        }
    }
}

// A barrier behind such a loop, which lanes leave one by one: none passes it before the last has come.
extern "C" __global__ void lock_then_barrier(unsigned *out)
{
    __shared__ int lock;
    __shared__ volatile unsigned count;
    if (threadIdx.x == 0) {
        lock = 0;
        count = 0;
    }
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            count = count + 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

// Barriers in short ifs that part of a warp takes: undefined by the manual, but common, and no branches on a GPU.
extern "C" __global__ void short_ifs(int *values)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = values[t];
    __syncthreads();
    if (t < 16) {
        s[t] += s[t + 16];
        __syncthreads();
    }
    if (t < 8) {
        s[t] += s[t + 8];
        __syncthreads();
    }
    values[t] = s[t ^ 1];
}

// A ticket lock over all CTAs; every thread in turn.
extern "C" __global__ void ticket_lock(unsigned *next, volatile unsigned *serving, volatile unsigned *count)
{
    unsigned mine = atomicAdd(next, 1);
    bool done = false;
    while (!done) {
        if (*serving == mine) {
            *count = *count + (mine & 7);
            __threadfence();
            *serving = mine + 1;
            done = true;
        }
    }
}

// Single-pass inclusive scan with decoupled look-back: one tile of 64 a CTA, tiles in the order that CTAs start.
// State of a tile: flag (1: its sum is known, 2: its prefix), sum, prefix.
extern "C" __global__ void look_back(const unsigned *in, unsigned *out, volatile unsigned *state, unsigned *started)
{
    __shared__ unsigned s[64], tile, before;
    unsigned t = threadIdx.x;
    if (t == 0)
        tile = atomicAdd(started, 1);
    __syncthreads();
    unsigned at = tile * 64 + t;
    s[t] = in[at];
    __syncthreads();
    for (unsigned d = 1; d < 64; d *= 2) {
        unsigned v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        unsigned sum = 0;
        state[4 * tile + 1] = s[63];
        __threadfence();
        state[4 * tile] = 1;
        for (int k = (int)tile - 1; k >= 0;) {
            unsigned flag = state[4 * k];
            __threadfence();
            if (flag == 2) {
                sum += state[4 * k + 2];
                break;
            }
            if (flag == 1)
                sum += state[4 * k--  + 1];
        }
        state[4 * tile + 2] = sum + s[63];
        __threadfence();
        state[4 * tile] = 2;
        before = sum;
    }
    __syncthreads();
    out[at] = before + s[t];
}

// Quicksort by recursion, each thread its own row of n: lanes recurse to different depths at different times.
__device__ __noinline__ void quicksort(int *a, int low, int high)
{
    if (low >= high)
        return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int v = a[i];
            a[i++] = a[j];
            a[j--] = v;
        }
    }
    quicksort(a, low, j);
    quicksort(a, i, high);
}
extern "C" __global__ void sort_rows(int *a, int n)
{
    quicksort(a + (blockIdx.x * blockDim.x + threadIdx.x) * n, 0, n - 1);
}

// A barrier and a shuffle inside a recursive function, all threads to one depth.
__shared__ unsigned cells[64];
__device__ __noinline__ unsigned deep(unsigned value, int depth)
{
    if (depth == 0)
        return value;
    cells[threadIdx.x] = value;
    __syncthreads();
    unsigned other = cells[(threadIdx.x + 1) & 63];
    __syncthreads();
    other += __shfl_xor_sync(0xffffffff, value, depth);
    return deep(other, depth - 1) + depth;
}
extern "C" __global__ void recursive_barrier(unsigned *out, int depth)
{
    out[threadIdx.x] = deep(threadIdx.x, depth);
}

// The same inside functions called through a table, another one each round.
__device__ __noinline__ unsigned rotate(unsigned v)
{
    cells[threadIdx.x] = v;
    __syncthreads();
    v = cells[(threadIdx.x + 5) & 63];
    __syncthreads();
    return v;
}
__device__ __noinline__ unsigned spread(unsigned v)
{
    return v + __shfl_down_sync(0xffffffff, v, 3);
}
__device__ __noinline__ unsigned count(unsigned v)
{
    return v + __syncthreads_count(v & 1);
}
typedef unsigned (*step)(unsigned);
__device__ step steps[3] = {rotate, spread, count};
extern "C" __global__ void indirect_barrier(unsigned *out, int rounds)
{
    unsigned v = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        v = steps[i % 3](v);
    out[threadIdx.x] = v;
}

// Producer and consumer warps on named barriers: two buffers, each with a barrier for "full" and one for "empty".
extern "C" __global__ void producers(const unsigned *in, unsigned *out, int rounds)
{
    __shared__ unsigned buffer[2][32];
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    if (warp == 0) {
        for (int i = 0; i < rounds; i++) {
            int full = 1 + (i & 1), empty = 3 + (i & 1);
            if (i >= 2)
                asm volatile("bar.sync %0, 96;" ::"r"(empty) : "memory");
            buffer[i & 1][lane] = in[i * 32 + lane];
            asm volatile("bar.arrive %0, 96;" ::"r"(full) : "memory");
        }
    } else {
        unsigned sum = 0;
        for (int i = 0; i < rounds; i++) {
            int full = 1 + (i & 1), empty = 3 + (i & 1);
            asm volatile("bar.sync %0, 96;" ::"r"(full) : "memory");
            sum = sum * 3 + buffer[i & 1][lane ^ (warp == 2)];
            if (i + 2 < rounds)
                asm volatile("bar.arrive %0, 96;" ::"r"(empty) : "memory");
        }
        out[threadIdx.x - 32] = sum;
    }
}

// Votes of all threads in a loop that every CTA leaves at its own time.
extern "C" __global__ void votes(const unsigned *in, unsigned *out)
{
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x], rounds = 0, sum = 0;
    do {
        sum = sum * 5 + __syncthreads_count(v & 1);
        v = v & 1 ? 3 * v + 1 : v / 2;
        rounds++;
    } while (__syncthreads_or(v > 1 && rounds < 50) && !__syncthreads_and(v < 4));
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum + rounds;
}
