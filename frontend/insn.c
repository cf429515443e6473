/* One instruction: spelling and operands to a form of the instruction table.
 *
 * A module spells a few hundred different instructions some hundred thousand times, so a spelling
 * is matched against the table once: its candidates (the lines that fit, one for each choice of
 * optional operands) are kept in the module, and an instruction costs a hash look-up and a check of
 * its operands. */
#include "frontend/insn.h"

#include <stdio.h>
#include <string.h>

#include "frontend/check.h"
#include "frontend/fit.h"
#include "frontend/spell.h"

struct spelling {
    const char *text;
    uint32_t len, hash;
    uint32_t n;
    struct pt_candidate *candidates;
};

struct pt_insn_cache {
    uint32_t n, cap; /* cap: a power of two */
    struct spelling **table;
};

/* What is being matched, for messages. */
struct place {
    struct pt_module *m;
    const struct pt_func *f;
    const char *s;
    uint32_t len, line, col;
};

/* ---- the cache of spellings ------------------------------------------------------------------ */

static uint32_t hash_of(const char *s, uint32_t len)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h ^ h >> 15;
}

/* In .texmode_independent a texture access names its sampler too, otherwise it must not. */
static bool texmode_fits(const struct pt_candidate *c)
{
    for (unsigned i = 0; i < c->n_operands; i++) {
        const struct pt_slot *slot = pt_form_slot(&c->form, i);
        if (slot->kind != PT_SLOT_MEM)
            continue;
        bool texture = pt_slot_sub(slot, 0)->type == PT_texref && slot->n_sub > 1;
        bool sampler = pt_slot_sub(slot, slot->n_sub > 1)->type == PT_samplerref;
        if ((texture || sampler) && sampler != c->m->texmode_independent)
            return false;
    }
    return true;
}

static void add_candidates(struct pt_module *m, struct spelling *sp, const struct pt_search *s)
{
    const struct pt_line *line = s->line;
    struct pt_candidate *all = pt_arena_alloc(&m->arena, (sp->n + line->n_variants) * sizeof *all);
    if (sp->n)
        memcpy(all, sp->candidates, sp->n * sizeof *all);
    for (unsigned v = 0; v < line->n_variants; v++) {
        struct pt_candidate *c = &all[sp->n++];
        c->m = m;
        c->line = line;
        c->when = line->when;
        for (unsigned e = 0; e < line->n_elems; e++)
            if (s->used[e])
                pt_when_narrow(&c->when, &s->used[e]->when);
        pt_spell_form(&c->form, s, sp->text);
        c->form.variant = (uint16_t)(line->variant + v);
        c->n_operands = (uint8_t)pt_form_operands(&c->form);
        c->regs = pt_arena_alloc(&m->arena, (c->n_operands + 1u) * sizeof *c->regs);
        for (unsigned i = 0; i < c->n_operands; i++) {
            const struct pt_slot *slot = pt_form_slot(&c->form, i);
            if (slot->kind == PT_SLOT_VEC && (slot->flags & PT_SLOT_BY_VEC) && c->form.vec == 1)
                slot = pt_slot_sub(slot, 0);
            if (slot->kind == PT_SLOT_VALUE || slot->kind == PT_SLOT_REG)
                c->regs[i] = pt_fit_slot(slot, &c->form, false);
        }
        sp->n -= !texmode_fits(c);
    }
    sp->candidates = all;
}

static struct spelling *match_spelling(struct pt_module *m, const char *text, uint32_t len)
{
    struct spelling *sp = pt_arena_alloc(&m->arena, sizeof *sp);
    struct pt_parts parts;
    sp->text = pt_arena_text(&m->arena, text, len);
    sp->len = len;
    unsigned n, first = pt_lines_find(text, (uint32_t)strcspn(sp->text, "."), &n);
    if (pt_spell_split(&parts, text, len) >= 0 || parts.opcode_after >= 0)
        return sp;
    unsigned target = pt_target_find(m->sm, m->sm_feature);
    for (unsigned i = 0; i < n; i++) {
        const struct pt_line *line = pt_line_at(first + i);
        struct pt_search s = {
            .parts = &parts, .target = target, .ptx = m->ptx, .skip = -1, .any_type = -1};
        s.within = &line->when;
        bool found = pt_spell_search(&s, line);
        s.within = NULL;
        if (found || pt_spell_search(&s, line))
            add_candidates(m, sp, &s);
    }
    return sp;
}

static void grow(struct pt_module *m, struct pt_insn_cache *cache)
{
    struct spelling **old = cache->table;
    uint32_t old_cap = cache->cap;
    cache->cap = old_cap ? 2 * old_cap : 256;
    cache->table = pt_arena_alloc(&m->arena, cache->cap * sizeof *cache->table);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (!old[i])
            continue;
        uint32_t at = old[i]->hash & (cache->cap - 1);
        while (cache->table[at])
            at = (at + 1) & (cache->cap - 1);
        cache->table[at] = old[i];
    }
}

