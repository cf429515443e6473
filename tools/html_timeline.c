/* When launches ran, by stream, in HTML. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/html.h"
#include "tools/html_profile.h"

enum {
    WIDTH = 1180,
    LEFT = 110,
    RIGHT = 12,
    ROW = 22,
    TOP = 26,
    ROWS = 12,   /* what more streams did is drawn in the last one */
    BARS = 2000, /* that are drawn */
    COLOURS = 4
};

struct bar {
    size_t kernel;
    struct counted_run run;
};

struct row {
    uint64_t stream; /* its number */
    bool has_more;   /* further ones are in it */
    size_t n;
    uint64_t begun, end, busy;
};

struct timeline {
    struct bar *bars; /* as they began */
    size_t n;
    uint64_t begun, end;
    struct row rows[ROWS];
    unsigned n_rows;
};

static int by_begin(const void *a, const void *b)
{
    uint64_t x = ((const struct bar *)a)->run.begun, y = ((const struct bar *)b)->run.begun;
    return x < y ? -1 : x > y;
}

/* All launches that are known, in order. False: no memory. */
static bool find_bars(struct timeline *t, const struct counts *counts)
{
    size_t room = 0;
    for (size_t i = 0; i < counts->n; i++)
        room += counts->v[i].n_runs;
    t->bars = malloc((room + 1) * sizeof *t->bars);
    for (size_t i = 0; t->bars && i < counts->n; i++)
        for (size_t k = 0; k < counts->v[i].n_runs; k++)
            t->bars[t->n++] = (struct bar){i, counts->v[i].runs[k]};
    if (t->bars)
        qsort(t->bars, t->n, sizeof *t->bars, by_begin);
    return t->bars;
}

static struct row *find_row(struct timeline *t, uint64_t stream)
{
    unsigned i = 0;
    while (i < t->n_rows && t->rows[i].stream != stream)
        i++;
    if (i == ROWS) {
        t->rows[ROWS - 1].has_more = true;
        return &t->rows[ROWS - 1];
    }
    if (i == t->n_rows)
        t->rows[t->n_rows++] = (struct row){.stream = stream, .begun = UINT64_MAX};
    return &t->rows[i];
}

static void sum_rows(struct timeline *t)
{
    t->begun = t->n ? t->bars[0].run.begun : 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct counted_run *run = &t->bars[i].run;
        struct row *row = find_row(t, run->stream);
        uint64_t end = run->begun + run->ns;
        row->n++;
        row->busy += run->ns;
        row->begun = run->begun < row->begun ? run->begun : row->begun;
        row->end = end > row->end ? end : row->end;
        t->end = end > t->end ? end : t->end;
    }
}

/* ---- as a picture ---------------------------------------------------------------------------- */

static double ms_of(const struct timeline *t, uint64_t when)
{
    return 1e-6 * (double)(when - t->begun);
}

static void put_name(FILE *out, const struct row *row)
{
    if (row->has_more)
        fputs("other streams", out);
    else if (row->stream)
        fprintf(out, "stream %" PRIu64, row->stream);
    else
        fputs("default stream", out);
}

static void put_bar(FILE *out, struct timeline *t, const struct bar *bar,
                    const struct counts *counts)
{
    const struct counted_run *run = &bar->run;
    double scale = (WIDTH - LEFT - RIGHT) / (t->end > t->begun ? ms_of(t, t->end) : 1);
    double width = 1e-6 * (double)run->ns * scale;
    fprintf(out, "<rect class=\"bar%zu\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>",
            bar->kernel % COLOURS, LEFT + ms_of(t, run->begun) * scale,
            TOP + (int)(find_row(t, run->stream) - t->rows) * ROW, width < 1 ? 1 : width, ROW - 4);
    fprintf(out, "%zu: ", bar->kernel);
    html_put_text(out, counts->v[bar->kernel].name);
    fprintf(out, ", %.3f ms from %.3f ms on</title></rect>\n", 1e-6 * (double)run->ns,
            ms_of(t, run->begun));
}

static void put_picture(FILE *out, struct timeline *t, const struct counts *counts)
{
    int height = TOP + (int)t->n_rows * ROW + 6;
    fprintf(out,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline\">"
            "<svg class=\"long\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"%zu launches within %.3f ms; the table below has their streams\">\n"
            "<text x=\"%d\" y=\"16\">0</text><text x=\"%d\" y=\"16\" text-anchor=\"end\">%.3f ms"
            "</text>\n",
            WIDTH, height, WIDTH, height, t->n, ms_of(t, t->end), LEFT, WIDTH - RIGHT,
            ms_of(t, t->end));
    for (unsigned i = 0; i < t->n_rows; i++) {
        fprintf(out, "<text x=\"6\" y=\"%d\">", TOP + (int)i * ROW + 14);
        put_name(out, &t->rows[i]);
        fputs("</text>\n", out);
    }
    for (size_t i = 0; i < t->n && i < BARS; i++)
        put_bar(out, t, &t->bars[i], counts);
    fputs("</svg></div>\n", out);
}

/* ---- as a table ------------------------------------------------------------------------------ */

static void put_table(FILE *out, const struct timeline *t)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Streams\"><table>"
          "<caption>Streams; times are milliseconds after the first launch began</caption>"
          "<thead><tr><th scope=\"col\" class=\"text\">stream</th><th scope=\"col\">launches</th>"
          "<th scope=\"col\">begins</th><th scope=\"col\">ends</th><th scope=\"col\">sum of "
          "launches</th></tr></thead>\n<tbody>\n",
          out);
    for (unsigned i = 0; i < t->n_rows; i++) {
        const struct row *row = &t->rows[i];
        fputs("<tr><th scope=\"row\" class=\"text\">", out);
        put_name(out, row);
        fprintf(out, "</th><td>%zu</td><td>%.3f</td><td>%.3f</td><td>%.3f</td></tr>\n", row->n,
                ms_of(t, row->begun), ms_of(t, row->end), 1e-6 * (double)row->busy);
    }
    fputs("</tbody></table></div>\n", out);
}

bool html_timeline_put(FILE *out, const struct counts *counts)
{
    struct timeline t = {0};
    uint64_t launches = 0;
    if (!find_bars(&t, counts))
        return false;
    sum_rows(&t);
    for (size_t i = 0; i < counts->n; i++)
        launches += counts->v[i].launches;
    fputs("<h2 id=\"timeline\">Timeline</h2>\n<p class=\"note\">When launches ran here, while they "
          "were counted. Calls of CUDA, copies and graphs are in the timeline of ptera profile "
          "--trace.</p>\n",
          out);
    if (t.n)
        put_picture(out, &t, counts);
    if (t.n > BARS)
        fprintf(out, "<p class=\"note\">Of them the first %d are drawn.</p>\n", BARS);
    put_table(out, &t);
    if (launches > t.n)
        fprintf(out, "<p class=\"note\">%" PRIu64 " later launches are left out.</p>\n",
                launches - t.n);
    free(t.bars);
    return true;
}
