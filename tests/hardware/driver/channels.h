#pragma once
/* What images of the runtime library are made of. */
#include "tests/hardware/driver/say.h"

static inline struct cudaChannelFormatDesc channels(int x, int y, int z, int w,
                                                    enum cudaChannelFormatKind kind)
{
    struct cudaChannelFormatDesc d = {x, y, z, w, kind};
    return d;
}

static inline struct cudaChannelFormatDesc floats(void)
{
    return channels(32, 0, 0, 0, cudaChannelFormatKindFloat);
}

static inline struct cudaExtent extent(size_t w, size_t h, size_t d)
{
    struct cudaExtent e = {w, h, d};
    return e;
}