static struct spelling *find_spelling(struct pt_module *m, const char *text, uint32_t len)
{
    if (!m->insn_cache)
        m->insn_cache = pt_arena_alloc(&m->arena, sizeof *m->insn_cache);
    struct pt_insn_cache *cache = m->insn_cache;
    if (2 * cache->n >= cache->cap)
        grow(m, cache);
    uint32_t hash = hash_of(text, len), at = hash & (cache->cap - 1);
    for (; cache->table[at]; at = (at + 1) & (cache->cap - 1)) {
        struct spelling *sp = cache->table[at];
        if (sp->hash == hash && sp->len == len && !memcmp(sp->text, text, len))
            return sp;
    }
    struct spelling *sp = match_spelling(m, text, len);
    sp->hash = hash;
    cache->table[at] = sp;
    cache->n++;
    return sp;
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void explain_count(const struct place *p, const struct spelling *sp, uint32_t n_operands)
{
    char text[64] = "";
    uint32_t seen = 0;
    for (uint32_t i = 0; i < sp->n; i++)
        seen |= UINT32_C(1) << sp->candidates[i].n_operands;
    for (unsigned k = 0; k < 32; k++) {
        if (!(seen >> k & 1))
            continue;
        size_t at = strlen(text);
        bool last = !(seen >> k >> 1);
        snprintf(text + at, sizeof text - at, "%s%u", !at ? "" : last ? " or " : ", ", k);
    }
    pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%s' takes %s operand%s, not %u",
                  sp->text, text, !strcmp(text, "1") ? "" : "s", n_operands);
}

static void explain_operands(const struct place *p, const struct spelling *sp,
                             const struct pt_operand *operands, uint32_t n_operands)
{
    struct pt_misfit best = {""}, why;
    int best_at = -1;
    for (uint32_t i = 0; i < sp->n; i++) {
        const struct pt_candidate *c = &sp->candidates[i];
        if (c->n_operands != n_operands)
            continue;
        int at = (int)pt_fit_operands(p->f, c, operands, &why);
        if (at > best_at) {
            best_at = at;
            best = why;
        }
    }
    if (best_at < 0)
        explain_count(p, sp, n_operands);
    else
        pt_diag_error(&p->m->diags, p->line, p->col, p->len, "operand %d of '%s' %s", best_at + 1,
                      sp->text, best.text);
}

static void target_text(const struct pt_target *t, char *buf, size_t size)
{
    char feature[2] = {(char)t->feature, 0};
    snprintf(buf, size, "sm_%u%s", t->sm, feature);
}

/* Names the targets that have it: the lowest one "or higher", an upper limit, or a list. */
static void explain_target(const struct place *p, const char *name, const struct pt_when *when)
{
    const struct pt_target mine = {p->m->sm, p->m->sm_feature, 0};
    char have[16], need[16], text[160] = "";
    target_text(&mine, have, sizeof have);
    const struct pt_target *lowest = pt_when_target(when), *highest = lowest;
    if (!lowest) {
        pt_diag_error(&p->m->diags, p->line, p->col, p->len, "'%s' exists for no .target", name);
        return;
    }
    target_text(lowest, need, sizeof need);
    for (unsigned i = 0; i < pt_n_targets; i++)
        if (when->targets >> i & 1)
            highest = &pt_targets[i];
    if (!lowest->feature && p->m->sm >= lowest->sm) {
        target_text(highest, need, sizeof need);
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "'%s' exists only up to .target %s, this module says %s", name, need, have);
        return;
    }
    if (lowest->feature)
        for (unsigned i = 0; i < pt_n_targets; i++) {
            size_t at = strlen(text);
            if (&pt_targets[i] == lowest || !(when->targets >> i & 1))
                continue;
            target_text(&pt_targets[i], need, sizeof need);
            snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : " (or ", need);
        }
    target_text(lowest, need, sizeof need);
    pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                  "'%s' needs .target %s%s%s%s, this module says %s", name, need,
                  lowest->feature ? "" : " or higher", text, *text ? ")" : "", have);
}

static void explain_when(const struct place *p, const char *name, const struct pt_when *when)
{
    const struct pt_module *m = p->m;
    if (!(when->targets >> pt_target_find(m->sm, m->sm_feature) & 1))
        explain_target(p, name, when);
    else if (m->ptx < when->ptx_lo)
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "'%s' needs .version %u.%u or higher, this module says %u.%u", name,
                      when->ptx_lo / 10, when->ptx_lo % 10, m->ptx / 10, m->ptx % 10);
    else
        pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                      "'%s' exists only up to .version %u.%u, this module says %u.%u", name,
                      when->ptx_hi / 10, when->ptx_hi % 10, m->ptx / 10, m->ptx % 10);
}

