/* The pages of docs/findings, which the build puts into the program. */
#ifndef PTERA_TOOLS_PAGES_H
#define PTERA_TOOLS_PAGES_H

#include <stdbool.h>
#include <stdio.h>

/* False: there is no page of that name. */
bool page_put(FILE *out, const char *name);

#endif
