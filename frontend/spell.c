/* From the spelling of an instruction to the lines of the table that it fits; "did you mean"
 * where it fits none. */
#include "frontend/spell.h"

#include <stdio.h>
#include <string.h>

static bool is_repeated(const struct pt_parts *p, unsigned part)
{
    for (unsigned i = 0; i < part; i++)
        if (p->token[i] && p->token[i] == p->token[part])
            return pt_token_is_repeatable(p->token[part]);
    return false;
}

static void find_opcode(struct pt_parts *p, const char *s)
{
    unsigned leading = 0;
    p->opcode_after = -1;
    for (unsigned i = 0; i < p->n; i++) {
        if (!pt_token_is_opcode(p->token[i], s, p->mnemonic_len))
            continue;
        p->opcode |= UINT32_C(1) << i;
        if (i != leading++ && p->opcode_after < 0)
            p->opcode_after = (int)i;
    }
}

/* Splits at the dots. Returns the index of the first part that is no token, or -1. */
int pt_spell_split(struct pt_parts *p, const char *s, uint32_t len)
{
    uint32_t i = 0;
    int unknown = -1;
    *p = (struct pt_parts){.n = 0};
    while (i < len && s[i] != '.')
        i++;
    p->mnemonic_len = i;
    while (i < len) {
        uint32_t start = ++i;
        while (i < len && s[i] != '.')
            i++;
        if (p->n == PT_SPELL_PARTS)
            return PT_SPELL_PARTS - 1;
        p->at[p->n] = start;
        p->len[p->n] = i - start;
        p->token[p->n] = pt_token_find(s + start, i - start);
        if (!p->token[p->n] && unknown < 0)
            unknown = (int)p->n;
        if (!is_repeated(p, p->n))
            p->n++;
    }
    find_opcode(p, s);
    return unknown;
}

static bool is_space(uint16_t token)
{
    switch (token) {
    case PT_M_const:
    case PT_M_global:
    case PT_M_local:
    case PT_M_shared:
    case PT_M_shared_cta:
    case PT_M_shared_cluster:
        return true;
    default:
        return false;
    }
}

/* Of matrices: A before B, or the format in memory before that in registers. */
static bool is_layout(uint16_t token)
{
    return token == PT_M_row || token == PT_M_col || token == PT_M_b8x16 ||
           token == PT_M_b6x16_p32 || token == PT_M_b4x16_p64;
}

/* Types match in order: the elements of the types, as spelled, must ascend; so must those of
 * state spaces and those of the words of the instruction's name. */
static bool types_ascend(const struct pt_search *s)
{
    unsigned last_type = 0, last_space = 0, last_word = 0;
    for (unsigned i = 0; i < s->parts->n; i++) {
        uint16_t token = s->parts->token[i];
        unsigned *last = token & PT_TOKEN_TYPE       ? &last_type
                         : s->parts->opcode >> i & 1 ? &last_word
                         : is_space(token)           ? &last_space
                                                     : NULL;
        if (!last || (int)i == s->skip)
            continue;
        if (s->elem_of[i] < *last)
            return false;
        *last = s->elem_of[i];
    }
    return true;
}

static bool is_complete(struct pt_search *s)
{
    s->lacking = -1;
    for (unsigned e = 0; e < s->line->n_elems; e++) {
        if (s->used[e] || pt_line_elem(s->line, e)->is_optional)
            continue;
        if (!s->may_lack || s->lacking >= 0)
            return false;
        s->lacking = (int)e;
    }
    return types_ascend(s);
}

/* Marks the parts that the alternative takes; false if one is missing. Types, state spaces and
 * layouts of one alternative keep their order. */
static bool take_parts(const struct pt_search *s, const struct pt_alt *alt, uint32_t *free,
                       uint32_t *taken)
{
    unsigned type = 0, space = 0, layout = 0;
    *taken = 0;
    for (unsigned t = 0; t < alt->n; t++) {
        uint16_t token = alt->token[t];
        unsigned *from = token & PT_TOKEN_TYPE ? &type
                         : is_space(token)     ? &space
                         : is_layout(token)    ? &layout
                                               : NULL;
        bool found = false;
        for (unsigned i = from ? *from : 0; i < s->parts->n && !found; i++) {
            bool same = s->parts->token[i] == alt->token[t];
            if ((int)i == s->any_type)
                same = alt->token[t] & PT_TOKEN_TYPE;
            if (!same || !(*free >> i & 1) || (*taken >> i & 1))
                continue;
            *taken |= UINT32_C(1) << i;
            found = true;
            if (from)
                *from = i + 1;
        }
        if (!found)
            return false;
    }
    return true;
}

