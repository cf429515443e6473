/* A conformance suite: its files, out of a folder or a package (docs/conformance.md). */
#ifndef PTERA_TOOLS_CONFORM_SUITE_H
#define PTERA_TOOLS_CONFORM_SUITE_H

#include <stdbool.h>
#include <stddef.h>

struct suite_file {
    struct suite_file *next;
    char *name, *data;
    size_t bytes;
};

struct suite {
    const char *path;
    char *package; /* unpacked, NULL: a folder */
    size_t package_bytes;
    struct suite_file *files; /* those that were asked for */
};

/* A line of suite.tsv. */
struct conform_set {
    const char *name, *kind, *device, *driver, *what;
    unsigned stride[2]; /* quick, full: of the rows every so many */
    int level;          /* how far the driver optimises; -1: as it does by itself */
    struct suite *suite;
};

/* False (and a message): it cannot be read. */
bool conform_suite_open(struct suite *suite, const char *path);
void conform_suite_close(struct suite *suite);

/* A file as "SET/NAME", a zero behind its bytes; it stays until the suite is closed, and may be
 * written to. NULL, and a message: it is not there. */
char *conform_suite_read(struct suite *suite, const char *set, const char *name, size_t *bytes);

/* A file that is not the suite's, by its path, in the same way. */
char *conform_suite_read_other(struct suite *suite, const char *path, size_t *bytes);

/* Cuts the next line of a text into fields at its tabs; those that are missing are "". Returns what
 * follows; NULL: the text has ended. Lines that begin with '#' are left out. */
char *conform_suite_fields(char *text, char **field, unsigned n);

#endif
