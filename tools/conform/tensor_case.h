/* The cases of the set tensor, as tests/hardware/golden/tensor_gen.py writes them, and the data
 * they work on. Shared with the program that ran them on a GPU: nothing of Ptera's is needed. */
#ifndef PTERA_TOOLS_CONFORM_TENSOR_CASE_H
#define PTERA_TOOLS_CONFORM_TENSOR_CASE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TENSOR_BYTES = 256 << 10,
    TENSOR_NUMBERS = 47,
    TENSOR_HEAD = 16,
    TENSOR_LINE = 1024,
    TENSOR_THREADS = 128,
    TENSOR_SHARED = 64 << 10,
    TENSOR_MAP = 128
};

/* What tensor_case.im2col is for cuTensorMapEncodeIm2colWide: this plus the mode. */
enum { IM2COL_WIDE = 2 };

struct tensor_case {
    char kernel[64];
    int im2col;
    uint32_t type, rank, interleave, swizzle, l2, fill, shift;
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5];
    int lower[3], upper[3];
    uint32_t channels, pixels;
    uint32_t args[14]; /* coordinates[5] offsets[3] place expect dump 0, address of the tensor */
    uint32_t expect, dump, pattern;
    uint64_t value; /* of a replacement, in a map of this byte */
    int byte;
};

/* What comes of a case, then `bytes` bytes. */
struct tensor_result {
    uint32_t encoded, launched; /* CUresult */
    uint64_t address;           /* of the tensor */
    uint8_t map[TENSOR_MAP];
    uint32_t bytes, unused;
};

static inline int tensor_case_is_encode(const struct tensor_case *c)
{
    return !strcmp(c->kernel, "encode");
}

static inline int tensor_case_is_replace(const struct tensor_case *c)
{
    return !strncmp(c->kernel, "replace_", 8);
}

static inline int tensor_case_is_load(const struct tensor_case *c)
{
    return !strncmp(c->kernel, "load_", 5);
}

/* How many bytes of its result a case leaves. */
static inline uint32_t tensor_case_bytes(const struct tensor_case *c)
{
    return c->dump + (tensor_case_is_load(c) ? TENSOR_HEAD : 0);
}

/* Reads a line. 0: it is none. */
static inline int tensor_case_read(const char *line, struct tensor_case *c)
{
    long long n[TENSOR_NUMBERS];
    char *end;
    int k = 0, length = 0;
    memset(c, 0, sizeof *c);
    if (sscanf(line, "%63s%n", c->kernel, &length) != 1)
        return 0;
    line += length;
    if (tensor_case_is_replace(c)) {
        unsigned long long value;
        int got = sscanf(line, "%llu %d", &value, &c->byte);
        c->value = value;
        c->dump = TENSOR_MAP;
        return got == 2;
    }
    for (int i = 0; i < TENSOR_NUMBERS; i++, line = end) {
        n[i] = strtoll(line, &end, 10);
        if (end == line)
            return 0;
    }
    c->im2col = (int)n[k++];
    uint32_t *heads[] = {&c->type, &c->rank, &c->interleave, &c->swizzle,
                         &c->l2,   &c->fill, &c->shift};
    for (int i = 0; i < 7; i++)
        *heads[i] = (uint32_t)n[k++];
    for (int i = 0; i < 5; i++)
        c->dims[i] = (uint64_t)n[k++];
    for (int i = 0; i < 4; i++)
        c->strides[i] = (uint64_t)n[k++];
    for (int i = 0; i < 5; i++)
        c->box[i] = (uint32_t)n[k++];
    for (int i = 0; i < 5; i++)
        c->steps[i] = (uint32_t)n[k++];
    for (int i = 0; i < 3; i++)
        c->lower[i] = (int)n[k++];
    for (int i = 0; i < 3; i++)
        c->upper[i] = (int)n[k++];
    c->channels = (uint32_t)n[k++];
    c->pixels = (uint32_t)n[k++];
    for (int i = 0; i < 11; i++)
        c->args[i] = (uint32_t)n[k++];
    c->expect = c->args[9];
    c->dump = c->args[10];
    c->pattern = (uint32_t)n[k++];
    return 1;
}

/* Words that differ; with `pattern`, elements of the type that are special to its arithmetic, among
 * others. */
static inline void tensor_case_fill(void *to, uint32_t bytes, uint32_t type, uint32_t pattern,
                                    uint32_t seed)
{
    static const uint16_t f16[] = {0,      0x8000, 1,      0x83ff, 0x3c00, 0xbc00, 0x7bff,
                                   0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xffff},
                          bf16[] = {0,      0x8000, 1,      0x807f, 0x3f80, 0xbf80, 0x7f7f,
                                    0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff};
    static const uint32_t f32[] = {0,          0x80000000, 1,          0x807fffff, 0x3f801000,
                                   0xbf803000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                   0x7fc00000, 0x7f800001, 0xffffffff};
    uint8_t *p = (uint8_t *)to;
    for (uint32_t i = 0; i < bytes / 4; i++) {
        uint32_t word = (i + seed) * 2654435761u, x = word ^ word >> 15, pick = (x >> 3) % 26;
        word = x;
        if (pattern && pick < 13 && (type == 6 || type == 9)) {
            const uint16_t *special = type == 6 ? f16 : bf16;
            word = special[pick] | (uint32_t)special[(x >> 13) % 13] << 16;
        } else if (pattern && pick < 13 && (type == 7 || type >= 10)) {
            word = f32[pick];
        } else if (pattern && pick < 13 && type == 8 && i % 2) {
            word = pick < 2                  ? (uint32_t)pick << 31
                   : pick < 4                ? 0x000fffff | (uint32_t)pick << 31
                   : f32[pick] == 0x7f800000 ? 0x7ff00000
                                             : 0x7ff80000;
        } else if (pattern && pick < 3) {
            word = pick == 0 ? 0 : pick == 1 ? UINT32_MAX : 0x80000000;
        }
        memcpy(p + 4 * i, &word, 4);
    }
}

#endif