static bool search_parts(struct pt_search *s, uint32_t free)
{
    if (!free)
        return is_complete(s);
    unsigned first = (unsigned)__builtin_ctz(free);
    for (unsigned e = 0; e < s->line->n_elems; e++) {
        const struct pt_elem *elem = pt_line_elem(s->line, e);
        if (s->used[e])
            continue;
        for (unsigned a = 0; a < elem->n; a++) {
            const struct pt_alt *alt = pt_elem_alt(elem, a);
            uint32_t taken;
            if ((s->within && !pt_when_holds(&alt->when, s->target, s->ptx)) ||
                !take_parts(s, alt, &free, &taken) || !(taken >> first & 1))
                continue;
            s->used[e] = alt;
            for (unsigned i = 0; i < s->parts->n; i++)
                if (taken >> i & 1)
                    s->elem_of[i] = (uint8_t)e;
            if (search_parts(s, free & ~taken))
                return true;
            s->used[e] = NULL;
        }
    }
    return false;
}

/* The line surely lacks a part. */
static bool lacks_word(const struct pt_search *s, const struct pt_line *line)
{
    uint64_t words = 0;
    for (unsigned i = 0; i < s->parts->n; i++)
        if ((int)i != s->skip && (int)i != s->any_type)
            words |= pt_token_bit(s->parts->token[i]);
    return words & ~line->words;
}

bool pt_spell_search(struct pt_search *s, const struct pt_line *line)
{
    if (lacks_word(s, line))
        return false;
    s->line = line;
    memset(s->used, 0, sizeof s->used);
    uint32_t all = s->parts->n < 32 ? (UINT32_C(1) << s->parts->n) - 1 : UINT32_MAX;
    if (s->skip >= 0)
        all &= ~(UINT32_C(1) << s->skip);
    return search_parts(s, all);
}

void pt_spell_form(struct pt_form *form, const struct pt_search *s, const char *text)
{
    *form = (struct pt_form){.op = s->line->op, .vec = 1, .spelling = text};
    form->effects = pt_op_effects(s->line->op);
    for (unsigned i = 0; i < s->parts->n; i++) {
        uint16_t t = s->parts->token[i];
        if (t & PT_TOKEN_VEC)
            form->vec = (uint8_t)(t & 0xff);
        else if ((t & PT_TOKEN_TYPE) && form->n_types < PT_FORM_TYPES)
            form->type[form->n_types++] = (uint8_t)(t & 0xff);
        else if (!(t & PT_TOKEN_TYPE) && form->n_mods < PT_FORM_MODS)
            form->mod[form->n_mods++] = t;
    }
}

/* ---- what is wrong with a spelling that fits no line ----------------------------------------- */

struct spelled {
    struct pt_module *m;
    const char *s;
    uint32_t len, line, col;
};

static void error_part(const struct spelled *p, const struct pt_parts *parts, unsigned i,
                       const char *what)
{
    pt_diag_error(&p->m->diags, p->line, p->col + parts->at[i] - 1, parts->len[i] + 1,
                  "'.%.*s' %s '%.*s'", (int)parts->len[i], p->s + parts->at[i], what, (int)p->len,
                  p->s);
}

static bool some_line(struct pt_search *s, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (pt_spell_search(s, pt_line_at(first + i)))
            return true;
    return false;
}

static void unknown_mnemonic(const struct spelled *p, const struct pt_parts *parts)
{
    uint32_t near_len = 0;
    const char *near = pt_mnemonic_near(p->s, parts->mnemonic_len, &near_len);
    uint32_t len = parts->mnemonic_len ? parts->mnemonic_len : 1;
    if (!near) {
        pt_diag_error(&p->m->diags, p->line, p->col, len, "unknown instruction '%.*s'", (int)p->len,
                      p->s);
        return;
    }
    struct pt_search s = {.parts = parts, .skip = -1, .any_type = -1};
    unsigned n, first = pt_lines_find(near, near_len, &n);
    bool fits = true;
    for (unsigned i = 0; i < parts->n; i++)
        fits = fits && parts->token[i];
    fits = fits && some_line(&s, first, n);
    int rest = fits ? (int)(p->len - parts->mnemonic_len) : 0;
    pt_diag_error(&p->m->diags, p->line, p->col, len,
                  "unknown instruction '%.*s'; did you mean '%.*s%.*s'?", (int)p->len, p->s,
                  (int)near_len, near, rest, p->s + parts->mnemonic_len);
}

