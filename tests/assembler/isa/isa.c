/* The instruction table against NVIDIA's assembler.
 *
 *   isa forms FILE [N]  each form parses at its lowest pairs of .version and .target (or is known
 * but not supported), and is refused one step below either, with a message that names what it
 * needs. With N, of the forms that have several pairs only every N-th is looked at in all of them,
 * the others in the first isa all FILE        each form at every target: from its first .version
 * on, and one below isa mutations FILE  changed forms are judged as ptxas judged them isa judge
 * reads "version target context statement" lines (tab-separated) and prints a verdict for each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/parse.h"
#include "ir/ir.h"
#include "ir/row.h"

/* ---- a module around one statement ----------------------------------------------------------- */

/* What a statement may name, and how it is declared. */
static const struct {
    const char *name;
    bool digit; /* a digit follows the name */
    char place; /* r: register, m: module, l: local variable, k: kernel parameter */
    const char *text;
} names[] = {
    {"%p", true, 'r', ".reg .pred %p<10>;"},
    {"%b", true, 'r', ".reg .b8 %b<10>;"},
    {"%rs", true, 'r', ".reg .b16 %rs<80>;"},
    {"%r", true, 'r', ".reg .b32 %r<300>;"},
    {"%f", true, 'r', ".reg .f32 %f<300>;"},
    {"%rd", true, 'r', ".reg .b64 %rd<80>;"},
    {"%fd", true, 'r', ".reg .f64 %fd<80>;"},
    {"%rq", true, 'r', ".reg .b128 %rq<10>;"},
    {"g_buf", false, 'm', ".global .align 128 .b8 g_buf[4096];"},
    {"c_buf", false, 'm', ".const .align 128 .b8 c_buf[4096];"},
    {"s_buf", false, 'm', ".shared .align 128 .b8 s_buf[4096];"},
    {"s_bar", false, 'm', ".shared .align 8 .b64 s_bar;"},
    {"g_tex", false, 'm', ".global .texref g_tex;"},
    {"g_smp", false, 'm', ".global .samplerref g_smp;"},
    {"g_srf", false, 'm', ".global .surfref g_srf;"},
    {"fn_v", false, 'm', ".func fn_v { ret; }"},
    {"fn_i", false, 'm',
     ".func (.param .b32 fo) fn_i (.param .b32 fi) { .reg .b32 a; ld.param.b32 a, [fi]; "
     "st.param.b32 [fo], a; ret; }"},
    {"fn_r", false, 'm', ".func (.reg .b32 fo) fn_r (.reg .b32 fi) { mov.b32 fo, fi; ret; }"},
    {"fn_a", false, 'm',
     ".func (.param .align 16 .b8 fo[32]) fn_a (.param .align 16 .b8 fi[32], .param .b64 fj) { "
     "ret; }"},
    {"g_tab", false, 'm', ".global .u64 g_tab[2] = {fn_i, fn_i};"},
    {"k_2", false, 'm', ".entry k_2 { ret; }"},
    {"l_buf", false, 'l', ".local .align 128 .b8 l_buf[1024];"},
    {"kp", false, 'k', ".param .b64 kp"},
    {"kb", false, 'k', ".param .align 16 .b8 kb[64]"},
    {"ktm", false, 'k', ".param .align 64 .b8 ktm[128]"},
};
enum { N_NAMES = sizeof names / sizeof *names };

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

static bool mentions(const char *s, unsigned i)
{
    const char *name = names[i].name;
    size_t n = strlen(name);
    for (const char *at = strstr(s, name); at; at = strstr(at + 1, name)) {
        bool starts = at == s || !is_word(at[-1]);
        bool digit = at[n] >= '0' && at[n] <= '9';
        if (starts && (names[i].digit ? digit : !is_word(at[n])))
            return true;
    }
    return !strcmp(name, "fn_i") && strstr(s, "g_tab");
}

struct text {
    char buf[1 << 16];
    size_t n;
};

static void put(struct text *t, const char *s)
{
    size_t n = strlen(s);
    if (t->n + n >= sizeof t->buf)
        abort();
    memcpy(t->buf + t->n, s, n + 1);
    t->n += n;
}

