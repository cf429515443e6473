/* The tables of kernels, collected, and a case as a whole. */
#include "tests/bench/case.h"

#include "backend/semantics/texture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/add.h"
#include "tests/bench/sets.h"

static const struct bench_table *const tables[] = {
#define ROW(name) &bench_##name,
    BENCH_TABLES(ROW)
#undef ROW
};

enum { TABLES = sizeof tables / sizeof *tables };

const struct bench_kind *bench_kind(int index)
{
    for (int t = 0; t < TABLES && index >= 0; index -= tables[t++]->n)
        if (index < tables[t]->n)
            return &tables[t]->kind[index];
    return NULL;
}

static const struct bench_table *table_of(const struct bench_kind *kind)
{
    int t = 0;
    while (kind < tables[t]->kind || kind >= tables[t]->kind + tables[t]->n)
        t++;
    return tables[t];
}

const char *bench_set_of(const struct bench_kind *kind)
{
    return table_of(kind)->set;
}

const char *bench_group_of(const struct bench_kind *kind)
{
    return table_of(kind)->group;
}

static const char *refuse_size(const struct bench_kind *kind, unsigned n)
{
    static char text[100];
    if (n == 0 || n > 1u << 28)
        return "the size is out of range";
    snprintf(text, sizeof text, "%s takes %s of %u", kind->name,
             kind->is_power ? "powers of two, multiples" : "multiples",
             kind->multiple ? kind->multiple : 1);
    if ((kind->multiple && n % kind->multiple) || (kind->is_power && (n & (n - 1))))
        return text;
    return NULL;
}

const char *bench_case_make(struct bench_case *c, const struct bench_kind *kind, unsigned size)
{
    const char *why = refuse_size(kind, size);
    if (why)
        return why;
    *c = (struct bench_case){.kind = kind, .size = size, .times = 1};
    kind->make(c, size);
    for (int i = 0; i < c->n_buffers; i++) {
        struct bench_buffer *b = &c->buffer[i];
        if (b->flags & BENCH_RESET)
            b->start = memcpy(add_memory(b->bytes), b->host, b->bytes);
    }
    return NULL;
}

void bench_case_reset(struct bench_case *c)
{
    for (int i = 0; i < c->n_buffers; i++) {
        struct bench_buffer *b = &c->buffer[i];
        if (b->flags & BENCH_RESET)
            memcpy(b->host, b->start, b->bytes);
    }
}

/* False: no memory. */
static bool make_texture(const struct bench_case *c, struct bench_texture *b)
{
    struct pt_texture *t = aligned_alloc(16, sizeof *t);
    if (!t)
        return false;
    b->handle = (uint64_t)(uintptr_t)t;
    *t = (struct pt_texture){
        .key = pt_texture_key(b->handle),
        .texels = (uint64_t)(uintptr_t)c->buffer[b->buffer].host,
        .axes = (uint8_t)b->axes,
        .texel = b->is_bytes ? PT_TEXEL_UNORM8 : PT_TEXEL_F32,
        .n_levels = 1,
        .n_channels = (uint8_t)b->channels,
        .texel_bytes = (uint8_t)(b->channels * (b->is_bytes ? 1 : 4)),
        .is_normalized = b->is_normalized,
        .is_linear = b->is_linear,
        .address = {PT_TEXTURE_CLAMP, PT_TEXTURE_CLAMP, PT_TEXTURE_CLAMP},
        .direct = b->axes == 2 && !b->is_linear && !b->is_normalized
                      ? PT_TEXTURE_DIRECT_POINT |
                            (b->is_bytes ? PT_TEXTURE_DIRECT_BYTES : PT_TEXTURE_DIRECT_WORD)
                      : 0,
    };
    memcpy(t->size, b->size, sizeof t->size);
    t->pitch = (uint64_t)t->size[0] * t->texel_bytes;
    t->slice = t->pitch * t->size[1];
    return true;
}

const void *bench_case_value(struct bench_case *c, struct bench_argument *argument)
{
    struct bench_texture *t = &argument->texture;
    if (argument->is_texture)
        return t->handle || make_texture(c, t) ? &t->handle : NULL;
    return argument->is_buffer ? (void *)&c->buffer[argument->buffer].host : argument->raw;
}

void bench_case_free(struct bench_case *c)
{
    for (int i = 0; i < c->n_buffers; i++) {
        add_free_memory(c->buffer[i].host);
        add_free_memory(c->buffer[i].start);
    }
    for (int i = 0; i < c->n_launches; i++)
        for (unsigned a = 0; a < c->launch[i].n_arguments; a++)
            if (c->launch[i].argument[a].is_texture)
                free((void *)(uintptr_t)c->launch[i].argument[a].texture.handle);
    free(c->launch);
}
