/* For programs that run kernels in which nothing is wrong: with PTERA_OBSERVE naming checkers in
 * the environment all their launches are checked, and this says what was found. PTERA_KNOWN names a
 * file of what is known to be there (known.txt): lines KIND KERNEL FILE, patterns of the shell, and
 * the reason. */
#ifndef PTERA_TESTS_CHECK_FOUND_H
#define PTERA_TESTS_CHECK_FOUND_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptera.h"

static inline bool found_is_known(const ptera_finding *f, const char *file)
{
    const char *path = getenv("PTERA_KNOWN");
    FILE *in = path ? fopen(path, "r") : NULL;
    char line[512], kind[64], kernel[64], pattern[64];
    bool is_known = false;
    while (in && !is_known && fgets(line, sizeof line, in))
        is_known = *line != '#' && sscanf(line, "%63s %63s %63s", kind, kernel, pattern) == 3 &&
                   !fnmatch(kind, f->kind, 0) && !fnmatch(kernel, f->kernel, 0) &&
                   !fnmatch(pattern, file, 0);
    if (in)
        fclose(in);
    return is_known;
}

/* Leaves out findings up to now: *n is set to how many there are. */
static inline void found_skip(const ptera_engine *engine, unsigned *n)
{
    ptera_finding f = {.size = sizeof f};
    while (ptera_engine_finding(engine, *n, &f) == PTERA_OK)
        ++*n;
}

/* Prints the findings that are no notes and not known, those behind the first *n, and sets *n to
 * how many there are in all. Returns how many it printed. */
static inline unsigned found_print(const ptera_engine *engine, unsigned *n)
{
    ptera_finding f = {.size = sizeof f};
    unsigned printed = 0;
    for (; ptera_engine_finding(engine, *n, &f) == PTERA_OK; ++*n) {
        ptera_party by = {.size = sizeof by};
        ptera_engine_finding_party(engine, *n, 0, &by);
        if (f.is_note || found_is_known(&f, by.file ? by.file : ""))
            continue;
        printf("FOUND %s in %s: %s\n", f.kind, f.kernel, f.text);
        printed++;
    }
    return printed;
}

#endif
