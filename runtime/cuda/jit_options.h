/* Options that programs give with an image, and the buffers for messages among them. */
#ifndef PTERA_CUDA_JIT_OPTIONS_H
#define PTERA_CUDA_JIT_OPTIONS_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* A buffer of the program's for messages. Its size option is overwritten with what was written. */
struct pt_cu_jit_log {
    char *text;
    size_t size;
    void **size_option;
};

struct pt_cu_jit_options {
    struct pt_cu_jit_log info, error;
    void **wall_time;
    unsigned registers; /* the most a kernel may have; 0: not said */
};

/* Reads what a program gives with an image; false if an option is not one. */
bool pt_cu_jit_options_read(struct pt_cu_jit_options *o, unsigned n, const CUjit_option *options,
                            void **values);
void pt_cu_jit_options_write(struct pt_cu_jit_log *log, const char *text);

#endif
