/* Backward slices over the steps of a launch. */
#include "tools/fuzz/slice.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 1 << 22, SHOWN_MOST = 100 };

struct value {
    char *name;
    bool is_result;
    unsigned long long low;
};

struct step {
    unsigned cta[3], thread[3];
    char *text;
    unsigned line;
    bool reads, writes;
    unsigned long long address, bytes;
    struct value *values;
    unsigned n_values;
};

struct slice {
    struct step *v;
    size_t n, room;
    bool is_cut; /* steps are missing: there are too many, or no memory */
};

struct slice *slice_new(void)
{
    return calloc(1, sizeof(struct slice));
}

static void free_step(struct step *s)
{
    for (unsigned i = 0; s->values && i < s->n_values; i++)
        free(s->values[i].name);
    free(s->values);
    free(s->text);
}

void slice_free(struct slice *slice)
{
    for (size_t i = 0; slice && i < slice->n; i++)
        free_step(&slice->v[i]);
    free(slice ? slice->v : NULL);
    free(slice);
}

static bool copy_step(struct step *to, const ptera_step *from)
{
    *to = (struct step){.text = strdup(from->text),
                        .line = from->line,
                        .reads = from->reads_memory,
                        .writes = from->writes_memory,
                        .address = from->address,
                        .bytes = from->bytes,
                        .values = calloc(from->n_values + 1, sizeof *to->values),
                        .n_values = from->n_values};
    memcpy(to->cta, from->cta, sizeof to->cta);
    memcpy(to->thread, from->thread, sizeof to->thread);
    bool ok = to->text && to->values;
    for (unsigned i = 0; ok && i < from->n_values; i++) {
        const ptera_step_value *v = &from->values[i];
        to->values[i] = (struct value){strdup(v->name), v->is_result, v->low};
        ok = to->values[i].name;
    }
    return ok;
}

void slice_add(void *ud, const ptera_step *step)
{
    struct slice *slice = ud;
    if (slice->n == slice->room && !slice->is_cut) {
        size_t room = slice->room ? 2 * slice->room : 256;
        struct step *more = room <= STEPS_MOST ? realloc(slice->v, room * sizeof *more) : NULL;
        slice->is_cut = !more;
        slice->v = more ? more : slice->v;
        slice->room = more ? room : slice->room;
    }
    if (slice->is_cut)
        return;
    if (copy_step(&slice->v[slice->n], step))
        slice->n++;
    else
        free_step(&slice->v[slice->n]), slice->is_cut = true;
}

/* ---- the chain ------------------------------------------------------------------------------- */

static bool is_same_thread(const struct step *a, const struct step *b)
{
    return !memcmp(a->cta, b->cta, sizeof a->cta) &&
           !memcmp(a->thread, b->thread, sizeof a->thread);
}

/* The last step before `before` that wrote one of the bytes; SIZE_MAX: none. */
static size_t find_store(const struct slice *slice, size_t before, unsigned long long address,
                         unsigned long long bytes)
{
    for (size_t i = before; i-- > 0;) {
        const struct step *s = &slice->v[i];
        if (s->writes && s->address < address + bytes && address < s->address + s->bytes)
            return i;
    }
    return SIZE_MAX;
}

static size_t find_result(const struct slice *slice, size_t before, const char *name)
{
    for (size_t i = before; i-- > 0;) {
        const struct step *s = &slice->v[i];
        if (!is_same_thread(s, &slice->v[before]))
            continue;
        for (unsigned k = 0; k < s->n_values; k++)
            if (s->values[k].is_result && !strcmp(s->values[k].name, name))
                return i;
    }
    return SIZE_MAX;
}

struct chain {
    const struct slice *slice;
    size_t step[SHOWN_MOST];
    unsigned n;
    bool is_cut;
};

static void add(struct chain *chain, size_t step)
{
    if (step == SIZE_MAX)
        return;
    for (unsigned i = 0; i < chain->n; i++)
        if (chain->step[i] == step)
            return;
    if (chain->n < SHOWN_MOST)
        chain->step[chain->n++] = step;
    else
        chain->is_cut = true;
}

/* What the step was made of; a register that it writes under a guard keeps what it held. */
static void follow(struct chain *chain, size_t at)
{
    const struct step *s = &chain->slice->v[at];
    for (unsigned i = 0; i < s->n_values; i++)
        if (!s->values[i].is_result)
            add(chain, find_result(chain->slice, at, s->values[i].name));
    if (s->reads)
        add(chain, find_store(chain->slice, at, s->address, s->bytes));
}

static int compare_steps(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void print_step(const struct step *s, const char *prefix, FILE *out)
{
    fprintf(out, "%sCTA (%u,%u,%u), thread (%u,%u,%u), line %u: %s ", prefix, s->cta[0], s->cta[1],
            s->cta[2], s->thread[0], s->thread[1], s->thread[2], s->line, s->text);
    for (int is_result = 0; is_result < 2; is_result++)
        for (unsigned i = 0; i < s->n_values; i++)
            if (s->values[i].is_result == is_result)
                fprintf(out, " %s%s=0x%llx", is_result ? "-> " : "", s->values[i].name,
                        s->values[i].low);
    fputc('\n', out);
}

void slice_print(const struct slice *slice, unsigned long long address, const char *prefix,
                 FILE *out)
{
    struct chain chain = {.slice = slice};
    add(&chain, find_store(slice, slice->n, address, 1));
    for (unsigned i = 0; i < chain.n; i++)
        follow(&chain, chain.step[i]);
    qsort(chain.step, chain.n, sizeof *chain.step, compare_steps);
    for (unsigned i = 0; i < chain.n; i++)
        print_step(&slice->v[chain.step[i]], prefix, out);
    if (!chain.n)
        fprintf(out, "%sno step wrote it\n", prefix);
    if (chain.is_cut || slice->is_cut)
        fprintf(out, "%sand more: not all steps are kept and shown\n", prefix);
}
