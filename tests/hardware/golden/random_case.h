/* Random kernels as `ptera fuzz --show` prints them, one behind the other: what random.c and
 * random_run.c share. A kernel begins with a line
 *
 *     // RUN: ptera run %s -g X,Y,Z -b X,Y,Z --engine both zero:BYTES zero:BYTES u32:VALUE
 * u64:VALUE
 *
 * that says how it is launched: with two buffers, zeroed, and two numbers. */
#ifndef PTERA_TESTS_GOLDEN_RANDOM_CASE_H
#define PTERA_TESTS_GOLDEN_RANDOM_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct random_case {
    char *text; /* ends with a zero */
    unsigned grid[3], block[3], s;
    unsigned long long w;
    size_t bytes[2]; /* of the buffers */
};

static const char random_head[] = "// RUN: ";

/* A whole file and a zero behind it; NULL if it cannot be read. */
static inline char *random_read(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        return NULL;
    long n = ftell(f);
    char *text = n > 0 ? calloc(1, (size_t)n + 1) : NULL;
    rewind(f);
    if (text && fread(text, 1, (size_t)n, f) != (size_t)n)
        text = NULL;
    fclose(f);
    return text;
}

/* Cuts the next kernel off `*text`. False at the end. */
static inline bool random_next(char **text, struct random_case *c)
{
    char *at = *text;
    if (strncmp(at, random_head, strlen(random_head)))
        return false;
    char *next = strstr(at, "\n// RUN: ");
    c->text = at;
    *text = at + strlen(at);
    if (next) {
        *next = 0;
        *text = next + 1;
    }
    return sscanf(at,
                  "// RUN: ptera run %%s -g %u,%u,%u -b %u,%u,%u --engine both zero:%zu zero:%zu "
                  "u32:%u u64:%llu",
                  &c->grid[0], &c->grid[1], &c->grid[2], &c->block[0], &c->block[1], &c->block[2],
                  &c->bytes[0], &c->bytes[1], &c->s, &c->w) == 10;
}

/* FNV-1a. */
static inline uint64_t random_digest(const void *data, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
