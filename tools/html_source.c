/* Lines of code in HTML, each beside what it does; the more a line runs, the warmer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/html.h"
#include "tools/html_profile.h"
#include "tools/places.h"

enum {
    AROUND = 3,  /* lines without code that are told beside those with it */
    INSTEAD = 3, /* instructions that are told instead of a line whose text is not there */
    COLUMNS = 9
};

void html_source_put_place(FILE *out, const struct counted_kernel *k, const struct counted_insn *x)
{
    html_put_text(out, x->spelling);
    fputs(" at ", out);
    html_put_text(out, x->file_line ? x->file : k->module);
    fprintf(out, ":%u", x->file_line ? x->file_line : x->line);
    if (x->file_line)
        fprintf(out, " (PTX line %u)", x->line);
}

static void put_number(FILE *out, uint64_t n)
{
    if (n)
        fprintf(out, "<td>%" PRIu64 "</td>", n);
    else
        fputs("<td/>", out);
}

static void put_ratio(FILE *out, uint64_t part, uint64_t all)
{
    if (all)
        fprintf(out, "<td>%.1f</td>", (double)part / (double)all);
    else
        fputs("<td/>", out);
}

/* Of five: a line with a fifth of what runs is as warm as it gets. */
static int heat(double percent)
{
    const double from[] = {0.2, 1, 3, 8, 20};
    int level = 0;
    while (level < 5 && percent >= from[level])
        level++;
    return level;
}

static void put_sums(FILE *out, const struct line_sums *s, uint64_t all)
{
    double percent = all ? 100 * (double)s->warps / (double)all : 0;
    put_number(out, s->warps);
    if (heat(percent))
        fprintf(out, "<td class=\"h%d\">%.1f</td>", heat(percent), percent);
    else
        fputs("<td/>", out);
    put_ratio(out, s->lanes, s->warps);
    put_number(out, s->sectors);
    put_ratio(out, s->sectors, s->requests);
    put_number(out, s->wavefronts);
    put_number(out, s->conflicts);
    put_number(out, s->atomics);
}

static void put_code(FILE *out, const char *text, const struct places *p, size_t from, size_t to)
{
    fputs("<td class=\"text\">", out);
    if (*text)
        html_put_text(out, text);
    for (size_t i = from; i < to && !*text; i++) { /* the text is not there */
        if (i > from + INSTEAD) {
            fputs("; ...", out);
            break;
        }
        fputs(i > from ? "; " : "", out);
        html_put_text(out, p->v[i].insn->spelling);
    }
    fputs("</td></tr>\n", out);
}

/* Lines without code between two with it. */
static void put_between(FILE *out, struct source *source, const char *path, unsigned first,
                        unsigned last)
{
    bool is_long = last >= first + 2 * AROUND + 1;
    for (unsigned n = first; n <= last; n++) {
        if (is_long && n == first + AROUND) {
            n = last - AROUND;
            fprintf(out, "<tr><td colspan=\"%d\"/><td class=\"text\">...</td></tr>\n", COLUMNS);
            continue;
        }
        const char *text = places_source_line(source, path, n);
        if (!*text && !source->in)
            return;
        fprintf(out, "<tr><th scope=\"row\">%u</th><td colspan=\"%d\"/>", n, COLUMNS - 1);
        put_code(out, *text ? text : " ", NULL, 0, 0);
    }
}

static void put_head(FILE *out, const char *path)
{
    static const char *const names[] = {"warps", "%",          "lanes",     "sectors",
                                        "each",  "wavefronts", "conflicts", "atomics"};
    static const char *const titles[] = {"instructions of warps",
                                         "of the kernel's instructions",
                                         "threads of an instruction, on average",
                                         "sectors of 32 bytes of global and local memory",
                                         "sectors of a request",
                                         "turns of shared memory",
                                         "turns due to bank conflicts",
                                         "atomic operations of threads"};
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Lines of ", out);
    html_put_text(out, path);
    fputs("\"><table class=\"code\"><caption>", out);
    html_put_text(out, path);
    fputs("</caption>\n<thead><tr><th scope=\"col\">line</th>", out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(out, "<th scope=\"col\" title=\"%s\">%s</th>", titles[i], names[i]);
    fputs("<th scope=\"col\" class=\"text\">code</th></tr></thead>\n<tbody>\n", out);
}

/* The lines of a file. Returns the first place of the next one. */
static size_t put_file(FILE *out, const struct places *p, size_t from, uint64_t all, unsigned *rows)
{
    const char *path = p->v[from].file;
    struct source source = {0};
    unsigned last = p->v[from].line - 1;
    size_t i = from, end;
    last -= last < AROUND ? last : AROUND;
    put_head(out, path);
    for (; i < p->n && !strcmp(p->v[i].file, path); i = end) {
        const struct line_sums s = places_sum(p, i, end = places_line_end(p, i));
        unsigned line = p->v[i].line;
        if (!*rows)
            continue;
        --*rows;
        put_between(out, &source, path, last + 1, line - 1);
        fprintf(out, "<tr><th scope=\"row\">%u</th>", line);
        put_sums(out, &s, all);
        put_code(out, places_source_line(&source, path, line), p, i, end);
        last = line;
    }
    fputs("</tbody></table></div>\n", out);
    places_source_close(&source);
    if (!*rows)
        fputs("<p class=\"note\">The report has no room for more lines: --lines and --ptx-lines "
              "have all.</p>\n",
              out);
    return i;
}

/* Leaves out functions of which nothing ran. */
static void drop_idle(struct places *places, const struct counted_kernel *k)
{
    size_t kept = 0;
    for (size_t first = 0, end; first < places->n; first = end) {
        const char *func = places->v[first].insn->func;
        bool is_run = !strcmp(func, k->name);
        for (end = first; end < places->n && !strcmp(places->v[end].insn->func, func); end++)
            is_run |= places->v[end].insn->warps > 0;
        for (size_t i = first; i < end && is_run; i++)
            places->v[kept++] = places->v[i];
    }
    places->n = kept;
}

bool html_source_put(FILE *out, const struct counted_kernel *k, unsigned number, bool is_ptx,
                     unsigned *rows)
{
    struct places places = {0};
    struct sums s;
    bool has_source = is_ptx;
    for (size_t i = 0; i < k->n; i++)
        has_source |= k->insns[i].file_line != 0;
    if (!has_source)
        return true;
    if (!places_add(&places, k, is_ptx))
        return false;
    drop_idle(&places, k);
    places_sort(&places);
    metrics_sum(&s, k);
    fprintf(out, "<h3 id=\"k%u-%s\">%s</h3>\n", number, is_ptx ? "ptx" : "source",
            is_ptx ? "PTX" : "Source");
    for (size_t i = 0; i < places.n;)
        i = put_file(out, &places, i, s.warps, rows);
    free(places.v);
    return true;
}
