/* Reports of ptera conform in HTML: a column an implementation, rows where any of them is not the
 * same as expected. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/conform/suite.h"
#include "tools/conform_report.h"
#include "tools/html.h"

enum { MAX_COLUMNS = 16, TITLE_BYTES = 512 };

struct cell {
    unsigned column;
    enum verdict verdict;
    const char *id, *form, *text;
};

struct table {
    struct cell *v;
    size_t n, room;
    char title[MAX_COLUMNS][TITLE_BYTES];
    unsigned n_columns;
};

static bool add(struct table *t, const struct cell *cell)
{
    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 1024;
        struct cell *v = realloc(t->v, room * sizeof *v);
        if (!v)
            return false;
        t->v = v;
        t->room = room;
    }
    t->v[t->n++] = *cell;
    return true;
}

/* ---- reading what conform_report.c writes ---------------------------------------------------- */

/* Cuts the next string of JSON, in place. NULL: there is none before the line ends. */
static char *next_string(char **at)
{
    char *from = *at + strcspn(*at, "\"\n"), *to, *text;
    if (*from != '"')
        return NULL;
    for (text = to = ++from; *from && *from != '"'; from++) {
        unsigned code;
        if (*from != '\\') {
            *to++ = *from;
        } else if (*++from == 'u' && sscanf(from + 1, "%4x", &code) == 1) {
            *to++ = (char)code;
            from += 4;
        } else if (!*from) {
            break;
        } else {
            *to++ = *from;
        }
    }
    *at = *from ? from + 1 : from;
    *to = 0;
    return text;
}

/* The values of a line's names, in their order; false: it is not such a line. */
static bool read_line(char *line, const char *const *names, char **values, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char *name = next_string(&line);
        if (!name || strcmp(name, names[i]) || !(values[i] = next_string(&line)))
            return false;
    }
    return true;
}

static bool find_verdict(const char *name, enum verdict *verdict)
{
    for (unsigned v = 0; v < VERDICTS; v++)
        if (!strcmp(verdict_facts[v].name, name)) {
            *verdict = (enum verdict)v;
            return true;
        }
    return false;
}

static bool read_report(struct table *t, char *text)
{
    static const char *const head[] = {"suite", "level", "driver", "engine", "device"},
                             *const row[] = {"row", "form", "verdict", "text"};
    char *value[5], *next = strchr(text, '\n');
    if (!next || t->n_columns == MAX_COLUMNS || !read_line(text, head, value, 5))
        return false;
    snprintf(t->title[t->n_columns], TITLE_BYTES, "%s: %s %s (suite %s, %s)", value[4], value[2],
             value[3], value[0], value[1]);
    for (char *line = next + 1; *line == '{'; line = next + 1) {
        struct cell cell = {.column = t->n_columns};
        next = strchr(line, '\n');
        if (!next || !read_line(line, row, value, 4) || !find_verdict(value[2], &cell.verdict))
            return false;
        cell.id = value[0];
        cell.form = value[1];
        cell.text = value[3];
        if (!add(t, &cell))
            return false;
    }
    t->n_columns++;
    return true;
}

/* ---- the page -------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : (x->column > y->column) - (x->column < y->column);
}

static void put_summary(FILE *out, const struct table *t)
{
    static unsigned counts[MAX_COLUMNS][VERDICTS];
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < t->n; i++)
        counts[t->v[i].column][t->v[i].verdict]++;
    fprintf(out, "<table>\n<tr><th>implementation</th>");
    for (unsigned v = 0; v < VERDICTS; v++)
        fprintf(out, "<th title=\"%s\">%s</th>", verdict_facts[v].what, verdict_facts[v].name);
    fprintf(out, "</tr>\n");
    for (unsigned c = 0; c < t->n_columns; c++) {
        fprintf(out, "<tr><td>");
        html_put_text(out, t->title[c]);
        fprintf(out, "</td>");
        for (unsigned v = 0; v < VERDICTS; v++)
            fprintf(out, "<td>%u</td>", counts[c][v]);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</table>\n");
}

/* A row of the suite: `cell` up to `end`, those of the columns that have it. */
static void put_row(FILE *out, const struct table *t, const struct cell *cell,
                    const struct cell *end)
{
    fprintf(out, "<tr><td>");
    html_put_text(out, cell->id);
    fprintf(out, "</td><td><code>");
    html_put_text(out, cell->form);
    fprintf(out, "</code></td>");
    for (unsigned c = 0; c < t->n_columns; c++) {
        if (cell == end || cell->column != c) {
            fprintf(out, "<td>not run</td>");
            continue;
        }
        fprintf(out, "<td>%s", verdict_facts[cell->verdict].name);
        if (*cell->text) {
            fprintf(out, "<br/><small>");
            html_put_text(out, cell->text);
            fprintf(out, "</small>");
        }
        fprintf(out, "</td>");
        cell++;
    }
    fprintf(out, "</tr>\n");
}

static void put_page(FILE *out, struct table *t)
{
    if (t->n)
        qsort(t->v, t->n, sizeof *t->v, by_id);
    html_begin(out, "Conformance to PTX");
    put_summary(out, t);
    fprintf(out, "<h2>Rows that are not the same everywhere</h2>\n<table>\n"
                 "<tr><th>row</th><th>form</th>");
    for (unsigned c = 0; c < t->n_columns; c++) {
        fprintf(out, "<th>");
        html_put_text(out, t->title[c]);
        fprintf(out, "</th>");
    }
    fprintf(out, "</tr>\n");
    for (size_t i = 0, end; i < t->n; i = end) {
        bool is_same = true;
        for (end = i; end < t->n && !strcmp(t->v[end].id, t->v[i].id); end++)
            is_same &= t->v[end].verdict == VERDICT_SAME;
        if (!is_same)
            put_row(out, t, &t->v[i], &t->v[end]);
    }
    fprintf(out, "</table>\n");
    html_end(out);
}

void conform_report_html(FILE *out, const struct conform_report *r)
{
    const struct conform_rows *rows = &r->list->rows;
    struct table *t = calloc(1, sizeof *t);
    char(*ids)[ROW_ID] = calloc(rows->n, sizeof *ids);
    bool ok = t && ids;
    if (ok)
        snprintf(t->title[t->n_columns++], TITLE_BYTES, "%s: %s %s (suite %s, %s)", r->device->name,
                 r->library, r->engine ? r->engine : "", r->list->version, r->level);
    for (size_t i = 0; ok && i < rows->n; i++)
        ok = add(t, &(struct cell){.verdict = rows->v[i].verdict,
                                   .id = conform_row_id(&rows->v[i], ids[i]),
                                   .form = rows->v[i].form,
                                   .text = rows->v[i].text});
    if (ok)
        put_page(out, t);
    else
        fprintf(stderr, "ptera conform: no memory\n");
    if (t)
        free(t->v);
    free(t);
    free(ids);
}

int conform_compare_put(FILE *out, char **paths, int n)
{
    struct table *t = calloc(1, sizeof *t);
    struct suite files = {0}; /* which keeps what is read */
    int status = t ? EXIT_GOOD : EXIT_FAILED;
    for (int i = 0; status == EXIT_GOOD && i < n; i++) {
        size_t bytes;
        char *text = conform_suite_read_other(&files, paths[i], &bytes);
        if (!text || !read_report(t, text)) {
            fprintf(stderr, "ptera conform: %s: it is no report in JSON\n", paths[i]);
            status = EXIT_USAGE;
        }
    }
    if (status == EXIT_GOOD)
        put_page(out, t);
    if (t)
        free(t->v);
    free(t);
    conform_suite_close(&files);
    return status;
}
