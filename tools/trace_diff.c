/* Two traces, aligned thread by thread: by what instructions do, not by the names of their
 * registers, so that versions of a kernel can be compared. */
#include "tools/trace_diff.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/file/read.h"

/* The columns of a line. */
enum { CTA, THREAD, NUMBER, PLACE, TEXT, OPERANDS, RESULTS, ACCESS, COLUMNS };
enum { WINDOW = 256, AGREEING = 3 /* steps that follow each other, to go on from there */ };

struct line {
    const char *column[COLUMNS];
    size_t index;
};

struct file {
    const char *path;
    char *text;
    struct line *lines;
    size_t n;
};

/* The steps of one thread in a file. */
struct steps {
    const struct line *v;
    size_t n;
};

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int cta = strcmp(a->column[CTA], b->column[CTA]);
    int thread = cta ? cta : strcmp(a->column[THREAD], b->column[THREAD]);
    return thread ? thread : (a->index > b->index) - (a->index < b->index);
}

/* False: it is no line of a trace. */
static bool split(char *text, struct line *line)
{
    for (int i = 0; i < COLUMNS; i++) {
        char *tab = strchr(text, '\t');
        line->column[i] = text;
        if (!tab != (i + 1 == COLUMNS))
            return false;
        if (tab) {
            *tab = 0;
            text = tab + 1;
        }
    }
    return true;
}

static bool read_trace(const char *path, struct file *file)
{
    size_t bytes, n = 0;
    file->path = path;
    file->text = file_read(path, &bytes);
    if (!file->text)
        return false;
    for (size_t i = 0; i < bytes; i++)
        n += file->text[i] == '\n';
    file->lines = calloc(n + 1, sizeof *file->lines);
    for (char *at = file->text, *end; file->lines && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        file->lines[file->n].index = file->n;
        if (!split(at, &file->lines[file->n++])) {
            fprintf(stderr, "ptera trace: %s:%zu is no line of a trace in text\n", path, file->n);
            return false;
        }
    }
    if (file->lines)
        qsort(file->lines, file->n, sizeof *file->lines, compare_lines);
    return file->lines;
}

static void close_trace(struct file *file)
{
    free(file->lines);
    free(file->text);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What an instruction is: without its guard and its operands. */
static bool is_same_instruction(const struct line *a, const struct line *b)
{
    const char *text[2] = {a->column[TEXT], b->column[TEXT]};
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        if (*text[i] == '@')
            text[i] += strcspn(text[i], " ") + (strchr(text[i], ' ') != NULL);
        n[i] = strcspn(text[i], " ;");
    }
    return n[0] == n[1] && !memcmp(text[0], text[1], n[0]);
}

/* Values alone: "%r1=5 %r2=6" and "%a=5 %b=6" are the same. */
static bool are_same_values(const char *a, const char *b)
{
    for (;;) {
        a += strcspn(a, "=");
        b += strcspn(b, "=");
        if (!*a || !*b)
            return *a == *b;
        size_t n = strcspn(a, " ");
        if (n != strcspn(b, " ") || memcmp(a, b, n) != 0)
            return false;
        a += n;
        b += n;
    }
}

static bool do_agree(const struct steps *a, size_t i, const struct steps *b, size_t k)
{
    for (size_t n = 0; n < AGREEING && (i + n < a->n || k + n < b->n); n++)
        if (i + n >= a->n || k + n >= b->n || !is_same_instruction(&a->v[i + n], &b->v[k + n]))
            return false;
    return true;
}

