/* Findings as one HTML page that needs nothing else: each with its source, those who take part, and
 * a picture of who accesses what. */
#include <string.h>

#include "tools/html.h"
#include "tools/report.h"

/* Lines around one, if the file is there. */
static void put_source(FILE *out, const char *path, unsigned number)
{
    enum { AROUND = 3 };
    char line[512];
    FILE *in = number ? fopen(path, "re") : NULL;
    if (!in)
        return;
    fprintf(out, "<pre>");
    for (unsigned n = 1; fgets(line, sizeof line, in) && n <= number + AROUND; n++) {
        if (n + AROUND < number)
            continue;
        line[strcspn(line, "\n")] = 0;
        fprintf(out, "%s%5u  ", n == number ? "<b class=\"at\">" : "", n);
        html_put_text(out, line);
        fprintf(out, "%s\n", n == number ? "</b>" : "");
    }
    fprintf(out, "</pre>\n");
    fclose(in);
}

static void put_row(FILE *out, const char *name, const char *value)
{
    if (!*value)
        return;
    fprintf(out, "<tr><td>%s</td><td>", name);
    html_put_text(out, value);
    fprintf(out, "</td></tr>\n");
}

static void put_party(FILE *out, const ptera_party *p, const char *name)
{
    char text[256];
    fprintf(out, "<h3>%s</h3>\n<table>\n", name);
    if (p->is_thread) {
        snprintf(text, sizeof text, "(%u,%u,%u) of CTA (%u,%u,%u)", p->thread[0], p->thread[1],
                 p->thread[2], p->cta[0], p->cta[1], p->cta[2]);
        put_row(out, "thread", text);
    }
    put_row(out, "function", p->function);
    put_row(out, "does", p->action);
    put_row(out, "what", p->what);
    put_row(out, "the address is", p->allocation);
    put_row(out, "source", p->frames);
    put_row(out, "instruction", p->instruction);
    fprintf(out, "</table>\n");
    if (*p->source)
        put_source(out, p->source, p->source_line);
    put_source(out, p->file, p->line);
}

static void put_box(FILE *out, unsigned y, const ptera_party *p)
{
    fprintf(out,
            "<rect x=\"4\" y=\"%u\" width=\"250\" height=\"40\" fill=\"#def\" stroke=\"#678\"/>"
            "<text x=\"12\" y=\"%u\">CTA (%u,%u,%u)</text><text x=\"12\" y=\"%u\">thread "
            "(%u,%u,%u), line %u</text><path d=\"M254 %u L380 60\" stroke=\"#678\"/>"
            "<text x=\"280\" y=\"%u\">%s</text>\n",
            y, y + 16, p->cta[0], p->cta[1], p->cta[2], y + 32, p->thread[0], p->thread[1],
            p->thread[2], p->line, y + 20, y + 14, p->action);
}

/* Threads on the left, what they access on the right. */
static void put_picture(FILE *out, const struct finding *f)
{
    if (!f->parties[0].is_thread)
        return;
    fprintf(out, "<svg width=\"720\" height=\"124\" role=\"img\">\n");
    put_box(out, 6, &f->parties[0]);
    if (f->data.parties > 1 && f->parties[1].is_thread)
        put_box(out, 74, &f->parties[1]);
    fprintf(out, "<rect x=\"380\" y=\"40\" width=\"330\" height=\"40\" fill=\"#fed\" "
                 "stroke=\"#876\"/><text x=\"390\" y=\"64\">");
    html_put_text(out, f->parties[0].what);
    fprintf(out, "</text></svg>\n");
}

static void put_finding(FILE *out, const struct finding *f)
{
    fprintf(out, "<section><h2>");
    html_put_text(out, f->data.message);
    fprintf(out, "</h2>\n<p>%s%s, kernel ", f->data.kind, f->data.is_note ? " (a note)" : "");
    html_put_text(out, *f->data.kernel ? f->data.kernel : "none");
    fprintf(out, ", %llu time%s</p>\n", (unsigned long long)f->data.count,
            f->data.count > 1 ? "s" : "");
    put_picture(out, f);
    put_party(out, &f->parties[0], "Found at");
    if (f->data.parties > 1)
        put_party(out, &f->parties[1], "The other");
    fprintf(out, "</section>\n");
}

void report_html_put(FILE *out, const struct report *report)
{
    html_begin(out, "ptera check");
    fprintf(out, "<p>%u finding%s</p>\n", report->n, report->n == 1 ? "" : "s");
    if (report->untold)
        fprintf(out, "<p>%llu more findings are not told apart</p>\n",
                (unsigned long long)report->untold);
    for (unsigned i = 0; i < report->n; i++)
        put_finding(out, &report->v[i]);
    html_end(out);
}
