/* Modules for tests of the passes: parsed from text, lowered, freed. Errors of the text fail the
 * test. */
#ifndef PTERA_TESTS_UNIT_LOAD_H
#define PTERA_TESTS_UNIT_LOAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "frontend/lower.h"
#include "frontend/parse.h"
#include "ir/ir.h"
#include "ir/verify.h"
#include "tests/unit/check.h"

static jmp_buf load_oom;

static inline bool load(struct pt_module *m, const char *text)
{
    memset(m, 0, sizeof *m);
    pt_arena_init(&m->arena, &pt_malloc_allocator);
    m->arena.oom = &load_oom;
    m->fmad = true;
    if (setjmp(load_oom)) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    bool ok = pt_parse(m, "test", text, strlen(text));
    for (uint32_t i = 0; i < m->diags.list.n && !ok; i++)
        fprintf(stderr, "%s\n", pt_diag_format(&m->diags, &m->diags.list.v[i], &m->arena));
    return ok;
}

/* Lowers every function and verifies it. */
static inline bool lower_all(struct pt_module *m)
{
    for (uint32_t i = 1; i < m->funcs.n; i++) {
        if (!pt_lower(m, i))
            return false;
        const char *wrong = m->funcs.v[i].is_lowered ? pt_verify(m, &m->funcs.v[i]) : NULL;
        if (wrong) {
            fprintf(stderr, "%s: %s\n", m->funcs.v[i].name, wrong);
            return false;
        }
    }
    return true;
}

/* Instructions at the start of a lowered function that write zero to registers it may read
 * unwritten. */
static inline uint32_t count_added(const struct pt_func *f)
{
    uint32_t n = 0;
    while (n < f->insns.n && f->insns.v[n].line == f->line)
        n++;
    return n;
}

/* Text that grows; `text` is NUL-terminated. */
struct text {
    char *text;
    size_t n, cap;
};

__attribute__((format(printf, 2, 3))) static inline void append(struct text *t, const char *format,
                                                                ...)
{
    va_list args;
    if (t->cap - t->n < 4096)
        t->text = realloc(t->text, t->cap = 2 * t->cap + 8192);
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->text + t->n, t->cap - t->n, format, args);
    va_end(args);
}

#define LOAD_HEADER ".version 8.6\n.target sm_90\n.address_size 64\n"

/* A small generator with a fixed sequence. */
static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
