/* Where instructions stand, and the text there. */
#include "tools/places.h"

#include <stdlib.h>
#include <string.h>

#include "tools/metrics.h"

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    if (order)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

bool places_add(struct places *to, const struct counted_kernel *k, bool is_ptx)
{
    struct place *v = realloc(to->v, (to->n + k->n + 1) * sizeof *v);
    if (!v)
        return false;
    to->v = v;
    for (size_t i = 0; i < k->n; i++) {
        const struct counted_insn *x = &k->insns[i];
        bool is_source = x->file_line && !is_ptx;
        to->v[to->n++] =
            (struct place){is_source ? x->file : k->module, is_source ? x->file_line : x->line, x};
    }
    return true;
}

static bool is_same_line(const struct place *a, const struct place *b)
{
    return a->line == b->line && !strcmp(a->file, b->file);
}

size_t places_line_end(const struct places *p, size_t i)
{
    size_t end = i;
    while (end < p->n && is_same_line(&p->v[i], &p->v[end]))
        end++;
    return end;
}

struct line_sums places_sum(const struct places *p, size_t from, size_t to)
{
    struct line_sums s = {0};
    for (size_t i = from; i < to; i++) {
        const struct counted_insn *x = p->v[i].insn;
        const struct counted_access *global = &x->spaces[COUNTED_GLOBAL];
        const struct counted_access *local = &x->spaces[COUNTED_LOCAL];
        enum kind kind = metrics_kind(x);
        s.warps += x->warps;
        s.lanes += x->on;
        s.sectors += global->parts + local->parts;
        s.requests += global->requests + local->requests;
        s.wavefronts += x->spaces[COUNTED_SHARED].parts;
        s.conflicts += x->spaces[COUNTED_SHARED].conflicts;
        s.waits += x->waits;
        s.atomics += kind == KIND_ATOM || kind == KIND_RED ? x->on : 0;
    }
    return s;
}

void places_sort(struct places *places)
{
    if (places->n)
        qsort(places->v, places->n, sizeof *places->v, by_place);
}

/* ---- text ------------------------------------------------------------------------------------ */

void places_source_close(struct source *s)
{
    if (s->in)
        fclose(s->in);
    free(s->text);
}

const char *places_source_line(struct source *s, const char *path, unsigned line)
{
    if (!s->path || strcmp(s->path, path) != 0) {
        places_source_close(s);
        *s = (struct source){.path = path, .in = fopen(path, "re")};
    }
    while (s->in && s->line < line && getline(&s->text, &s->room, s->in) >= 0)
        s->line++;
    if (!s->in || s->line != line)
        return "";
    s->text[strcspn(s->text, "\n")] = 0;
    return s->text;
}
