/* The rows of a suite that are asked for. */
#ifndef PTERA_TOOLS_CONFORM_LIST_H
#define PTERA_TOOLS_CONFORM_LIST_H

#include "tools/conform/row.h"
#include "tools/conform/suite.h"

enum { LIST_SETS = 64 };

struct conform_list {
    struct conform_set set[LIST_SETS];
    unsigned n_sets;
    const char *version; /* of the suite */
    struct conform_rows rows;
};

struct list_options {
    const char *chapters; /* separated by commas: how a row's id begins; NULL: all */
    const char *row;      /* a part of its id or form; NULL: all */
    bool is_full;
    bool is_own;       /* of Ptera's own library */
    const char *known; /* a file: rows that do not pass, and why; NULL: none */
};

/* Reads suite.tsv and the chapters. False, and a message: it cannot be read. */
bool conform_list_read(struct conform_list *list, struct suite *suite,
                       const struct list_options *options);
void conform_list_free(struct conform_list *list);

#endif