/* A part no instruction has: the nearest that the mnemonic has, if there is one. */
static void unknown_part(const struct spelled *p, const struct pt_parts *parts, unsigned part,
                         unsigned first, unsigned n)
{
    unsigned best = parts->len[part] / 3 + 2;
    char near[64] = "", name[64];
    for (unsigned i = 0; i < n; i++)
        for (unsigned e = 0; e < pt_line_at(first + i)->n_elems; e++) {
            const struct pt_elem *elem = pt_line_elem(pt_line_at(first + i), e);
            for (unsigned a = 0; a < elem->n; a++) {
                pt_token_name(pt_elem_alt(elem, a)->token[0], name);
                unsigned d = pt_word_distance(p->s + parts->at[part], parts->len[part], name + 1,
                                              (uint32_t)strlen(name) - 1);
                if (d < best) {
                    best = d;
                    memcpy(near, name, sizeof near);
                }
            }
        }
    char text[128] = "is not known in";
    if (*near)
        snprintf(text, sizeof text, "is not known (did you mean '%s'?) in", near);
    error_part(p, parts, part, text);
}

/* The alternatives of the element a line lacks, those that are not in the list yet. */
static void list_alternatives(const struct pt_search *s, char *list, size_t size, unsigned *count)
{
    const struct pt_elem *elem = pt_line_elem(s->line, (unsigned)s->lacking);
    for (unsigned a = 0; a < elem->n; a++) {
        const struct pt_alt *alt = pt_elem_alt(elem, a);
        char text[3 * 64 + 3] = " ", name[64];
        for (unsigned t = 0; t < alt->n; t++) {
            pt_token_name(alt->token[t], name);
            strcat(text, name);
        }
        strcat(text, ",");
        if (strstr(list, text))
            continue;
        if ((*count)++ < 10 && strlen(list) + strlen(text) < size)
            strcat(list, text);
    }
}

/* True, and said, if some line fits but for one element. */
static bool missing_part(const struct spelled *p, struct pt_search *s, unsigned first, unsigned n)
{
    char list[256] = "";
    unsigned count = 0;
    s->may_lack = true;
    for (unsigned i = 0; i < n; i++)
        if (pt_spell_search(s, pt_line_at(first + i)))
            list_alternatives(s, list, sizeof list, &count);
    s->may_lack = false;
    if (!count)
        return false;
    list[strlen(list) - 1] = 0;
    pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%.*s' needs%s%s%s", (int)p->len, p->s,
                  count > 1 ? " one of" : "", list, count > 10 ? ", ..." : "");
    return true;
}

void pt_spell_explain(struct pt_module *m, const char *s, uint32_t len, uint32_t line, uint32_t col)
{
    const struct spelled spelled = {m, s, len, line, col}, *p = &spelled;
    struct pt_parts parts;
    int unknown = pt_spell_split(&parts, p->s, p->len);
    unsigned n, first = pt_lines_find(p->s, parts.mnemonic_len, &n);
    if (!n) {
        unknown_mnemonic(p, &parts);
        return;
    }
    if (unknown >= 0) {
        unknown_part(p, &parts, (unsigned)unknown, first, n);
        return;
    }
    if (parts.opcode_after >= 0) {
        error_part(p, &parts, (unsigned)parts.opcode_after,
                   "must come right behind the name of the instruction in");
        return;
    }
    struct pt_search search = {.parts = &parts, .skip = -1, .any_type = -1};
    for (search.skip = (int)parts.n - 1; search.skip >= 0; search.skip--)
        if (some_line(&search, first, n)) {
            error_part(p, &parts, (unsigned)search.skip, "is not allowed in");
            return;
        }
    if (missing_part(p, &search, first, n))
        return;
    for (search.any_type = (int)parts.n - 1; search.any_type >= 0; search.any_type--)
        if ((parts.token[search.any_type] & PT_TOKEN_TYPE) && some_line(&search, first, n)) {
            error_part(p, &parts, (unsigned)search.any_type, "is the wrong type for");
            return;
        }
    pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                  "no form of '%.*s' has these modifiers and types: '%.*s'",
                  (int)parts.mnemonic_len, p->s, (int)p->len, p->s);
}