/* ---- the match ------------------------------------------------------------------------------- */

static uint32_t intern(struct pt_module *m, struct pt_candidate *c)
{
    if (c->index)
        return c->index;
    if (!m->forms.n)
        (void)pt_vec_push(&m->arena, &m->forms);
    c->index = m->forms.n;
    const struct pt_target *lowest = pt_when_target(&c->when);
    c->form.min_sm = lowest ? lowest->sm : 0;
    c->form.min_sm_feature = lowest ? lowest->feature : 0;
    c->form.min_ptx = c->when.ptx_lo;
    *pt_vec_push(&m->arena, &m->forms) = c->form;
    return c->index;
}

/* What an operand needs of its own: special registers have a first .version and .target, and so
 * have the addresses of kernels and of textures and surfaces taken by mov. Its name, or NULL. */
static const char *operand_needs(const struct place *p, const struct pt_form *form,
                                 const struct pt_operand *o, uint16_t *ptx, uint16_t *sm)
{
    if (o->kind == PT_OPND_SREG) {
        pt_sreg_needs(o->index, ptx, sm);
        return pt_sreg_spelling(o->index);
    }
    *ptx = 31;
    if (form->op == PT_OP_mov_func && o->kind == PT_OPND_FUNC && p->m->funcs.v[o->index].is_entry) {
        *sm = 35;
        return "address of a kernel";
    }
    *sm = 20;
    bool is_opaque = form->op == PT_OP_mov_addr && o->kind == PT_OPND_SYM &&
                     pt_type_class(p->m->symbols.v[o->index].type) == PT_CLASS_O;
    return is_opaque ? "address of a texture, sampler or surface" : NULL;
}

static bool operands_exist(const struct place *p, const struct pt_form *form,
                           const struct pt_operand *operands, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint16_t ptx, sm;
        const char *name = operand_needs(p, form, &operands[i], &ptx, &sm);
        if (!name)
            continue;
        struct pt_when when = {0, ptx, UINT16_MAX};
        for (unsigned t = 0; t < pt_n_targets; t++)
            if (pt_targets[t].sm >= sm)
                when.targets |= UINT64_C(1) << t;
        if (!pt_when_holds(&when, pt_target_find(p->m->sm, p->m->sm_feature), p->m->ptx)) {
            explain_when(p, name, &when);
            return false;
        }
        if (form->op == PT_OP_mov_addr && operands[i].kind == PT_OPND_SYM &&
            form->type[0] != PT_u64) {
            pt_diag_error(&p->m->diags, p->line, p->col, p->len,
                          "'%s' cannot take the %s; mov.u64 can", form->spelling, name);
            return false;
        }
    }
    return true;
}

uint32_t pt_insn_match(struct pt_module *m, struct pt_func *f, const char *spelling, uint32_t len,
                       struct pt_operand *operands, uint32_t n_operands, uint32_t line,
                       uint32_t col)
{
    struct place p = {m, f, spelling, len, line, col};
    struct spelling *sp = find_spelling(m, spelling, len);
    struct pt_candidate *fits = NULL;
    unsigned target = pt_target_find(m->sm, m->sm_feature);
    for (uint32_t i = 0; i < sp->n; i++) {
        struct pt_candidate *c = &sp->candidates[i];
        if (c->n_operands != n_operands || pt_fit_operands(f, c, operands, NULL) != n_operands)
            continue;
        if (!fits || pt_when_holds(&c->when, target, m->ptx))
            fits = c;
        if (pt_when_holds(&c->when, target, m->ptx))
            break;
    }
    if (!sp->n) {
        pt_spell_explain(m, spelling, len, line, col);
    } else if (!fits) {
        explain_operands(&p, sp, operands, n_operands);
    } else if (!pt_when_holds(&fits->when, target, m->ptx)) {
        explain_when(&p, sp->text, &fits->when);
    } else if (operands_exist(&p, &fits->form, operands, n_operands) &&
               pt_check_operands(
                   &(struct pt_check){m, f, &fits->form, operands, n_operands, line, col, len})) {
        if (!fits->index && !pt_op_is_supported(fits->form.op)) /* once for each form */
            pt_diag_unsupported(&m->diags, line, col, len, "'%s' is known but not supported yet",
                                sp->text);
        for (uint32_t i = 0; i < n_operands; i++)
            pt_fit_settle(f, fits, pt_form_slot(&fits->form, i), &operands[i]);
        return intern(m, fits);
    }
    return PT_NONE;
}
