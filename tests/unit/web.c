/* Webs: each register of a lowered function is one connected set of definitions and uses, and all
 * of it. Random functions are compared with the definition, by reaching definitions computed the
 * slow way. */
#include "ir/insn.h"
#include "ir/print.h"
#include "tests/unit/load.h"

enum { VARS = 6, MAX_SITES = 4096 };

/* ---- what is written is split, what belongs together is not ---------------------------------- */

static const struct pt_func *lower_body(struct pt_module *m, const char *body)
{
    struct text t = {0};
    append(&t,
           LOAD_HEADER
           ".entry k(.param .u64 p)\n{\n.reg .pred %%p, %%q;\n.reg .b32 %%r<9>;\n"
           ".reg .b64 %%d<4>;\nld.param.u64 %%d1, [p];\nsetp.eq.s64 %%p, %%d1, 0;\n%s}\n",
           body);
    bool ok = load(m, t.text) && lower_all(m);
    CHECK(ok);
    free(t.text);
    return ok ? &m->funcs.v[1] : NULL;
}

static int webs_of(const char *body, const char *reg)
{
    struct pt_module m;
    const struct pt_func *f = lower_body(&m, body);
    int n = 0;
    for (uint32_t r = 1; f && r < f->regs.n; r++) {
        char name[64];
        pt_print_reg(f, r, name, sizeof name);
        size_t len = strcspn(name, "$");
        n += strlen(reg) == len && !strncmp(name, reg, len) && f->regs.v[r].n_defs > 0;
    }
    pt_arena_free(&m.arena);
    return n;
}

static void test_by_hand(void)
{
    CHECK_INT(
        webs_of(
            "mov.u32 %r1, 1; st.global.u32 [%d1], %r1; mov.u32 %r1, 2; st.global.u32 [%d1], %r1;",
            "%r1"),
        2);
    CHECK_INT(webs_of("mov.u32 %r1, 1; @%p mov.u32 %r1, 2; st.global.u32 [%d1], %r1;", "%r1"), 1);
    CHECK_INT(
        webs_of("@%p bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: st.global.u32 [%d1], %r1;",
                "%r1"),
        1);
    CHECK_INT(
        webs_of("@%p bra A; mov.u32 %r1, 1; st.global.u32 [%d1], %r1; bra B; A: mov.u32 %r1, 2;"
                "st.global.u32 [%d1], %r1; B: ret;",
                "%r1"),
        2);
    CHECK_INT(
        webs_of("mov.u32 %r1, 0; L: add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 9; @%p bra L; ret;",
                "%r1"),
        1);
    CHECK_INT(
        webs_of(
            "mov.u32 %r1, 0; add.s32 %r1, %r1, 1; add.s32 %r1, %r1, 1; st.global.u32 [%d1], %r1;",
            "%r1"),
        3);
    CHECK_INT(
        webs_of("setp.lt.s64 %p, %d1, 5; @%p bra A; setp.lt.s64 %p, %d1, 6; A: @%p ret;", "%p"), 2);
    CHECK_INT(webs_of("ld.global.v2.u32 {%r1, %r2}, [%d1]; ld.global.v2.u32 {%r1, %r2}, [%d1+8];"
                      "st.global.v2.u32 [%d1], {%r2, %r1};",
                      "%r1"),
              2);
}

/* A register that is a formal parameter stays the one the caller knows. */
static void test_formals(void)
{
    struct pt_module m;
    bool ok =
        load(
            &m, LOAD_HEADER
            ".func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.s32 a, a, 1; mov.b32 r, a; add.s32 r, r, a;"
            " ret;\n}\n") &&
        lower_all(&m);
    CHECK(ok);
    if (ok) {
        const struct pt_func *f = &m.funcs.v[1];
        CHECK_INT(f->regs.n, 3);
        CHECK_INT(f->regs.v[m.symbols.v[f->params.v[0]].reg].n_defs, 2);
        CHECK_INT(f->regs.v[m.symbols.v[f->results.v[0]].reg].n_defs, 2);
    }
    pt_arena_free(&m.arena);
}

/* ---- against the definition ------------------------------------------------------------------ */

/* A definition or use; the first VARS sites are the undefined values at the entry. */
struct site {
    uint32_t var, reg;
    bool is_def;
    uint32_t block;
    bool is_guarded;
};

struct check {
    const struct pt_module *m;
    const struct pt_func *f;
    struct site sites[MAX_SITES];
    uint32_t n, block;
    bool is_guarded;
    uint8_t *in; /* by block and site: the definition reaches its entry */
    uint32_t parent[MAX_SITES];
};

static uint32_t var_of(const struct pt_func *f, uint32_t reg)
{
    char name[64];
    pt_print_reg(f, reg, name, sizeof name);
    return !strncmp(name, "%v", 2) ? (uint32_t)atoi(name + 2) : VARS;
}

static void add_site(void *ud, uint32_t reg, bool is_def)
{
    struct check *c = ud;
    uint32_t var = var_of(c->f, reg);
    if (var < VARS && c->n < MAX_SITES)
        c->sites[c->n++] = (struct site){var, reg, is_def, c->block, c->is_guarded};
}

