/* What was counted as one page that needs nothing else. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/estimate.h"
#include "tools/html.h"
#include "tools/html_profile.h"
#include "tools/pages.h"
#include "tools/profile_report.h"

enum { ROWS = 16000 /* lines of code of all kernels together */ };

static void put_shape(FILE *out, const struct counted_kernel *k)
{
    fprintf(out, "(%u, %u, %u)x(%u, %u, %u)", k->grid[0], k->grid[1], k->grid[2], k->block[0],
            k->block[1], k->block[2]);
}

/* ---- all kernels ----------------------------------------------------------------------------- */

struct column {
    const char *title, *metric;
};

static const struct column columns[] = {
    {"lanes", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"load %", "gld_efficiency"},
    {"store %", "gst_efficiency"},
    {"branch %", "branch_efficiency"},
    {"occupancy %", "sm__maximum_warps_per_active_cycle_pct"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Whether one of them has an estimated time. */
static bool is_estimated(const struct counts *counts)
{
    bool is = false;
    for (size_t i = 0; i < counts->n; i++)
        is |= counts->v[i].is_timed;
    return is;
}

static void put_row(FILE *out, const struct counts *counts, size_t number)
{
    const struct counted_kernel *k = &counts->v[number];
    struct sums s;
    metrics_sum(&s, k);
    fprintf(out, "<tr><td>%zu</td><th scope=\"row\" class=\"text\"><a href=\"#k%zu\">", number,
            number);
    html_put_text(out, k->name);
    fputs("</a></th><td class=\"text\">", out);
    put_shape(out, k);
    fprintf(out, "</td><td>%" PRIu64 "</td><td>%.2f</td><td>%" PRIu64 "</td>", k->launches,
            1e-6 * (double)k->ns, s.warps);
    if (k->is_timed)
        fprintf(out, "<td>%.2f</td>", 1e-3 * s.estimate.ns);
    else if (is_estimated(counts))
        fputs("<td/>", out);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, "<td>%.1f</td>",
                metrics_value(metrics_find(columns[i].metric, strlen(columns[i].metric)), &s));
    fprintf(out, "<td>%" PRIu64 "</td></tr>\n",
            s.access[KIND_LOAD][COUNTED_SHARED].sum.conflicts +
                s.access[KIND_STORE][COUNTED_SHARED].sum.conflicts);
}

static void put_kernels(FILE *out, const struct counts *counts)
{
    fputs("<h2 id=\"kernels\">Kernels</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Kernels\"><table><caption>Each kernel in each shape of its launches; "
          "instructions are those of warps, the time is that of counting here</caption>\n"
          "<thead><tr><th scope=\"col\">#</th><th scope=\"col\" class=\"text\">kernel</th>"
          "<th scope=\"col\" class=\"text\">(grid)x(block)</th><th scope=\"col\">launches</th>"
          "<th scope=\"col\">ms</th><th scope=\"col\">instructions</th>",
          out);
    if (is_estimated(counts))
        fputs("<th scope=\"col\" title=\"of a launch on the device, by a model\">estimated us</th>",
              out);
    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, "<th scope=\"col\" title=\"%s\">%s</th>", columns[i].metric, columns[i].title);
    fputs(
        "<th scope=\"col\" title=\"bank conflicts of shared memory\">conflicts</th></tr></thead>\n"
        "<tbody>\n",
        out);
    for (size_t i = 0; i < counts->n; i++)
        put_row(out, counts, i);
    fputs("</tbody></table></div>\n", out);
}

/* ---- each ------------------------------------------------------------------------------------ */

/* What limits it: lines of text, which become a list. False: no memory. */
static bool put_hints(FILE *out, const struct sums *s)
{
    char *text = NULL, *at;
    size_t n = 0;
    FILE *lines = open_memstream(&text, &n);
    if (lines && s->kernel->is_timed)
        estimate_put(lines, s);
    if (lines)
        profile_report_put_hints(lines, s);
    bool is_good = lines && fclose(lines) == 0;
    if (is_good && n) {
        fputs("<h3>What limits it</h3>\n<ul>\n", out);
        for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
            fputs("<li>", out);
            html_put_text(out, line + strspn(line, " "));
            fputs("</li>\n", out);
        }
        fputs("</ul>\n", out);
    }
    free(text);
    return is_good;
}

static bool put_kernel(FILE *out, const struct counted_kernel *k, unsigned number, unsigned *rows)
{
    struct sums s;
    metrics_sum(&s, k);
    fprintf(out, "<section aria-labelledby=\"k%u\">\n<h2 id=\"k%u\">%u: ", number, number, number);
    html_put_text(out, k->name);
    fputc(' ', out);
    put_shape(out, k);
    fputs("</h2>\n<p><a href=\"#kernels\">All kernels</a></p>\n", out);
    bool is_good = put_hints(out, &s) && html_source_put(out, k, number, false, rows) &&
                   html_source_put(out, k, number, true, rows);
    html_access_put(out, k, number);
    html_divergence_put(out, &s, number);
    html_occupancy_put(out, k, number);
    fputs("</section>\n", out);
    return is_good;
}

bool profile_report_put_html(FILE *out, const struct counts *counts)
{
    unsigned rows = ROWS;
    bool is_good = true;
    html_begin(out, "ptera profile");
    fputs("<nav aria-label=\"Parts\"><a href=\"#kernels\">Kernels</a> <a href=\"#roofline\">"
          "Roofline</a> <a href=\"#timeline\">Timeline</a></nav>\n<main>\n",
          out);
    put_kernels(out, counts);
    html_roofline_put(out, counts);
    is_good = html_timeline_put(out, counts);
    for (unsigned i = 0; is_good && i < counts->n; i++)
        is_good = put_kernel(out, &counts->v[i], i, &rows);
    fputs("</main>\n<script>\n", out);
    fputs(page_find("tools/html", "access"), out);
    fputs("</script>\n", out);
    html_end(out);
    return is_good;
}
