/* Findings as JSON. */
#include "tools/report.h"

void report_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", *text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void put_fields(FILE *out, const void *object, const struct report_field *fields)
{
    for (const struct report_field *f = fields; f->name; f++) {
        const void *at = (const char *)object + f->offset;
        const unsigned *word = at;
        fprintf(out, "%s\"%s\": ", f > fields ? ", " : "", f->name);
        switch (f->type) {
        case REPORT_TEXT:
            report_json_string(out, *(const char *const *)at);
            break;
        case REPORT_LONG:
            fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
            break;
        case REPORT_WORD:
            fprintf(out, "%u", *word);
            break;
        case REPORT_FLAG:
            fputs(*word ? "true" : "false", out);
            break;
        case REPORT_DIM:
            fprintf(out, "[%u, %u, %u]", word[0], word[1], word[2]);
            break;
        }
    }
}

void report_json_put(FILE *out, const struct report *report)
{
    fprintf(out, "{\"version\": \"%s\", \"untold\": %llu, \"findings\": [", ptera_version(),
            (unsigned long long)report->untold);
    for (unsigned i = 0; i < report->n; i++) {
        const struct finding *f = &report->v[i];
        fprintf(out, "%s\n{", i ? "," : "");
        put_fields(out, &f->data, report_finding_fields);
        fprintf(out, ", \"by\": [");
        for (unsigned k = 0; k < f->data.parties && k < 2; k++) {
            fprintf(out, "%s{", k ? ", " : "");
            put_fields(out, &f->parties[k], report_party_fields);
            fputc('}', out);
        }
        fprintf(out, "]}");
    }
    fprintf(out, "\n]}\n");
}