static uint32_t root(struct check *c, uint32_t s)
{
    while (c->parent[s] != s)
        s = c->parent[s];
    return s;
}

/* Passes the sites of a block with the definitions that reach each: at a use, calls them one web.
 */
static void pass_block(struct check *c, uint32_t b, uint8_t *now, bool joins)
{
    for (uint32_t s = VARS; s < c->n; s++) {
        const struct site *x = &c->sites[s];
        if (x->block != b)
            continue;
        for (uint32_t d = 0; d < c->n && joins; d++)
            if (now[d] && c->sites[d].var == x->var && !x->is_def)
                c->parent[root(c, d)] = root(c, s);
        for (uint32_t d = 0; d < c->n && x->is_def && !x->is_guarded; d++)
            if (c->sites[d].var == x->var)
                now[d] = 0;
        if (x->is_def)
            now[s] = 1;
    }
}

static void check_webs(const struct pt_module *m, const struct pt_func *f)
{
    static struct check c;
    memset(&c, 0, sizeof c);
    c.m = m;
    c.f = f;
    for (uint32_t v = 0; v < VARS; v++)
        c.sites[c.n++] = (struct site){v, 0, true, UINT32_MAX, false};
    for (c.block = 0; c.block < f->blocks.n; c.block++) {
        for (uint32_t i = 0; i < f->blocks.v[c.block].count; i++) {
            const struct pt_insn *insn = &f->insns.v[f->blocks.v[c.block].first + i];
            c.is_guarded = insn->guard != PT_NONE;
            pt_insn_regs(m, f, insn, add_site, &c);
        }
    }
    uint8_t *now = calloc(c.n, 1);
    c.in = calloc((size_t)f->blocks.n * c.n, 1);
    for (uint32_t s = 0; s < c.n; s++)
        c.parent[s] = s;
    memset(c.in, 1, VARS);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < f->blocks.n; b++) {
            memcpy(now, c.in + (size_t)b * c.n, c.n);
            pass_block(&c, b, now, false);
            for (uint32_t e = 0; e < f->blocks.v[b].n_succ; e++) {
                uint8_t *to = c.in + (size_t)f->edges.v[f->blocks.v[b].succ + e] * c.n;
                for (uint32_t d = 0; d < c.n; d++) {
                    changed |= now[d] && !to[d];
                    to[d] |= now[d];
                }
            }
        }
    }
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        memcpy(now, c.in + (size_t)b * c.n, c.n);
        pass_block(&c, b, now, true);
    }
    bool same = true, apart = true;
    uint32_t n_defs[VARS] = {0};
    for (uint32_t s = VARS; s < c.n; s++)
        n_defs[c.sites[s].var] += c.sites[s].is_def;
    for (uint32_t a = VARS; a < c.n; a++) {
        for (uint32_t b = a + 1; b < c.n; b++) {
            bool joined = root(&c, a) == root(&c, b);
            same &= !joined || c.sites[a].reg == c.sites[b].reg;
            /* Not split: a register with one definition; and it matters to nobody where a guarded
             * one goes that no use sees. */
            apart &= joined || c.sites[a].reg != c.sites[b].reg || c.sites[a].is_guarded ||
                     c.sites[b].is_guarded || n_defs[c.sites[a].var] < 2;
        }
    }
    CHECK(same);
    CHECK(apart);
    free(now);
    free(c.in);
}

static void test_random(uint32_t seed)
{
    uint32_t state = seed * 7919 + 13, n = 3 + next_random(&state) % 12;
    struct text t = {0};
    append(&t,
           LOAD_HEADER ".entry k()\n{\n.reg .pred %%p;\n.reg .b32 %%v<%d>;\n.reg .b32 "
                       "%%s;\nmov.u32 %%s, %%laneid;\n"
                       "setp.ne.u32 %%p, %%s, 0;\n",
           VARS);
    for (uint32_t b = 0; b < n; b++) {
        append(&t, "L%u:\n", b);
        for (uint32_t k = next_random(&state) % 5; k > 0; k--) {
            uint32_t d = next_random(&state) % VARS, a = next_random(&state) % VARS,
                     e = next_random(&state) % VARS;
            const char *guard = next_random(&state) % 5 ? "" : "@%p ";
            if (next_random(&state) % 2)
                append(&t, "%smov.u32 %%v%u, %u;\n", guard, d, b);
            else
                append(&t, "%sadd.s32 %%v%u, %%v%u, %%v%u;\n", guard, d, a, e);
        }
        if (next_random(&state) % 3)
            append(&t, "@%%p bra L%u;\n", next_random(&state) % n);
        else if (next_random(&state) % 4 == 0)
            append(&t, "bra L%u;\n", next_random(&state) % n);
    }
    append(&t, "}\n");
    struct pt_module m;
    bool ok = load(&m, t.text) && lower_all(&m);
    CHECK(ok);
    if (ok)
        check_webs(&m, &m.funcs.v[1]);
    pt_arena_free(&m.arena);
    free(t.text);
}

int main(void)
{
    test_by_hand();
    test_formals();
    for (uint32_t seed = 0; seed < 400; seed++)
        test_random(seed);
    return CHECK_DONE("web");
}
