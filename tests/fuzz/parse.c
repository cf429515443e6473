/* libFuzzer target: the parser survives any bytes, within bounded memory, and reports positions
 * inside the text. Built with -fsanitize=fuzzer,address,undefined over frontend/ and ir/:
 *
 *     ./fuzz-parse -dict=tests/fuzz/parse.dict -max_total_time=60 CORPUS tests/fuzz/corpus/parse
 * tests/bad
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/lex.h"
#include "frontend/parse.h"
#include "ir/ir.h"

enum { MEMORY_LIMIT = 1 << 30 };

struct meter {
    size_t used;
};

/* Fails when the parse has taken too much: the parser must then give up in order. */
static void *metered(void *ud, void *p, size_t bytes)
{
    struct meter *m = ud;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    m->used += bytes;
    return m->used > MEMORY_LIMIT ? NULL : realloc(p, bytes);
}

static uint32_t count_lines(const char *text, size_t len)
{
    uint32_t n = 1;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

static void check_diagnostics(struct pt_module *m, uint32_t lines)
{
    for (uint32_t i = 0; i < m->diags.list.n; i++) {
        const struct pt_diag *d = &m->diags.list.v[i];
        if (d->line > lines || (d->line && !d->col) ||
            !strlen(pt_diag_format(&m->diags, d, &m->arena)))
            abort();
    }
    if (m->diags.errors > PT_DIAG_MAX)
        abort();
}

/* Each operand index of the parsed instructions must lie in its table. */
static void check_function(const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (f->insns.v[i].operands + f->insns.v[i].n_operands > f->operands.n)
            abort();
    for (uint32_t i = 0; i < f->operands.n; i++) {
        const struct pt_operand *o = &f->operands.v[i];
        if ((o->kind == PT_OPND_REG && o->index >= f->regs.n) ||
            (o->kind == PT_OPND_LABEL && o->index >= f->labels.n))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct meter meter = {0};
    struct pt_allocator allocator = {metered, &meter};
    struct pt_module m;
    jmp_buf oom;
    size_t len;
    /* A copy of the exact size, so that a read past the end is seen. */
    char *text = malloc(size ? size : 1);
    memcpy(text, data, size);
    memset(&m, 0, sizeof m);
    pt_arena_init(&m.arena, &allocator);
    m.arena.oom = &oom;
    if (!setjmp(oom)) {
        pt_lex_dump(text, size, &m.arena, &len);
        bool ok = pt_parse(&m, "fuzz.ptx", text, size);
        if (ok != (m.diags.errors == 0))
            abort();
        check_diagnostics(&m, count_lines(text, size));
        for (uint32_t i = 1; ok && i < m.funcs.n; i++)
            check_function(&m.funcs.v[i]);
    }
    pt_arena_free(&m.arena);
    free(text);
    return 0;
}
