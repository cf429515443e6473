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

/* ---- a picture: who does what, time going down ----------------------------------------------- */

enum { WIDTH = 800, BOX = 230, FIRST_LINE = 40, STEP = 50 };

/* A box above a line that goes down to `end`, with two lines of text. */
static void put_lifeline(FILE *out, unsigned x, unsigned end, const char *color, const char *above,
                         const char *below)
{
    fprintf(out,
            "<rect x=\"%u\" y=\"2\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"#678\"/>"
            "<path d=\"M%u %d V%u\" stroke=\"#678\" stroke-dasharray=\"2 3\"/><text x=\"%u\" "
            "y=\"17\" text-anchor=\"middle\">",
            x - BOX / 2, BOX, FIRST_LINE - 4, color, x, FIRST_LINE - 2, end, x);
    html_put_text(out, above);
    fprintf(out, "</text><text x=\"%u\" y=\"32\" text-anchor=\"middle\">", x);
    html_put_text(out, below);
    fprintf(out, "</text>\n");
}

static void put_who(FILE *out, unsigned x, unsigned end, const ptera_party *p)
{
    char cta[64] = "the host", thread[64] = "";
    if (p->is_thread) {
        snprintf(cta, sizeof cta, "CTA (%u,%u,%u)", p->cta[0], p->cta[1], p->cta[2]);
        snprintf(thread, sizeof thread, "thread (%u,%u,%u)", p->thread[0], p->thread[1],
                 p->thread[2]);
    }
    put_lifeline(out, x, end, "#def", cta, p->is_thread ? thread : p->file);
}

/* What it does, on its way from its line to that of the memory. */
static void put_act(FILE *out, unsigned x, unsigned to, unsigned y, unsigned number,
                    const ptera_party *p)
{
    fprintf(out, "<circle cx=\"%u\" cy=\"%u\" r=\"4\" fill=\"#345\"/>", x, y);
    if (*p->action)
        fprintf(out,
                "<path d=\"M%u %u H%u\" stroke=\"#345\"/><circle cx=\"%u\" cy=\"%u\" r=\"4\" "
                "fill=\"#fff\" stroke=\"#345\"/>",
                x, y, to, to, y);
    fprintf(out, "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%u. %s", (x + to) / 2, y - 6,
            number, p->action);
    if (p->line)
        fprintf(out, "%sline %u", *p->action ? ", " : "", p->line);
    fprintf(out, "</text>\n");
}

/* What the other did comes first. */
static void put_picture(FILE *out, const struct finding *f)
{
    enum { LEFT = 120, MIDDLE = WIDTH / 2, RIGHT = WIDTH - 120 };
    const ptera_party *by = &f->parties[0], *other = &f->parties[1];
    bool has_other = f->data.parties > 1;
    unsigned y = FIRST_LINE + STEP / 2, end = y + (has_other ? STEP : 0) + 20;
    fprintf(out, "<svg width=\"%d\" height=\"%u\" role=\"img\">\n", WIDTH, end + 4);
    if (has_other)
        put_who(out, LEFT, end, other);
    if (*by->what)
        put_lifeline(out, MIDDLE, end, "#fed", by->what, "");
    put_who(out, has_other ? RIGHT : LEFT, end, by);
    if (has_other) {
        put_act(out, LEFT, MIDDLE, y, 1, other);
        put_act(out, RIGHT, MIDDLE, y + STEP, 2, by);
    } else {
        put_act(out, LEFT, MIDDLE, y, 1, by);
    }
    fprintf(out, "</svg>\n");
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