static void declare(struct text *t, const char *statement, char place, const char *between)
{
    bool first = true;
    for (unsigned i = 0; i < N_NAMES; i++)
        if (names[i].place == place && mentions(statement, i)) {
            put(t, first ? "" : between);
            put(t, names[i].text);
            first = false;
        }
}

/* `@` stands for a number, except before a guard and in @@DWARF; a backslash followed by n for the
 * end of a line. */
static void put_statement(struct text *t, const char *s)
{
    for (; *s; s++) {
        char one[2] = {*s, 0};
        bool guard = s[1] == '%' || s[1] == '!';
        if (*s == '@' && !strncmp(s, "@@DWARF", 7)) {
            put(t, "@@");
            s++;
        } else if (s[0] == '\\' && s[1] == 'n') {
            put(t, "\n");
            s++;
        } else {
            put(t, *s == '@' && !guard ? "1" : one);
        }
    }
}

/* Contexts: entry; indep (texmode_independent); func; module (a statement at module scope), cmod
 * (the same, for ptxas -c), indepmod. */
static void build(struct text *t, const char *version, const char *target, const char *context,
                  const char *s)
{
    t->n = 0;
    put(t, ".version ");
    put(t, version);
    put(t, "\n.target ");
    put(t, target);
    put(t, !strncmp(context, "indep", 5) ? ", texmode_independent\n" : "\n");
    put(t, atof(version) >= 2.25 ? ".address_size 64\n" : "");
    declare(t, s, 'm', "\n");
    put(t, "\n");
    if (strstr(context, "mod")) {
        put_statement(t, s);
        put(t, "\n.entry k_end { ret; }\n");
        return;
    }
    if (!strcmp(context, "func")) {
        put(t, ".func (.param .align 16 .b8 fr[64]) k (.param .align 16 .b8 fp[64]) {\n");
    } else {
        put(t, ".visible .entry k (");
        declare(t, s, 'k', ", ");
        put(t, ") {\n");
    }
    declare(t, s, 'r', "\n");
    put(t, "\n");
    declare(t, s, 'l', "\n");
    put(t, "\n");
    put_statement(t, s);
    put(t, strstr(s, "L_1") ? "\nL_1:" : "\n");
    put(t, strstr(s, "L_2") ? " L_2:" : "");
    put(t, " ret;\n}\n");
}

/* ---- judging --------------------------------------------------------------------------------- */

enum verdict { ACCEPTED, UNSUPPORTED, REFUSED };

struct judgement {
    enum verdict verdict;
    char message[400]; /* of the first error */
};

