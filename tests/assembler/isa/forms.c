/* Rows of forms.tsv: modules around their statements, and where they are accepted. */
#include "tests/assembler/isa/forms.h"

#include <stdlib.h>
#include <string.h>

/* ---- modules --------------------------------------------------------------------------------- */

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

void forms_put(struct form_text *t, const char *s)
{
    size_t n = strlen(s);
    if (t->n + n >= sizeof t->buf)
        abort();
    memcpy(t->buf + t->n, s, n + 1);
    t->n += n;
}

/* What any of the statements names in a place. */
static void declare(struct form_text *t, const char *const *statements, unsigned n, char place,
                    const char *between)
{
    bool first = true;
    for (unsigned i = 0; i < N_NAMES; i++) {
        bool is_named = false;
        for (unsigned k = 0; k < n && names[i].place == place && !is_named; k++)
            is_named = mentions(statements[k], i);
        if (!is_named)
            continue;
        forms_put(t, first ? "" : between);
        forms_put(t, names[i].text);
        first = false;
    }
}

/* `@` stands for a number, except before a guard and in @@DWARF; a backslash followed by n for the
 * end of a line. */
static void put_statement(struct form_text *t, const char *s)
{
    for (; *s; s++) {
        char one[2] = {*s, 0};
        bool guard = s[1] == '%' || s[1] == '!';
        if (*s == '@' && !strncmp(s, "@@DWARF", 7)) {
            forms_put(t, "@@");
            s++;
        } else if (s[0] == '\\' && s[1] == 'n') {
            forms_put(t, "\n");
            s++;
        } else {
            forms_put(t, *s == '@' && !guard ? "1" : one);
        }
    }
}

void forms_begin(struct form_text *t, const char *version, const char *target, const char *context,
                 const char *const *statements, unsigned n)
{
    t->n = 0;
    forms_put(t, ".version ");
    forms_put(t, version);
    forms_put(t, "\n.target ");
    forms_put(t, target);
    forms_put(t, !strncmp(context, "indep", 5) ? ", texmode_independent\n" : "\n");
    forms_put(t, atof(version) >= 2.25 ? ".address_size 64\n" : "");
    declare(t, statements, n, 'm', "\n");
    forms_put(t, "\n");
}

void forms_add(struct form_text *t, const char *context, const char *name, const char *s)
{
    if (strstr(context, "mod")) {
        put_statement(t, s);
        forms_put(t, "\n.entry ");
        forms_put(t, name);
        forms_put(t, " { ret; }\n");
        return;
    }
    bool is_func = !strcmp(context, "func");
    forms_put(t, is_func ? ".func (.param .align 16 .b8 fr[64]) " : ".visible .entry ");
    forms_put(t, name);
    forms_put(t, is_func ? " (.param .align 16 .b8 fp[64]" : " (");
    declare(t, &s, !is_func, 'k', ", ");
    forms_put(t, ") {\n");
    declare(t, &s, 1, 'r', "\n");
    forms_put(t, "\n");
    declare(t, &s, 1, 'l', "\n");
    forms_put(t, "\n");
    put_statement(t, s);
    forms_put(t, strstr(s, "L_1") ? "\nL_1:" : "\n");
    forms_put(t, strstr(s, "L_2") ? " L_2:" : "");
    forms_put(t, " ret;\n}\n");
}

/* ---- the table ------------------------------------------------------------------------------- */

bool forms_read(FILE *f, char *line, size_t size, char *column[FORM_COLUMNS])
{
    do {
        if (!fgets(line, (int)size, f))
            return false;
        line[strcspn(line, "\n")] = 0;
    } while (*line == '#' || !*line);
    for (unsigned i = 0; i < FORM_COLUMNS; i++) {
        column[i] = line;
        line += strcspn(line, i < FORM_COLUMNS - 1 ? "\t" : "");
        if (*line)
            *line++ = 0;
    }
    return true;
}

static const char *const versions[] = {
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.0", "2.1", "2.2", "2.3", "3.0", "3.1", "3.2",
    "4.0", "4.1", "4.2", "4.3", "5.0", "5.1", "6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0",
    "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4",
    "8.5", "8.6", "8.7", "8.8", "9.0", "9.1", "9.2", "9.3", "9.4", "9.5"};
enum { VERSIONS = sizeof versions / sizeof *versions };

unsigned forms_number(const char *version)
{
    return (unsigned)(atof(version) * 10 + 0.5);
}

const char *forms_version(unsigned number)
{
    static char text[16];
    snprintf(text, sizeof text, "%u.%u", number / 10, number % 10);
    return text;
}

unsigned forms_version_below(unsigned version)
{
    for (unsigned i = 1; i < VERSIONS; i++)
        if (forms_number(versions[i]) == version)
            return forms_number(versions[i - 1]);
    return 0;
}

const char *forms_target_name(const struct pt_target *t)
{
    static char name[16];
    char feature[2] = {(char)t->feature, 0};
    snprintf(name, sizeof name, "sm_%u%s", t->sm, feature);
    return name;
}

static const struct pt_target *find_target(const char *number, const char **end)
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

const struct pt_target *forms_target(const char *column)
{
    return find_target(column + 3, NULL);
}

const struct pt_target *forms_target_below(const struct pt_target *target, unsigned version)
{
    for (const struct pt_target *t = target; t-- > pt_targets;)
        if (!t->feature && t->ptx <= version && (t->sm < target->sm || target->feature))
            return t;
    return NULL;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

void forms_pairs(struct form_pairs *pairs, char *column[FORM_COLUMNS])
{
    const char *s = column[3] + strcspn(column[3], " ");
    pairs->n = 0;
    if (!*s) {
        const struct pt_target *t = forms_target(column[2]);
        pairs->pair[pairs->n++] = (struct form_pair){.from = forms_number(column[1]),
                                                     .to = FORM_NEWEST,
                                                     .target = t,
                                                     .has_later = !t->feature};
    }
    for (s += strspn(s, " "); *s && *s != '-'; s += strspn(s, " ")) {
        struct form_pair p = {.to = FORM_NEWEST};
        const char *at = strpbrk(s, "@! "), *dots = strstr(s, "..");
        if (*at != '!')
            p.from = forms_number(s);
        p.is_exact = *at == '!' || at[1] == '=' || (dots && dots < at);
        if (dots && dots < at)
            p.to = forms_number(dots + 2);
        p.target = find_target(at + 1 + (at[1] == '='), &s);
        p.has_later = *s == '+' || (!p.is_exact && !p.target->feature);
        p.is_exact &= *s != '+';
        s += *s == '+';
        pairs->pair[pairs->n++] = p;
    }
}

static bool is_of(const struct form_pair *p, const struct pt_target *t)
{
    return p->target == t || (p->has_later && p->target->sm <= t->sm);
}

bool forms_versions(const struct form_pairs *pairs, const struct pt_target *t, unsigned *from,
                    unsigned *to)
{
    *from = UINT32_MAX;
    *to = 0;
    for (unsigned i = 0; i < pairs->n; i++) {
        const struct form_pair *p = &pairs->pair[i];
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

bool forms_accepted(const struct form_pairs *pairs, const struct pt_target *t, unsigned version)
{
    unsigned from, to;
    return forms_versions(pairs, t, &from, &to) && version >= from && version <= to;
}
