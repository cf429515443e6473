/* Kinds of chapters: how a set's rows are listed, and how one is run. */
#ifndef PTERA_TOOLS_CONFORM_KIND_H
#define PTERA_TOOLS_CONFORM_KIND_H

#include "tools/conform/launch.h"
#include "tools/conform/row.h"
#include "tools/conform/suite.h"

enum { KIND_FIELDS = 11 };

struct conform_kind {
    const char *name;
    const char *table; /* the set's file with a line a row, or several of them; */
    unsigned fields;   /* of a line, at most KIND_FIELDS: the first is whose it is, for people */
    /* Adds what a line says behind the rows of those before. False: it cannot be used. */
    bool (*add)(const struct conform_set *set, char **field, struct conform_rows *rows);
    /* In a worker. */
    void (*run)(struct worker *worker, const struct conform_row *row, struct result *result);
    /* What a row loads, for people; to be freed. NULL: no memory. */
    char *(*text)(const struct conform_row *row);
    bool is_text_of_form; /* rows of one form load the same, which stays loaded from row to row */
};

/* NULL: there is none. */
const struct conform_kind *conform_kind_find(const char *name);

#endif
