/* Packages: tar files, compressed with zstd. */
#include "tools/conform/unpack.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PT_HAVE_ZSTD
#include <zstd.h>
#endif

enum { BLOCK = 512, NAME_BYTES = 100, SIZE_AT = 124, SIZE_DIGITS = 11, TYPE_AT = 156 };

#ifdef PT_HAVE_ZSTD
/* Makes room for more; false: there is none. */
static bool grow(ZSTD_outBuffer *out)
{
    size_t size = out->size ? 2 * out->size : (size_t)1 << 24;
    char *dst = out->pos == out->size ? realloc(out->dst, size) : out->dst;
    if (!dst)
        return false;
    if (out->pos == out->size)
        out->size = size;
    out->dst = dst;
    return true;
}

char *conform_unpack(const char *path, const char *packed, size_t packed_bytes, size_t *bytes)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {packed, packed_bytes, 0};
    ZSTD_outBuffer out = {NULL, 0, 0};
    size_t left = 1;
    while (stream && !ZSTD_isError(left) && (left || in.pos < in.size)) {
        size_t before = out.pos + in.pos;
        if (!grow(&out))
            break;
        left = ZSTD_decompressStream(stream, &out, &in);
        if (out.pos + in.pos == before && out.pos < out.size)
            break; /* it is cut off */
    }
    bool is_whole = stream && left == 0 && in.pos == in.size;
    ZSTD_freeDStream(stream);
    if (!is_whole) {
        fprintf(stderr, "ptera conform: %s: it is no whole file of zstd\n", path);
        free(out.dst);
        return NULL;
    }
    *bytes = out.pos;
    return out.dst;
}
#else
char *conform_unpack(const char *path, const char *packed, size_t packed_bytes, size_t *bytes)
{
    (void)packed;
    (void)packed_bytes;
    *bytes = 0;
    fprintf(stderr, "ptera conform: %s: built without zstd: unpack it, and give the folder\n",
            path);
    return NULL;
}
#endif

static const char *below_top(const char *name)
{
    if (!strncmp(name, "./", 2))
        name += 2;
    const char *slash = strchr(name, '/');
    return slash ? slash + 1 : "";
}

const char *conform_unpack_find(const char *tar, size_t tar_bytes, const char *name, size_t *bytes)
{
    for (size_t at = 0; at + BLOCK <= tar_bytes && tar[at];) {
        char head[NAME_BYTES + 1] = "", digits[SIZE_DIGITS + 1] = "";
        memcpy(head, tar + at, NAME_BYTES);
        memcpy(digits, tar + at + SIZE_AT, SIZE_DIGITS);
        size_t size = strtoul(digits, NULL, 8);
        bool is_file = tar[at + TYPE_AT] == '0' || tar[at + TYPE_AT] == 0;
        if (size > tar_bytes - at - BLOCK)
            return NULL;
        if (is_file && !strcmp(below_top(head), name)) {
            *bytes = size;
            return tar + at + BLOCK;
        }
        at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    }
    return NULL;
}
