/* Rows of the conformance suite, and what came of them. */
#include "tools/conform/row.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/conform/suite.h"

const struct verdict_fact verdict_facts[VERDICTS] = {
#define VERDICT(id, ...) {__VA_ARGS__},
#include "tools/conform/verdict.def"
};

bool conform_row_add(struct conform_rows *rows, const struct conform_row *row)
{
    if (rows->n == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 1024;
        struct conform_row *v = realloc(rows->v, room * sizeof *v);
        if (!v)
            return false;
        rows->v = v;
        rows->room = room;
    }
    rows->v[rows->n++] = *row;
    return true;
}

void conform_row_tell(struct result *result, enum verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result->verdict = verdict;
    vsnprintf(result->text, sizeof result->text, format, args);
    va_end(args);
}

void conform_row_free(struct conform_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        for (struct row_known *known; (known = rows->v[i].known);) {
            rows->v[i].known = known->next;
            free(known);
        }
        free(rows->v[i].data);
        free(rows->v[i].text);
    }
    free(rows->v);
    *rows = (struct conform_rows){0};
}

bool conform_row_expect(struct conform_row *row, const char *text, const char *why)
{
    struct row_known *known = malloc(sizeof *known);
    if (known)
        *known = (struct row_known){row->known, text, why};
    row->known = known ? known : row->known;
    return known != NULL;
}

const char *conform_row_known(const struct conform_row *row)
{
    for (const struct row_known *k = row->known; k && !verdict_facts[row->verdict].is_good;
         k = k->next)
        if (!k->text || strstr(row->text, k->text))
            return k->why;
    return NULL;
}

bool conform_row_passes(const struct conform_row *row)
{
    return verdict_facts[row->verdict].is_good || conform_row_known(row) != NULL;
}

const char *conform_row_id(const struct conform_row *row, char id[ROW_ID])
{
    snprintf(id, ROW_ID, "%s/%s%s%s", row->set->name, row->chapter, *row->chapter ? "/" : "",
             row->name);
    return id;
}
