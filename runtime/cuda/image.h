/* Images that modules are loaded from: frontend/fatbin.h finds the PTX in them. */
#ifndef PTERA_CUDA_IMAGE_H
#define PTERA_CUDA_IMAGE_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* The PTX text in an image (PTX, fatbinary or its wrapper) that is best for the device; allocated.
 * `bytes` is 0 where it is not known: the image says itself where it ends. Text that is not
 * assembled yet gets at most so many registers a kernel (0: as many as it takes). `log` gets, if it
 * fails, why. */
struct pt_cu_text {
    char *text;
    size_t bytes;
    bool is_later; /* it is for a later device, and stands for this one's machine code */
    char log[512];
};

CUresult pt_cu_image_text(const void *image, size_t bytes, unsigned registers,
                          struct pt_cu_text *text);

#endif
