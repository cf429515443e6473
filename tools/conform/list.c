/* The rows of a suite that are asked for. suite.tsv has a line for the version, then one a set:
 * name, kind, of the rows every so many at the quick and at the full level, how far the driver
 * optimises (0 to 4, or "-"), GPU and driver that the expectations come from, and what it is. */
#include "tools/conform/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/kind.h"

enum { SET_FIELDS = 8, KNOWN_FIELDS = 3, FORMAT = 1 };

static bool read_sets(struct conform_list *list, struct suite *suite)
{
    char *field[SET_FIELDS];
    size_t bytes;
    char *line = conform_suite_read(suite, "", "suite.tsv", &bytes);
    if (!line || !(line = conform_suite_fields(line, field, 3)) || strcmp(field[0], "version") ||
        atoi(field[2]) != FORMAT) {
        fprintf(stderr, "ptera conform: %s: it is no suite of format %d\n", suite->path, FORMAT);
        return false;
    }
    list->version = field[1];
    while (list->n_sets < LIST_SETS && (line = conform_suite_fields(line, field, SET_FIELDS))) {
        struct conform_set *set = &list->set[list->n_sets++];
        *set = (struct conform_set){.name = field[0],
                                    .kind = field[1],
                                    .level = *field[4] == '-' ? -1 : atoi(field[4]),
                                    .device = field[5],
                                    .driver = field[6],
                                    .what = field[7],
                                    .stride = {(unsigned)atoi(field[2]), (unsigned)atoi(field[3])},
                                    .suite = suite};
        if (!conform_kind_find(set->kind) || !set->stride[0] || !set->stride[1]) {
            fprintf(stderr, "ptera conform: %s: its set %s is not understood\n", suite->path,
                    set->name);
            return false;
        }
    }
    return true;
}

/* Whether one of the names is how the id begins, up to its end or a '/', or the other way round:
 * "golden" asks for "golden/integer/k00001", and the set "golden" may have "golden/integer". */
static bool is_chosen(const char *chapters, const char *id, bool or_below)
{
    for (const char *at = chapters; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t n = strcspn(at, ","), m = strlen(id), common = n < m ? n : m;
        if (!strncmp(at, id, common) &&
            ((n <= m && (!id[n] || id[n] == '/')) || (or_below && n > m && at[m] == '/')))
            return true;
    }
    return !chapters;
}

static int by_chapter(const void *a, const void *b)
{
    const struct conform_row *x = a, *y = b;
    int order = strcmp(x->chapter, y->chapter);
    return order ? order : strcmp(x->name, y->name);
}

static bool read_table(const struct conform_set *set, struct conform_rows *rows)
{
    const struct conform_kind *kind = conform_kind_find(set->kind);
    char *field[KIND_FIELDS];
    size_t bytes;
    char *line = conform_suite_read(set->suite, set->name, kind->table, &bytes);
    bool ok = line != NULL;
    while (ok && (line = conform_suite_fields(line, field, kind->fields))) {
        ok = kind->add(set, field, rows);
        if (!ok)
            fprintf(stderr, "ptera conform: %s/%s: %s cannot be used\n", set->name, kind->table,
                    field[0]);
    }
    return ok;
}

static bool read_rows(struct conform_list *list, const struct conform_set *set,
                      const struct list_options *options)
{
    struct conform_rows all = {0};
    bool ok = read_table(set, &all);
    size_t before = list->rows.n;
    for (size_t i = 0; ok && i < all.n; i++) {
        char id[ROW_ID];
        const struct conform_row *row = &all.v[i];
        conform_row_id(row, id);
        if (is_chosen(options->chapters, id, false) &&
            (options->row ? strstr(id, options->row) || strstr(row->form, options->row)
                          : i % set->stride[options->is_full] == 0)) {
            ok = (!options->is_own || !row->otherwise ||
                  conform_row_expect(&all.v[i], NULL, row->otherwise)) &&
                 conform_row_add(&list->rows, row);
            all.v[i].data = ok ? NULL : row->data;
            all.v[i].known = ok ? NULL : row->known;
        }
    }
    if (list->rows.n > before)
        qsort(list->rows.v + before, list->rows.n - before, sizeof *all.v, by_chapter);
    conform_row_free(&all);
    return ok;
}

static bool expect(struct conform_row *row, char **field)
{
    bool is_any = !*field[1] || !strcmp(field[1], "-");
    return conform_row_expect(row, is_any ? NULL : field[1],
                              *field[2] ? field[2] : "no reason is given");
}

/* A line: how a row's id begins, words that its text then has or "-", why it does not pass. Of
 * lines that fit, the last one tells why. */
static bool read_known(struct conform_list *list, struct suite *suite, const char *path)
{
    char *field[KNOWN_FIELDS];
    size_t bytes;
    char *line = conform_suite_read_other(suite, path, &bytes);
    if (!line)
        return false;
    while ((line = conform_suite_fields(line, field, KNOWN_FIELDS)))
        for (size_t i = 0; i < list->rows.n; i++) {
            char id[ROW_ID];
            conform_row_id(&list->rows.v[i], id);
            if (is_chosen(field[0], id, false) && !expect(&list->rows.v[i], field))
                return false;
        }
    return true;
}

bool conform_list_read(struct conform_list *list, struct suite *suite,
                       const struct list_options *options)
{
    *list = (struct conform_list){0};
    bool ok = read_sets(list, suite);
    for (unsigned i = 0; ok && i < list->n_sets; i++)
        if (is_chosen(options->chapters, list->set[i].name, true))
            ok = read_rows(list, &list->set[i], options);
    return ok && (!options->known || read_known(list, suite, options->known));
}

void conform_list_free(struct conform_list *list)
{
    conform_row_free(&list->rows);
}
