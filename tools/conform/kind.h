/* Kinds of chapters: how a set's rows are listed, and how one is run. */
#ifndef PTERA_TOOLS_CONFORM_KIND_H
#define PTERA_TOOLS_CONFORM_KIND_H

#include "tools/conform/launch.h"
#include "tools/conform/row.h"
#include "tools/conform/suite.h"

struct conform_kind {
    const char *name;
    /* Adds the set's rows. False (and a message): its files are not as they should be. */
    bool (*list)(const struct conform_set *set, struct conform_rows *rows);
    /* In a worker. */
    void (*run)(struct worker *worker, const struct conform_row *row, struct result *result);
    /* What a row loads, for people; to be freed. NULL: no memory. */
    char *(*text)(const struct conform_row *row);
};

/* NULL: there is none. */
const struct conform_kind *conform_kind_find(const char *name);

#endif
