/* Branches in HTML: which of them parts of warps took. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/html.h"
#include "tools/html_profile.h"

enum { MOST = 50 /* branches of a kernel, the worst */ };

static int by_split(const void *a, const void *b)
{
    const struct counted_insn *const *x = a, *const *y = b;
    uint64_t p = (*x)->split, q = (*y)->split;
    return p != q ? (p < q ? 1 : -1) : *x < *y ? -1 : *x > *y;
}

static void put_bar(FILE *out, double percent)
{
    fprintf(out, "<td>%.1f</td><td><span class=\"bar\"><i style=\"width:%.1f%%\"></i></span></td>",
            percent, percent);
}

static void put_branch(FILE *out, const struct counted_kernel *k, const struct counted_insn *x)
{
    fputs("<tr><th scope=\"row\" class=\"text\">", out);
    html_source_put_place(out, k, x);
    fprintf(out, "</th><td>%" PRIu64 "</td><td>%" PRIu64 "</td>", x->warps, x->split);
    put_bar(out, x->warps ? 100 * (double)x->split / (double)x->warps : 0);
    put_bar(out, x->lanes ? 100 * (double)x->on / (double)x->lanes : 0);
    fputs("</tr>\n", out);
}

void html_divergence_put(FILE *out, const struct sums *s, unsigned number)
{
    const struct counted_kernel *k = s->kernel;
    const struct counted_insn **v = malloc((k->n + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; v && i < k->n; i++)
        if (metrics_kind(&k->insns[i]) == KIND_BRANCH && k->insns[i].has_guard)
            v[n++] = &k->insns[i];
    fprintf(out,
            "<h3 id=\"k%u-divergence\">Divergence</h3>\n<p>Of 32 lanes %.1f take part in an "
            "instruction, on average; %" PRIu64 " of %" PRIu64
            " branches of warps were taken by a part of their lanes.</p>\n",
            number, s->warps ? (double)s->lanes / (double)s->warps : 0, s->split_branches,
            s->branches);
    if (n) {
        qsort(v, n, sizeof *v, by_split);
        fputs(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Branches\">"
            "<table><thead><tr><th scope=\"col\" class=\"text\">branch</th>"
            "<th scope=\"col\">warps</th><th scope=\"col\">split</th>"
            "<th scope=\"colgroup\" colspan=\"2\">% of warps split</th>"
            "<th scope=\"colgroup\" colspan=\"2\">% of lanes took it</th></tr></thead>\n<tbody>\n",
            out);
        for (size_t i = 0; i < n && i < MOST; i++)
            put_branch(out, k, v[i]);
        fputs("</tbody></table></div>\n", out);
    }
    if (n > MOST)
        fprintf(out, "<p class=\"note\">%zu more branches split less.</p>\n", n - MOST);
    free(v);
}
