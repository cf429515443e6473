/* Reads what ptera_engine_counts_save wrote. */
#include "tools/counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool say(const char *path, const char *why)
{
    fprintf(stderr, "ptera profile: %s: %s\n", path, why);
    return false;
}

static bool read_text(struct counts *counts, const char *path)
{
    FILE *in = fopen(path, "re");
    size_t n = 0, room = 0, got = 1;
    while (in && got) {
        if (room - n < 2) {
            room = room ? 2 * room : 1 << 16;
            char *text = realloc(counts->text, room);
            if (!text)
                break;
            counts->text = text;
        }
        got = fread(counts->text + n, 1, room - n - 1, in);
        n += got;
    }
    bool is_read = in && !got && !ferror(in);
    int error = errno;
    if (in)
        fclose(in);
    if (is_read)
        counts->text[n] = 0;
    return is_read || say(path, strerror(error));
}

/* One more element, of zeros; NULL: no memory. */
static void *push(void **v, size_t *n, size_t *room, size_t size)
{
    if (*n == *room) {
        size_t more = *room ? 2 * *room : 16;
        void *bigger = realloc(*v, more * size);
        if (!bigger)
            return NULL;
        *v = bigger;
        *room = more;
    }
    return memset((char *)*v + (*n)++ * size, 0, size);
}

/* The line's next word, which it ends with a zero. */
static char *next_word(char **at)
{
    char *word = *at, *end = word + strcspn(word, " ");
    *at = *end ? end + 1 : end;
    *end = 0;
    return word;
}

static uint64_t next_number(char **at)
{
    return strtoull(next_word(at), NULL, 10);
}

static void read_insn(struct counted_insn *x, char *at)
{
    x->line = (unsigned)next_number(&at);
    x->col = (unsigned)next_number(&at);
    x->warps = next_number(&at);
    x->lanes = next_number(&at);
    x->on = next_number(&at);
    x->split = next_number(&at);
    for (int i = 0; i < COUNTED_SPACES; i++) {
        x->spaces[i].requests = next_number(&at);
        x->spaces[i].lanes = next_number(&at);
        x->spaces[i].bytes = next_number(&at);
        x->spaces[i].parts = next_number(&at);
        x->spaces[i].conflicts = next_number(&at);
    }
    x->has_guard = next_number(&at);
    x->kind = next_word(&at);
    x->row = next_word(&at);
    x->spelling = next_word(&at);
    x->func = next_word(&at);
    x->file_line = (unsigned)next_number(&at);
    x->file = at;
}

static bool read_worst(struct counted_insn *x, char *at)
{
    struct counted_worst *w = x->worst = calloc(1, sizeof *w);
    if (!w)
        return false;
    w->space = (enum counted_space)(next_number(&at) % COUNTED_SPACES);
    w->bytes = (unsigned)next_number(&at);
    w->lanes = (unsigned)next_number(&at);
    w->parts = (unsigned)next_number(&at);
    w->cta = next_number(&at);
    w->warp = (unsigned)next_number(&at);
    for (unsigned left = w->lanes; left; left &= left - 1)
        w->address[__builtin_ctz(left)] = next_number(&at);
    return true;
}

static bool read_run(struct counted_kernel *k, char *at)
{
    struct counted_run *r = push((void **)&k->runs, &k->n_runs, &k->runs_room, sizeof *r);
    if (!r)
        return false;
    r->begun = next_number(&at);
    r->ns = next_number(&at);
    r->stream = next_number(&at);
    return true;
}

static bool read_shape(const char *name, const char *wanted, unsigned v[3], const char *at)
{
    return !strcmp(name, wanted) && sscanf(at, "%u %u %u", &v[0], &v[1], &v[2]) == 3;
}

/* False: there is no such sum. */
static bool read_time(struct counted_kernel *k, const char *at)
{
    k->is_timed = true;
#define SUM(name, what)                                       \
    if (!strncmp(at, #name " ", sizeof #name)) {              \
        k->time.name = strtoull(at + sizeof #name, NULL, 10); \
        return true;                                          \
    }
#include "backend/timed.def"
    return false;
}

/* A line of a kernel's head. False: there is no such line. */
static bool read_field(struct counted_kernel *k, const char *name, const char *at)
{
    const struct {
        const char *name;
        unsigned *v;
    } numbers[] = {{"shared_static", &k->shared_static},
                   {"shared_dynamic", &k->shared_dynamic},
                   {"registers", &k->registers},
                   {"ctas", &k->ctas},
                   {"sms", &k->sms},
                   {"sm_warps", &k->sm_warps}};
    if (read_shape(name, "grid", k->grid, at) || read_shape(name, "block", k->block, at) ||
        read_shape(name, "cluster", k->cluster, at))
        return true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name))
            return sscanf(at, "%u", numbers[i].v) == 1;
    if (!strcmp(name, "module"))
        k->module = at;
    else if (!strcmp(name, "device"))
        k->device = at;
    else if (!strcmp(name, "launches"))
        k->launches = strtoull(at, NULL, 10);
    else if (!strcmp(name, "ns"))
        k->ns = strtoull(at, NULL, 10);
    else if (!strcmp(name, "coverage"))
        k->is_coverage = strcmp(at, "0") != 0;
    else
        return !strcmp(name, "time") && read_time(k, at);
    return true;
}

/* NULL, or what is wrong. */
static const char *read_line(struct counts *counts, char *line)
{
    struct counted_kernel *k = counts->n ? &counts->v[counts->n - 1] : NULL;
    char *at = line, *name = next_word(&at);
    if (!strcmp(name, "kernel")) {
        k = push((void **)&counts->v, &counts->n, &counts->room, sizeof *k);
        if (!k)
            return strerror(ENOMEM);
        k->name = at;
        k->module = k->device = "";
        return NULL;
    }
    if (k && !strcmp(name, "insn")) {
        struct counted_insn *x = push((void **)&k->insns, &k->n, &k->room, sizeof *x);
        if (x)
            read_insn(x, at);
        return x ? NULL : strerror(ENOMEM);
    }
    if (k && !strcmp(name, "run"))
        return read_run(k, at) ? NULL : strerror(ENOMEM);
    if (k && k->n && !strcmp(name, "waits")) {
        k->insns[k->n - 1].waits = next_number(&at);
        return NULL;
    }
    if (k && k->n && !strcmp(name, "worst") && !k->insns[k->n - 1].worst)
        return read_worst(&k->insns[k->n - 1], at) ? NULL : strerror(ENOMEM);
    return k && read_field(k, name, at) ? NULL : "this is no file of ptera_engine_counts_save";
}

bool counts_read(struct counts *counts, const char *path)
{
    *counts = (struct counts){0};
    if (!read_text(counts, path))
        return false;
    for (char *line = counts->text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = 0;
        const char *wrong = read_line(counts, line);
        if (wrong)
            return say(path, wrong);
    }
    return true;
}

void counts_free(struct counts *counts)
{
    for (size_t i = 0; i < counts->n; i++) {
        for (size_t k = 0; k < counts->v[i].n; k++)
            free(counts->v[i].insns[k].worst);
        free(counts->v[i].insns);
        free(counts->v[i].runs);
    }
    free(counts->v);
    free(counts->text);
}
