// What the programs share: a CUDA call that fails ends the program and says where; the last line tells the outcome.
#ifndef SAMPLES_CHECK_H
#define SAMPLES_CHECK_H

#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                                     \
    do {                                                                                               \
        cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                   \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));          \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

// Ends the program if a result is wrong.
#define EXPECT(condition)                                                                              \
    do {                                                                                               \
        if (!(condition)) {                                                                            \
            printf("%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                              \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

static inline int passed(void)
{
    puts("PASSED");
    return 0;
}

#endif
