/* Reports of ptera conform: text, JSON, JUnit's XML. */
#include "tools/conform_report.h"

#include <string.h>

#include "tools/html.h"
#include "tools/report.h"

/* ---- text ------------------------------------------------------------------------------------ */

/* Rows of one chapter follow each other. */
static size_t chapter_end(const struct conform_rows *rows, size_t from)
{
    size_t end = from;
    while (end < rows->n && rows->v[end].set == rows->v[from].set &&
           !strcmp(rows->v[end].chapter, rows->v[from].chapter))
        end++;
    return end;
}

static void put_text(FILE *out, const struct conform_report *r)
{
    const struct conform_rows *rows = &r->list->rows;
    char id[ROW_ID];
    fprintf(out, "suite %s, level %s: %s, %s, sm_%d, CUDA %d.%d%s%s\n\n%-28s", r->list->version,
            r->level, r->library, r->device->name, r->device->capability, r->device->version / 1000,
            r->device->version % 1000 / 10, r->engine ? ", engine " : "",
            r->engine ? r->engine : "", "chapter");
    for (unsigned v = 0; v < VERDICTS; v++)
        fprintf(out, " %9s", verdict_facts[v].name);
    fprintf(out, "\n");
    for (size_t i = 0, end; i < rows->n; i = end) {
        unsigned counts[VERDICTS] = {0};
        end = chapter_end(rows, i);
        for (size_t k = i; k < end; k++)
            counts[rows->v[k].verdict]++;
        snprintf(id, sizeof id, "%s%s%s", rows->v[i].set->name, *rows->v[i].chapter ? "/" : "",
                 rows->v[i].chapter);
        fprintf(out, "%-28s", id);
        for (unsigned v = 0; v < VERDICTS; v++)
            fprintf(out, " %9u", counts[v]);
        fprintf(out, "\n");
    }
    for (size_t i = 0; i < rows->n; i++) {
        const struct conform_row *row = &rows->v[i];
        const char *known = conform_row_known(row);
        if (row->verdict == VERDICT_CLOSE ||
            (!verdict_facts[row->verdict].is_good && row->verdict != VERDICT_UNTRIED))
            fprintf(out, "\n%s (%s): %s: %s%s%s", conform_row_id(row, id), row->form,
                    verdict_facts[row->verdict].name, row->text, known ? "; known: " : "",
                    known ? known : "");
    }
    fprintf(out, "\n");
}

/* ---- JSON: a row is a line ------------------------------------------------------------------- */

static void put_field(FILE *out, const char *name, const char *text, const char *before)
{
    fprintf(out, "%s\"%s\": ", before, name);
    report_json_string(out, text);
}

static void put_json(FILE *out, const struct conform_report *r)
{
    char id[ROW_ID];
    put_field(out, "suite", r->list->version, "{");
    put_field(out, "level", r->level, ", ");
    put_field(out, "driver", r->library, ", ");
    put_field(out, "engine", r->engine ? r->engine : "", ", ");
    put_field(out, "device", r->device->name, ", ");
    fprintf(out, ", \"capability\": %d, \"cuda\": %d, \"rows\": [", r->device->capability,
            r->device->version);
    for (size_t i = 0; i < r->list->rows.n; i++) {
        const struct conform_row *row = &r->list->rows.v[i];
        put_field(out, "row", conform_row_id(row, id), i ? ",\n{" : "\n{");
        put_field(out, "form", row->form, ", ");
        put_field(out, "verdict", verdict_facts[row->verdict].name, ", ");
        put_field(out, "text", row->text, ", ");
        const char *known = conform_row_known(row);
        put_field(out, "known", known ? known : "", ", ");
        fprintf(out, ", \"seconds\": %.3f}", row->seconds);
    }
    fprintf(out, "\n]}\n");
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    html_put_text(out, text);
    fputc('"', out);
}

static void put_junit(FILE *out, const struct conform_report *r)
{
    const struct conform_rows *rows = &r->list->rows;
    char id[ROW_ID];
    size_t failures = 0, skipped = 0;
    for (size_t i = 0; i < rows->n; i++) {
        failures += !conform_row_passes(&rows->v[i]);
        skipped += conform_row_known(&rows->v[i]) || rows->v[i].verdict == VERDICT_SKIPPED;
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ptera conform\" "
            "tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
            rows->n, failures, skipped);
    for (size_t i = 0; i < rows->n; i++) {
        const struct conform_row *row = &rows->v[i];
        fprintf(out, "<testcase");
        put_attribute(out, "classname", row->set->name);
        put_attribute(out, "name", conform_row_id(row, id));
        const char *known = conform_row_known(row);
        bool is_skipped = known || row->verdict == VERDICT_SKIPPED;
        if (conform_row_passes(row) && !is_skipped) {
            fprintf(out, "/>\n");
            continue;
        }
        fprintf(out, "><%s", is_skipped ? "skipped" : "failure");
        if (!is_skipped)
            put_attribute(out, "type", verdict_facts[row->verdict].name);
        put_attribute(out, "message", known ? known : row->text);
        fprintf(out, ">");
        html_put_text(out, row->form);
        fprintf(out, "</%s></testcase>\n", is_skipped ? "skipped" : "failure");
    }
    fprintf(out, "</testsuite>\n");
}

/* ---- all ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*put)(FILE *out, const struct conform_report *report);
} formats[] = {
    {"text", put_text}, {"json", put_json}, {"junit", put_junit}, {"html", conform_report_html}};
enum { FORMATS = sizeof formats / sizeof *formats };

bool conform_report_knows(const char *format)
{
    for (unsigned i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i].name, format))
            return true;
    return false;
}

bool conform_report_put(FILE *out, const char *format, const struct conform_report *report)
{
    bool passes = true;
    for (unsigned i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i].name, format))
            formats[i].put(out, report);
    for (size_t i = 0; i < report->list->rows.n; i++)
        passes &= conform_row_passes(&report->list->rows.v[i]);
    return passes;
}
