/* What checkers found, as read from a file, and reports of it. */
#ifndef PTERA_TOOLS_REPORT_H
#define PTERA_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "ptera.h"

struct finding {
    const char *id; /* NULL: none */
    ptera_finding data;
    ptera_party parties[2];
};

struct report {
    char *text; /* that the findings' own texts lie in */
    struct finding *v;
    unsigned n, current; /* current: that is being read */
    uint64_t untold;     /* what was not told apart any more */
    uint64_t launches;   /* that were looked at */
};

/* A member of a finding, or of a party, as files have it; the last has no name. */
enum report_type { REPORT_TEXT, REPORT_LONG, REPORT_WORD, REPORT_FLAG, REPORT_DIM };
struct report_field {
    const char *name;
    enum report_type type;
    size_t offset;
};
extern const struct report_field report_finding_fields[], report_party_fields[];

/* Reads what ptera_engine_findings_save wrote. False, having said why: the file cannot be read, or
 * there is no memory. */
bool report_read(struct report *report, const char *path);
void report_free(struct report *report);

struct report_format {
    const char *name;
    void (*put)(FILE *out, const struct report *report);
};
/* NULL: there is no such format. */
const struct report_format *report_format(const char *name);

/* The formats. */
void report_text_put(FILE *out, const struct report *report);
void report_json_put(FILE *out, const struct report *report);
void report_sarif_put(FILE *out, const struct report *report);
void report_html_put(FILE *out, const struct report *report);
/* A string of JSON, with its quotes. */
void report_json_string(FILE *out, const char *text);

#endif
