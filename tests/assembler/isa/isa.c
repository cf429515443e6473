/* The instruction table against NVIDIA's assembler.
 *
 *   isa forms FILE [N]  each form parses at its lowest pairs of .version and .target (or is known
 *                       but not supported), and is refused one step below either, with a message
 *                       that names what it needs. With N, of the forms that have several pairs
 *                       only every N-th is looked at in all of them, the others in the first
 *   isa all FILE        each form at every target: from its first .version on, and one below
 *   isa mutations FILE  changed forms are judged as ptxas judged them
 *   isa judge           reads "version target context statement" lines (tab-separated) and prints
 *                       a verdict for each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/parse.h"
#include "ir/ir.h"
#include "ir/row.h"
#include "tests/assembler/isa/forms.h"

/* ---- judging --------------------------------------------------------------------------------- */

enum verdict { ACCEPTED, UNSUPPORTED, REFUSED };

struct judgement {
    enum verdict verdict;
    char message[400]; /* of the first error */
};

static struct judgement judge(const char *version, const char *target, const char *context,
                              const char *statement)
{
    static struct form_text text;
    struct judgement j = {.verdict = ACCEPTED};
    forms_begin(&text, version, target, context, &statement, 1);
    forms_add(&text, context, "k", statement);
    struct pt_module m = {.fmad = true};
    jmp_buf oom;
    pt_arena_init(&m.arena, &pt_malloc_allocator);
    m.arena.oom = &oom;
    if (setjmp(oom))
        exit(1);
    bool good = pt_parse(&m, "t.ptx", text.buf, text.n);
    if (!good)
        j.verdict = REFUSED;
    for (uint32_t i = 0; i < m.diags.list.n; i++) {
        const struct pt_diag *d = &m.diags.list.v[i];
        if (good && d->unsupported)
            j.verdict = UNSUPPORTED;
        if ((good ? d->unsupported : d->severity == PT_SEV_ERROR) && !*j.message)
            snprintf(j.message, sizeof j.message, "%u:%u: %s", d->line, d->col, d->message);
    }
    pt_arena_free(&m.arena);
    return j;
}

/* ---- forms ----------------------------------------------------------------------------------- */

struct group {
    const char *name;
    unsigned accepted, unsupported, wrong;
};

static struct group groups[64];

static struct group *group_of(const char *name)
{
    struct group *g = groups;
    while (g->name && strcmp(g->name, name))
        g++;
    if (!g->name)
        g->name = strdup(name);
    return g;
}

/* What the targets up to Hopper accept is supported, but textures, surfaces, what came behind
 * .version 9.0 but for what is listed, and what .version 6.4 withdrew: wmma.mma's .satfinite for
 * f16. */
static bool must_be_supported(const char *group, const char *version, const char *target,
                              const char *s)
{
    bool withdrawn = !strncmp(s, "wmma.mma", 8) && strstr(s, ".satfinite") && !strstr(s, ".s32");
    return atoi(target + 3) <= 90 && forms_number(version) <= 90 && !withdrawn &&
           strcmp(group, "texture") && strcmp(group, "surface");
}

static unsigned shown;

static bool wrong(const char *what, char *column[FORM_COLUMNS], const char *version,
                  const char *target, const struct judgement *j)
{
    if (shown++ < 400)
        printf("%s: .version %s .target %s %s: %s\n    %s\n", what, version, target, column[3],
               column[4], *j->message ? j->message : "accepted");
    return false;
}

static bool is_known_only; /* the form that is being checked is not supported */

/* Whether the verdict there is right; a refusal has `needed` in its message. */
static bool check_at(char *column[FORM_COLUMNS], const struct form_pairs *pairs,
                     const struct pt_target *t, unsigned version, const char *needed)
{
    char context[16], target[16], text[16];
    snprintf(context, sizeof context, "%.*s", (int)strcspn(column[3], " "), column[3]);
    snprintf(target, sizeof target, "%s", forms_target_name(t));
    snprintf(text, sizeof text, "%s", forms_version(version));
    struct judgement j = judge(text, target, context, column[4]);
    if (!forms_accepted(pairs, t, version))
        return (j.verdict == REFUSED && strstr(j.message, needed)) ||
               wrong("accepted", column, text, target, &j);
    if (j.verdict == REFUSED)
        return wrong("refused", column, text, target, &j);
    is_known_only |= j.verdict == UNSUPPORTED;
    if (j.verdict == UNSUPPORTED && must_be_supported(column[0], text, target, column[4]))
        return wrong("not supported", column, text, target, &j);
    return true;
}

/* A target at its first version and one below, and, where a later version withdrew the form, at
 * its last and one above. */
