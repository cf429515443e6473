/* Rows of the conformance suite, and what came of them. */
#ifndef PTERA_TOOLS_CONFORM_ROW_H
#define PTERA_TOOLS_CONFORM_ROW_H

#include <stdbool.h>
#include <stddef.h>

enum verdict {
#define VERDICT(id, ...) VERDICT_##id,
#include "tools/conform/verdict.def"
    VERDICTS
};

struct verdict_fact {
    const char *name;
    bool is_good;
    const char *what;
};
extern const struct verdict_fact verdict_facts[VERDICTS];

enum { RESULT_TEXT = 1600 };

struct result {
    enum verdict verdict;
    char text[RESULT_TEXT]; /* why, where it is not the same */
};

struct conform_set;

struct row_known {
    struct row_known *next;
    const char *text; /* what the row's text then has, or NULL: whatever it is */
    const char *why;
};

struct conform_row {
    const struct conform_set *set;
    const char *chapter, *name, *form; /* `form`: what is tested, for people */
    void *data;                        /* the kind's, an allocation */
    const char *otherwise;             /* why Ptera's own library does otherwise, or NULL */
    struct row_known *known;           /* ways of not passing that are expected */
    /* what came of it */
    enum verdict verdict;
    char *text; /* NULL: it has not run */
    double seconds;
};

struct conform_rows {
    struct conform_row *v;
    size_t n, room;
};

/* "SET/CHAPTER/NAME", or "SET/NAME". */
enum { ROW_ID = 256 };
const char *conform_row_id(const struct conform_row *row, char id[ROW_ID]);

/* False: no memory. */
bool conform_row_add(struct conform_rows *rows, const struct conform_row *row);

/* Whether it is as it should be, or known not to be. */
bool conform_row_passes(const struct conform_row *row);
/* Why what came of it is known not to pass; NULL: it passes, or is not known. */
const char *conform_row_known(const struct conform_row *row);

/* False: no memory. */
bool conform_row_expect(struct conform_row *row, const char *text, const char *why);

void conform_row_free(struct conform_rows *rows);

__attribute__((format(printf, 3, 4))) void
conform_row_tell(struct result *result, enum verdict verdict, const char *format, ...);

#endif
