/* Reports of ptera conform. */
#ifndef PTERA_TOOLS_CONFORM_REPORT_H
#define PTERA_TOOLS_CONFORM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/conform/list.h"
#include "tools/conform/pool.h"

struct conform_report {
    const char *library, *engine, *level; /* `engine`: NULL, none was asked for */
    const struct pool_device *device;
    const struct conform_list *list;
};

bool conform_report_knows(const char *format);
/* True: each row passes, or is known not to. */
bool conform_report_put(FILE *out, const char *format, const struct conform_report *report);

/* A table, in HTML, of reports in JSON side by side. Returns the exit status. */
int conform_compare_put(FILE *out, char **paths, int n);
void conform_report_html(FILE *out, const struct conform_report *report);

#endif