static bool check_target(char *column[FORM_COLUMNS], const struct form_pairs *pairs,
                         const struct pt_target *t)
{
    unsigned from, to;
    if (!forms_versions(pairs, t, &from, &to))
        return check_at(column, pairs, t, FORM_NEWEST, "");
    unsigned before = forms_version_below(from);
    bool ok = check_at(column, pairs, t, from, "");
    if (before >= t->ptx)
        ok &= check_at(column, pairs, t, before, pairs->n > 1 ? "" : forms_version(from));
    if (to < FORM_NEWEST) {
        ok &= check_at(column, pairs, t, to, "");
        ok &= check_at(column, pairs, t, FORM_NEWEST, "");
    }
    return ok;
}

static bool check_pair(char *column[FORM_COLUMNS], const struct form_pairs *pairs,
                       const struct form_pair *p)
{
    bool ok = check_target(column, pairs, p->target);
    unsigned version = p->from ? p->from : FORM_NEWEST;
    const struct pt_target *lower =
        forms_target_below(p->target, version < p->target->ptx ? p->target->ptx : version);
    char needed[16] = "";
    if (pairs->n == 1)
        snprintf(needed, sizeof needed, "%s", forms_target_name(p->target));
    return ok & (!lower || check_at(column, pairs, lower,
                                    version < lower->ptx ? lower->ptx : version, needed));
}

/* At the first pair; with `all`, at each. */
static bool check_form(char *column[FORM_COLUMNS], struct group *g, bool all)
{
    struct form_pairs pairs;
    forms_pairs(&pairs, column);
    is_known_only = false;
    if (!pairs.n)
        return check_at(column, &pairs, forms_target(column[2]), FORM_NEWEST, "");
    bool ok = true;
    for (unsigned i = 0; i < pairs.n; i++)
        ok &= (i && !all) || check_pair(column, &pairs, &pairs.pair[i]);
    *(is_known_only ? &g->unsupported : &g->accepted) += 1;
    return ok;
}

static bool check_everywhere(char *column[FORM_COLUMNS])
{
    struct form_pairs pairs;
    bool ok = true;
    forms_pairs(&pairs, column);
    for (unsigned i = 0; i < pt_n_targets; i++)
        ok &= check_target(column, &pairs, &pt_targets[i]);
    return ok;
}

/* step: see `isa forms`; 0: `isa all`. */
static int test_forms(const char *path, unsigned step)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 2;
    }
    static char line[8192];
    char *column[FORM_COLUMNS];
    unsigned passed = 0, failed = 0, n = 0;
    while (forms_read(f, line, sizeof line, column)) {
        struct group *g = group_of(column[0]);
        if (step ? check_form(column, g, n++ % step == 0) : check_everywhere(column))
            passed++;
        else
            failed++, g->wrong++;
    }
    fclose(f);
    printf("%-16s %9s %12s %6s\n", "group", "accepted", "unsupported", "wrong");
    for (struct group *g = groups; g->name; g++)
        printf("%-16s %9u %12u %6u\n", g->name, g->accepted, g->unsupported, g->wrong);
    printf("isa_%s: %u passed, %u failed, 0 skipped\n", step ? "forms" : "all", passed, failed);
    return failed != 0;
}

/* ---- mutations ------------------------------------------------------------------------------- */

static int test_mutations(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 2;
    }
    static char line[8192];
    char *column[FORM_COLUMNS];
    unsigned passed = 0, failed = 0;
    while (forms_read(f, line, sizeof line, column)) {
        struct judgement j = judge(column[1], column[2], column[3], column[4]);
        bool accepted = j.verdict != REFUSED, want = !strcmp(column[0], "ok");
        if (accepted == want)
            passed++;
        else
            failed++, wrong(want ? "refused" : "accepted", column, column[1], column[2], &j);
    }
    fclose(f);
    printf("isa_mutations: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

static int judge_lines(void)
{
    static const char *const text[] = {"ok", "unsupported", "no"};
    static char line[8192];
    char *column[FORM_COLUMNS];
    while (forms_read(stdin, line, sizeof line, column)) {
        struct judgement j = judge(column[0], column[1], column[2], column[3]);
        printf("%s\t%s\n", text[j.verdict], j.message);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *broken = pt_isa_check();
    if (broken) {
        fprintf(stderr, "the instruction table: %s\n", broken);
        return 1;
    }
    if (argc >= 3 && !strcmp(argv[1], "forms"))
        return test_forms(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 1);
    if (argc == 3 && !strcmp(argv[1], "all"))
        return test_forms(argv[2], 0);
    if (argc == 3 && !strcmp(argv[1], "mutations"))
        return test_mutations(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "judge"))
        return judge_lines();
    fprintf(stderr, "usage: isa forms FILE [N] | all FILE | mutations FILE | judge\n");
    return 2;
}
