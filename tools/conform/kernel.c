/* What kinds of chapters have alike: a kernel of a module, hashes of what it leaves. */
#include "tools/conform/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/suite.h"

static const char entry[] = "\n.visible .entry ";

bool conform_kernel_add(const struct conform_set *set, char **field, void *data,
                        struct conform_rows *rows)
{
    return conform_row_add(
        rows,
        &(struct conform_row){
            .set = set, .chapter = field[2], .name = field[0], .form = field[3], .data = data});
}

char *conform_kernel_text(const struct conform_row *row)
{
    const char *const *module = row->data;
    return conform_kernel_alone(*module, row->name);
}

bool conform_kernel_add_case(const struct conform_set *set, const char *kernel,
                             char name[CONFORM_CASE_NAME], void *data, struct conform_rows *rows)
{
    snprintf(name, CONFORM_CASE_NAME, "%05zu", rows->n);
    return conform_row_add(
        rows, &(struct conform_row){
                  .set = set, .chapter = kernel, .name = name, .form = kernel, .data = data});
}

char *conform_kernel_case_text(const struct conform_row *row)
{
    const char *const *module = row->data;
    return conform_kernel_alone(*module, row->form);
}

bool conform_kernel_read_outcome(const struct conform_set *set, const char *file, size_t n,
                                 void *outcome, size_t bytes)
{
    size_t all;
    const char *outcomes = conform_suite_read(set->suite, set->name, file, &all);
    bool is_there = outcomes && n < all / bytes;
    if (is_there)
        memcpy(outcome, outcomes + n * bytes, bytes);
    return is_there;
}

char *conform_kernel_alone(const char *text, const char *kernel)
{
    const char *first = strstr(text, entry), *at = first;
    size_t n = strlen(kernel);
    while (at) {
        const char *name = at + strlen(entry);
        if (!strncmp(name, kernel, n) && name[n] == '(')
            break;
        at = strstr(name, entry);
    }
    if (!at)
        return NULL;
    const char *end = strstr(at + 1, entry);
    size_t head = (size_t)(first - text), body = end ? (size_t)(end - at) : strlen(at);
    char *alone = malloc(head + body + 1);
    if (alone) {
        memcpy(alone, text, head);
        memcpy(alone + head, at, body);
        alone[head + body] = 0;
    }
    return alone;
}

uint64_t conform_kernel_hash(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t hash = FNV_BASIS;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t conform_kernel_hash_words(const uint32_t *words, size_t n, uint64_t basis)
{
    uint64_t hash = basis;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    return hash;
}