/* Behind what only one of them does. False: they do not meet again within the window. */
static bool align(const struct steps *a, size_t *i, const struct steps *b, size_t *k)
{
    for (size_t sum = 0; sum <= WINDOW; sum++)
        for (size_t skip = 0; skip <= sum; skip++)
            if (*i + skip <= a->n && *k + sum - skip <= b->n &&
                do_agree(a, *i + skip, b, *k + sum - skip)) {
                *i += skip;
                *k += sum - skip;
                return true;
            }
    return false;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void show_step(char sign, const struct line *line)
{
    printf("  %c %s  %s: %s  %s -> %s%s%s\n", sign, line->column[NUMBER], line->column[PLACE],
           line->column[TEXT], line->column[OPERANDS], line->column[RESULTS],
           *line->column[ACCESS] ? "  " : "", line->column[ACCESS]);
}

static void show_only(char sign, const struct steps *s, size_t from, size_t to)
{
    enum { SHOWN = 4 };
    for (size_t i = from; i < to && i < from + SHOWN; i++)
        show_step(sign, &s->v[i]);
    if (to > from + SHOWN)
        printf("  %c ... and %zu more\n", sign, to - from - SHOWN);
}

struct difference {
    size_t from[2], to[2]; /* the steps of each that are not the other's */
    bool is_value;         /* they are the same instruction: its values differ */
};

/* The first one; false: there is none. */
static bool find_difference(const struct steps *a, const struct steps *b, struct difference *d)
{
    for (size_t i = 0; i < a->n || i < b->n; i++) {
        bool is_there = i < a->n && i < b->n;
        d->is_value = is_there && is_same_instruction(&a->v[i], &b->v[i]);
        d->from[0] = d->to[0] = d->from[1] = d->to[1] = i;
        if (d->is_value && are_same_values(a->v[i].column[OPERANDS], b->v[i].column[OPERANDS]) &&
            are_same_values(a->v[i].column[RESULTS], b->v[i].column[RESULTS]))
            continue;
        if (d->is_value || !align(a, &d->to[0], b, &d->to[1])) {
            d->to[0] = d->is_value ? i + 1 : a->n;
            d->to[1] = d->is_value ? i + 1 : b->n;
        }
        return true;
    }
    return false;
}

static void show_difference(const struct steps *a, const struct steps *b,
                            const struct difference *d)
{
    const struct line *first = a->n ? a->v : b->v;
    printf("CTA (%s), thread (%s): %s\n", first->column[CTA], first->column[THREAD],
           d->is_value ? "values differ first here" : "other instructions first here");
    show_only('-', a, d->from[0], d->to[0]);
    show_only('+', b, d->from[1], d->to[1]);
}

/* The steps at *at that are of one thread, unless it comes behind `of`. */
static struct steps take_thread(const struct file *file, size_t *at, const struct line *of)
{
    struct steps s = {&file->lines[*at], 0};
    for (; *at < file->n; (*at)++, s.n++) {
        const struct line *line = &file->lines[*at];
        if (strcmp(line->column[CTA], of->column[CTA]) != 0 ||
            strcmp(line->column[THREAD], of->column[THREAD]) != 0)
            break;
    }
    return s;
}

static int compare_threads(const struct line *a, const struct line *b)
{
    struct line x = *a, y = *b;
    x.index = y.index = 0;
    return compare_lines(&x, &y);
}

static int compare(const struct file *a, const struct file *b, unsigned long most)
{
    size_t at[2] = {0}, threads = 0, different = 0;
    while (at[0] < a->n || at[1] < b->n) {
        const struct line *x = at[0] < a->n ? &a->lines[at[0]] : NULL,
                          *y = at[1] < b->n ? &b->lines[at[1]] : NULL;
        const struct line *of = !y || (x && compare_threads(x, y) <= 0) ? x : y;
        struct steps mine = take_thread(a, &at[0], of), theirs = take_thread(b, &at[1], of);
        struct difference d;
        threads++;
        if (find_difference(&mine, &theirs, &d) && different++ < most)
            show_difference(&mine, &theirs, &d);
    }
    printf("ptera trace: %zu of %zu threads differ\n", different, threads);
    return different ? EXIT_FAILED : EXIT_GOOD;
}

int trace_diff(const char *a, const char *b, unsigned long most)
{
    struct file files[2] = {0};
    int status = EXIT_FAILED;
    if (read_trace(a, &files[0]) && read_trace(b, &files[1]))
        status = compare(&files[0], &files[1], most);
    close_trace(&files[0]);
    close_trace(&files[1]);
    return status;
}