static struct judgement judge(const char *version, const char *target, const char *context,
                              const char *statement)
{
    static struct text text;
    struct judgement j = {.verdict = ACCEPTED};
    build(&text, version, target, context, statement);
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

/* ---- tables ---------------------------------------------------------------------------------- */

enum { COLUMNS = 5 };

/* The next line's columns, false at the end. */
static bool read_line(FILE *f, char *line, size_t size, char *column[COLUMNS])
{
    do {
        if (!fgets(line, (int)size, f))
            return false;
        line[strcspn(line, "\n")] = 0;
    } while (*line == '#' || !*line);
    for (unsigned i = 0; i < COLUMNS; i++) {
        column[i] = line;
        line += strcspn(line, i < COLUMNS - 1 ? "\t" : "");
        if (*line)
            *line++ = 0;
    }
    return true;
}

static const char *const versions[] = {
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.0", "2.1", "2.2", "2.3", "3.0",
    "3.1", "3.2", "4.0", "4.1", "4.2", "4.3", "5.0", "5.1", "6.0", "6.1", "6.2",
    "6.3", "6.4", "6.5", "7.0", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7",
    "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "9.0",
    "9.1", "9.2", "9.3", "9.4", "9.5"};
enum { VERSIONS = sizeof versions / sizeof *versions, NEWEST = 95 };

/* 78 for "7.8" */
static unsigned number_of(const char *version)
{
    return (unsigned)(atof(version) * 10 + 0.5);
}

static const char *version_of(unsigned number)
{
    static char text[16];
    snprintf(text, sizeof text, "%u.%u", number / 10, number % 10);
    return text;
}

/* The version before, or 0. */
static unsigned version_below(unsigned version)
{
    for (unsigned i = 1; i < VERSIONS; i++)
        if (number_of(versions[i]) == version)
            return number_of(versions[i - 1]);
    return 0;
}

static const char *name_of(const struct pt_target *t)
{
    static char name[16];
    char feature[2] = {(char)t->feature, 0};
    snprintf(name, sizeof name, "sm_%u%s", t->sm, feature);
    return name;
}

static const struct pt_target *target_of(const char *number, const char **end)
{
    char *feature;
    unsigned sm = (unsigned)strtoul(number, &feature, 10);
    bool has_feature = *feature == 'a' || *feature == 'f';
    if (end)
        *end = feature + has_feature;
    for (unsigned i = 0; i < pt_n_targets; i++)
        if (pt_targets[i].sm == sm && pt_targets[i].feature == (has_feature ? *feature : 0))
            return &pt_targets[i];
    fprintf(stderr, "isa: no target %s\n", number);
    exit(2);
}

/* One step below: sm_86 for sm_87, the plain sm_90 for sm_90a; of the targets that the version
 * knows. NULL: none. */
static const struct pt_target *target_below(const struct pt_target *target, unsigned version)
{
    for (const struct pt_target *t = target; t-- > pt_targets;)
        if (!t->feature && t->ptx <= version && (t->sm < target->sm || target->feature))
            return t;
    return NULL;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* What accepts a form, as the table has it behind the context; without it, the .version and .target
 * of the row.
 *
 *   9.0@80      targets of that number and later ones, from that version on; of several, the lowest
 * version that fits counts 9.0@90a     exactly this target, with a letter 9.0@=80     exactly this
 * target, without one 6.3..6.4@70 exactly this target, in these versions !90, !120+  not this
 * target, not those of that number and later ones
 *   -           nothing: what an earlier ptxas took */
struct pair {
    unsigned from, to; /* versions; 0: none */
    const struct pt_target *target;
    bool is_exact, has_later;
};

struct pairs {
    struct pair pair[24];
    unsigned n;
};

static void read_pairs(struct pairs *pairs, char *column[])
{
    const char *s = column[3] + strcspn(column[3], " ");
    pairs->n = 0;
    if (!*s) {
        const struct pt_target *t = target_of(column[2] + 3, NULL);
        pairs->pair[pairs->n++] =
            (struct pair){number_of(column[1]), NEWEST, t, false, !t->feature};
    }
    for (s += strspn(s, " "); *s && *s != '-'; s += strspn(s, " ")) {
        struct pair p = {.to = NEWEST};
        const char *at = strpbrk(s, "@! "), *dots = strstr(s, "..");
        if (*at != '!')
            p.from = number_of(s);
        p.is_exact = *at == '!' || at[1] == '=' || (dots && dots < at);
        if (dots && dots < at)
            p.to = number_of(dots + 2);
        p.target = target_of(at + 1 + (at[1] == '='), &s);
        p.has_later = *s == '+' || (!p.is_exact && !p.target->feature);
        p.is_exact &= *s != '+';
        s += *s == '+';
        pairs->pair[pairs->n++] = p;
    }
}

static bool is_of(const struct pair *p, const struct pt_target *t)
{
    return p->target == t || (p->has_later && p->target->sm <= t->sm);
}

/* The versions in which the target accepts the form; false: none does. */
static bool find_versions(const struct pairs *pairs, const struct pt_target *t, unsigned *from,
                          unsigned *to)
{
    *from = UINT32_MAX;
    for (unsigned i = 0; i < pairs->n; i++) {
        const struct pair *p = &pairs->pair[i];
        if (!is_of(p, t))
            continue;
        if (!p->from)
            return false;
        if (p->from >= *from && !p->is_exact)
            continue;
        *from = p->from;
        *to = p->to;
        if (p->is_exact)
            break;
    }
    *from = *from < t->ptx ? t->ptx : *from;
    return *from <= *to && *from != UINT32_MAX;
}

static bool is_accepted(const struct pairs *pairs, const struct pt_target *t, unsigned version)
{
    unsigned from, to;
    return find_versions(pairs, t, &from, &to) && version >= from && version <= to;
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
    return atoi(target + 3) <= 90 && number_of(version) <= 90 && !withdrawn &&
           strcmp(group, "texture") && strcmp(group, "surface");
}

static unsigned shown;

static bool wrong(const char *what, char *column[COLUMNS], const char *version, const char *target,
                  const struct judgement *j)
{
    if (shown++ < 400)
        printf("%s: .version %s .target %s %s: %s\n    %s\n", what, version, target, column[3],
               column[4], *j->message ? j->message : "accepted");
    return false;
}

static bool is_known_only; /* the form that is being checked is not supported */

/* Whether the verdict there is right; a refusal has `needed` in its message. */
static bool check_at(char *column[COLUMNS], const struct pairs *pairs, const struct pt_target *t,
                     unsigned version, const char *needed)
{
    char context[16], target[16], text[16];
    snprintf(context, sizeof context, "%.*s", (int)strcspn(column[3], " "), column[3]);
    snprintf(target, sizeof target, "%s", name_of(t));
    snprintf(text, sizeof text, "%s", version_of(version));
    struct judgement j = judge(text, target, context, column[4]);
    if (!is_accepted(pairs, t, version))
        return (j.verdict == REFUSED && strstr(j.message, needed)) ||
               wrong("accepted", column, text, target, &j);
    if (j.verdict == REFUSED)
        return wrong("refused", column, text, target, &j);
    is_known_only |= j.verdict == UNSUPPORTED;
    if (j.verdict == UNSUPPORTED && must_be_supported(column[0], text, target, column[4]))
        return wrong("not supported", column, text, target, &j);
    return true;
}

/* A target at its first version and one below, and, where a later version withdrew the form, at its
 * last and one above. */
static bool check_target(char *column[COLUMNS], const struct pairs *pairs,
                         const struct pt_target *t)
{
    unsigned from, to;
    if (!find_versions(pairs, t, &from, &to))
        return check_at(column, pairs, t, NEWEST, "");
    unsigned before = version_below(from);
    bool ok = check_at(column, pairs, t, from, "");
    if (before >= t->ptx)
        ok &= check_at(column, pairs, t, before, pairs->n > 1 ? "" : version_of(from));
    if (to < NEWEST) {
        ok &= check_at(column, pairs, t, to, "");
        ok &= check_at(column, pairs, t, NEWEST, "");
    }
    return ok;
}

static bool check_pair(char *column[COLUMNS], const struct pairs *pairs, const struct pair *p)
{
    bool ok = check_target(column, pairs, p->target);
    unsigned version = p->from ? p->from : NEWEST;
    const struct pt_target *lower =
        target_below(p->target, version < p->target->ptx ? p->target->ptx : version);
    char needed[16] = "";
    if (pairs->n == 1)
        snprintf(needed, sizeof needed, "%s", name_of(p->target));
    return ok & (!lower || check_at(column, pairs, lower,
                                    version < lower->ptx ? lower->ptx : version, needed));
}

/* At the first pair; with `all`, at each. */
static bool check_form(char *column[COLUMNS], struct group *g, bool all)
{
    struct pairs pairs;
    read_pairs(&pairs, column);
    is_known_only = false;
    if (!pairs.n)
        return check_at(column, &pairs, target_of(column[2] + 3, NULL), NEWEST, "");
    bool ok = true;
    for (unsigned i = 0; i < pairs.n; i++)
        ok &= (i && !all) || check_pair(column, &pairs, &pairs.pair[i]);
    *(is_known_only ? &g->unsupported : &g->accepted) += 1;
    return ok;
}

static bool check_everywhere(char *column[COLUMNS])
{
    struct pairs pairs;
    bool ok = true;
    read_pairs(&pairs, column);
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
    char *column[COLUMNS];
    unsigned passed = 0, failed = 0, n = 0;
    while (read_line(f, line, sizeof line, column)) {
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
    char *column[COLUMNS];
    unsigned passed = 0, failed = 0;
    while (read_line(f, line, sizeof line, column)) {
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
    char *column[COLUMNS];
    while (read_line(stdin, line, sizeof line, column)) {
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
