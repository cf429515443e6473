/* Findings that are not to be told. */
#include "tools/suppress.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

enum { WORD = 512 };

static bool is_at(const char *pattern, const char *file, unsigned line)
{
    char place[2 * WORD];
    snprintf(place, sizeof place, "%s:%u", file, line);
    return fnmatch(pattern, place, 0) == 0;
}

static bool is_named(const struct finding *f, const char *kind, const char *kernel,
                     const char *place)
{
    const ptera_party *by = &f->parties[0];
    return fnmatch(kind, f->data.kind, 0) == 0 && fnmatch(kernel, f->data.kernel, 0) == 0 &&
           (is_at(place, by->file, by->line) || is_at(place, by->source, by->source_line));
}

static void take_out(struct report *report, const char *kind, const char *kernel, const char *place)
{
    unsigned left = 0;
    for (unsigned i = 0; i < report->n; i++)
        if (!is_named(&report->v[i], kind, kernel, place))
            report->v[left++] = report->v[i];
    report->n = left;
}

bool suppress_findings(struct report *report, const char *path)
{
    char line[4 * WORD], kind[WORD], kernel[WORD], place[WORD];
    FILE *in = fopen(path, "re");
    bool is_good = in;
    if (!in)
        fprintf(stderr, "ptera check: cannot read %s: %s\n", path, strerror(errno));
    for (unsigned number = 1; is_good && fgets(line, sizeof line, in); number++) {
        line[strcspn(line, "#")] = 0;
        int n = sscanf(line, "%511s %511s %511s", kind, kernel, place);
        if (n == 3)
            take_out(report, kind, kernel, place);
        is_good = n == 3 || n <= 0;
        if (!is_good)
            fprintf(stderr, "ptera check: %s:%u: not KIND KERNEL PLACE\n", path, number);
    }
    if (in)
        fclose(in);
    return is_good;
}

void suppress_put(FILE *out, const struct report *report)
{
    for (unsigned i = 0; i < report->n; i++) {
        const struct finding *f = &report->v[i];
        const ptera_party *by = &f->parties[0];
        fprintf(out, "%s %s %s:%u\n", f->data.kind, *f->data.kernel ? f->data.kernel : "*",
                *by->file ? by->file : "*", by->line);
    }
}
