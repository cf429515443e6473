/* Who accesses what: of each instruction the warp that was the worst, as data for the script of the
 * page (tools/html/access.js), which draws the one that is chosen. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/html.h"
#include "tools/html_profile.h"

enum { MOST = 400 /* instructions of a kernel, the worst */ };

static int by_parts(const void *a, const void *b)
{
    const struct counted_insn *const *x = a, *const *y = b;
    unsigned p = (*x)->worst->parts, q = (*y)->worst->parts;
    return p != q ? (p < q ? 1 : -1) : *x < *y ? -1 : *x > *y;
}

static void put_option(FILE *out, const struct counted_kernel *k, const struct counted_insn *x)
{
    const struct counted_worst *w = x->worst;
    static const char *const units[] = {"sectors", "sectors", "wavefronts", "words", "sectors"};
    fprintf(out, "<option value=\"%d %u %u %u %" PRIu64 " %u", (int)w->space, w->bytes, w->lanes,
            w->parts, w->cta, w->warp);
    for (unsigned left = w->lanes; left; left &= left - 1)
        fprintf(out, " %" PRIu64, w->address[__builtin_ctz(left)]);
    fprintf(out, "\">%u %s: ", w->parts, units[w->space]);
    html_source_put_place(out, k, x);
    fputs("</option>\n", out);
}

void html_access_put(FILE *out, const struct counted_kernel *k, unsigned number)
{
    const struct counted_insn **v = malloc((k->n + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; v && i < k->n; i++)
        if (k->insns[i].worst)
            v[n++] = &k->insns[i];
    if (!n) {
        free(v);
        return;
    }
    qsort(v, n, sizeof *v, by_parts);
    fprintf(out,
            "<h3 id=\"k%u-access\">Memory access</h3>\n<p class=\"note\">Of each instruction the "
            "warp that asked for the most at once: which lane accesses which sector of 32 bytes, "
            "or which bank.</p>\n<noscript><p>The picture needs scripts.</p></noscript>\n"
            "<p><label for=\"k%u-choice\">Instruction </label><select id=\"k%u-choice\" "
            "class=\"access\" aria-controls=\"k%u-picture\">\n",
            number, number, number, number);
    for (size_t i = 0; i < n && i < MOST; i++)
        put_option(out, k, v[i]);
    fprintf(out, "</select></p>\n<div id=\"k%u-picture\" aria-live=\"polite\"></div>\n", number);
    if (n > MOST)
        fprintf(out, "<p class=\"note\">%zu more instructions are left out.</p>\n", n - MOST);
    free(v);
}
