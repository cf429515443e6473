/* The memory order of every load, store, atomic and fence: what PTX promises of the form, what
 * backend/order.h makes of it in C11, and what code the interpreter decodes. What is enough follows
 * from the mapping proven in "A Formal Analysis of the NVIDIA PTX Memory Consistency Model" and PTX
 * ISA 9.7.13: an order may be stronger than asked for, never weaker. */
#include <stdlib.h>

#include "backend/interp/fence.h"
#include "tests/unit/load.h"

/* What an order gives, as bits: it is enough if it has all that is promised. */
enum { WHOLE = 1, ACQUIRES = 2, RELEASES = 4, TOTAL = 8 };

static unsigned given(enum pt_order order)
{
    static const unsigned bits[] = {
        [PT_ORDER_PLAIN] = 0,
        [PT_ORDER_RELAXED] = WHOLE,
        [PT_ORDER_ACQUIRE] = WHOLE | ACQUIRES,
        [PT_ORDER_RELEASE] = WHOLE | RELEASES,
        [PT_ORDER_ACQ_REL] = WHOLE | ACQUIRES | RELEASES,
        [PT_ORDER_SEQ_CST] = WHOLE | ACQUIRES | RELEASES | TOTAL,
    };
    return bits[order];
}

struct word {
    const char *text; /* in the spelling */
    unsigned promised;
};

/* Modifiers of order, as each kind of instruction takes them. */
static const struct word load_words[] = {{"", 0},
                                         {".weak", 0},
                                         {".volatile", WHOLE},
                                         {".relaxed.cta", WHOLE},
                                         {".relaxed.cluster", WHOLE},
                                         {".relaxed.gpu", WHOLE},
                                         {".relaxed.sys", WHOLE},
                                         {".mmio.relaxed.sys", WHOLE},
                                         {".acquire.cta", WHOLE | ACQUIRES},
                                         {".acquire.cluster", WHOLE | ACQUIRES},
                                         {".acquire.gpu", WHOLE | ACQUIRES},
                                         {".acquire.sys", WHOLE | ACQUIRES},
                                         {NULL, 0}};
static const struct word store_words[] = {{"", 0},
                                          {".weak", 0},
                                          {".volatile", WHOLE},
                                          {".relaxed.cta", WHOLE},
                                          {".relaxed.cluster", WHOLE},
                                          {".relaxed.gpu", WHOLE},
                                          {".relaxed.sys", WHOLE},
                                          {".mmio.relaxed.sys", WHOLE},
                                          {".release.cta", WHOLE | RELEASES},
                                          {".release.cluster", WHOLE | RELEASES},
                                          {".release.gpu", WHOLE | RELEASES},
                                          {".release.sys", WHOLE | RELEASES},
                                          {NULL, 0}};
/* Of atom and, without the acquiring ones, red; each with every scope. */
static const struct word atom_words[] = {{"", WHOLE},
                                         {".relaxed", WHOLE},
                                         {".acquire", WHOLE | ACQUIRES},
                                         {".release", WHOLE | RELEASES},
                                         {".acq_rel", WHOLE | ACQUIRES | RELEASES},
                                         {NULL, 0}};
static const struct word fence_words[] = {{".sc", WHOLE | ACQUIRES | RELEASES | TOTAL},
                                          {".acq_rel", ACQUIRES | RELEASES},
                                          {"", ACQUIRES | RELEASES},
                                          {".acquire", ACQUIRES},
                                          {".release", RELEASES},
                                          {NULL, 0}};
static const struct word other_fences[] = {
    {"membar.cta", ACQUIRES | RELEASES | TOTAL},
    {"membar.gl", ACQUIRES | RELEASES | TOTAL},
    {"membar.sys", ACQUIRES | RELEASES | TOTAL},
    {"membar.proxy.alias", ACQUIRES | RELEASES},
    {"fence.proxy.alias", ACQUIRES | RELEASES},
    {"fence.proxy.async", ACQUIRES | RELEASES},
    {"fence.proxy.async.global", ACQUIRES | RELEASES},
    {"fence.proxy.async.shared::cta", ACQUIRES | RELEASES},
    {"fence.mbarrier_init.release.cluster", RELEASES},
    {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", ACQUIRES},
    {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", RELEASES},
    {"griddepcontrol.wait", ACQUIRES},
    {"griddepcontrol.launch_dependents", RELEASES},
    {NULL, 0}};
static const char *const atom_scopes[] = {"", ".cta", ".cluster", ".gpu", ".sys", NULL};
static const char *const fence_scopes[] = {".cta", ".cluster", ".gpu", ".sys", NULL};

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

/* ---- one instruction ------------------------------------------------------------------------- */

struct decoded {
    enum pt_order order;       /* of backend/order.h */
    pt_handler before, behind; /* fences around the access, NULL: none */
    pt_handler fn;
};

/* The access or fence that a program begins with, behind what lowering adds, and the fences around
 * it. */
static void read_code(const struct pt_program *program, const struct pt_func *f,
                      struct decoded *made)
{
    const struct pt_body *body = ((const struct pt_interp_program *)program)->bodies[1];
    const struct pt_code *c = body->start[0] + count_added(f);
    made->before = made->behind = NULL;
    if (c->fn == pt_fence_handler(PT_ORDER_RELEASE) && c[1].insn == c->insn)
        made->before = (c++)->fn;
    made->fn = c->fn;
    if (c[1].fn == pt_fence_handler(PT_ORDER_ACQUIRE) && c[1].insn == c->insn)
        made->behind = c[1].fn;
}

/* Decodes a kernel of one instruction, over registers of these names. */
static bool decode(const char *insn, struct decoded *made)
{
    const struct pt_engine *engine = pt_interp(TEXT_OF(PT_LEVEL));
    struct text t = {0};
    struct pt_module m;
    append(&t,
           ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
           ".reg .b64 a, b64, y<4>; .reg .b32 s, b32, x<8>; .reg .b16 b16, h<8>; .reg .b128 b128; "
           ".reg .f32 f<8>;\n"
           "%s;\nret;\n}\n",
           insn);
    bool ok = load(&m, t.text);
    if (ok) {
        struct pt_image image = {.module = &m, .symbols = calloc(m.symbols.n + 1, 8)};
        made->order = pt_order_of(pt_insn_form(&m, &m.funcs.v[1].insns.v[0]));
        struct pt_program *program = engine->compile(&image, 1, false, &pt_malloc_allocator);
        ok = program != NULL;
        if (ok) {
            read_code(program, &m.funcs.v[1], made);
            engine->release(program);
        } else {
            fprintf(stderr, "%s: %s\n", insn,
                    m.diags.list.n ? m.diags.list.v[0].message : "no memory");
        }
        free(image.symbols);
    }
    pt_arena_free(&m.arena);
    free(t.text);
    return ok;
}

/* True if the access or fence gives what is promised, by the table and by the code. */
static bool is_enough(const char *insn, const struct decoded *d, unsigned promised, bool is_fence)
{
    unsigned coded = 0;
    if (is_fence) {
        for (enum pt_order order = PT_ORDER_ACQUIRE; order <= PT_ORDER_SEQ_CST; order++)
            coded |= d->fn == pt_fence_handler(order) ? given(order) : 0;
    } else {
        coded = (d->before ? RELEASES : 0) | (d->behind ? ACQUIRES : 0) | (promised & WHOLE);
    }
    bool ok =
        (given(d->order) & promised) == promised && (coded | WHOLE) == (given(d->order) | WHOLE);
    if (!ok)
        fprintf(stderr, "%s: promised %x, order.h gives %x, the code %x\n", insn, promised,
                given(d->order), coded);
    return ok;
}

static void check_fence(const char *insn, unsigned promised)
{
    struct decoded d;
    CHECK(decode(insn, &d) && is_enough(insn, &d, promised & ~(unsigned)WHOLE, true));
}

/* Strong accesses of memory that other workers reach are not the code of weak ones, unless that is
 * whole, too. */
static void check_access(const char *kind, const char *word, unsigned promised, const char *rest,
                         bool is_plain_torn)
{
    char insn[256], weak[256];
    struct decoded d = {0}, plain = {0};
    snprintf(insn, sizeof insn, "%s%s%s", kind, word, rest);
    snprintf(weak, sizeof weak, "%s%s", kind, rest);
    CHECK(decode(insn, &d) && is_enough(insn, &d, promised, false));
    if (!is_plain_torn)
        return;
    bool differs = decode(weak, &plain) && plain.fn != d.fn;
    if (differs != (promised > 0))
        fprintf(stderr, "%s: %s as a weak access\n", insn, differs ? "not the same" : "the same");
    CHECK(differs == (promised > 0));
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct shape {
    const char *rest; /* space, type and operands of a load; %s: the state space */
    bool is_torn;     /* the code for weak accesses may touch an element twice or in parts */
    bool is_vector;   /* .mmio has no vectors */
};
static const struct shape loads[] = {
    {"%s.u8 b16, [a]", true, false},         {"%s.s8 b32, [a]", true, false},
    {"%s.u16 b16, [a]", true, false},        {"%s.b32 b32, [a]", true, false},
    {"%s.f32 f0, [a]", true, false},         {"%s.b64 b64, [a]", true, false},
    {"%s.v2.b32 {x0, x1}, [a]", true, true}, {"%s.v4.b32 {x0, x1, x2, x3}, [a]", true, true},
    {"%s.v2.u64 {y0, y1}, [a]", true, true}, {"%s.v4.u8 {h0, h1, h2, h3}, [a]", false, true},
    {"%s.b128 b128, [a]", true, false},
};
static const struct shape stores[] = {
    {"%s.u8 [a], b16", true, false},
    {"%s.u16 [a], b16", true, false},
    {"%s.b32 [a], b32", true, false},
    {"%s.f32 [a], f0", true, false},
    {"%s.b64 [a], b64", true, false},
    {"%s.v2.b32 [a], {x0, x1}", true, true},
    {"%s.v4.b32 [a], {x0, x1, x2, x3}", true, true},
    {"%s.v2.u64 [a], {y0, y1}", true, true},
    {"%s.v4.u8 [a], {h0, h1, h2, h3}", false, true},
    {"%s.b128 [a], b128", true, false},
};

static void check_moves(const char *kind, const struct word *words, const struct shape *shapes,
                        size_t n)
{
    static const char *const spaces[] = {"", ".global", NULL};
    for (const struct word *w = words; w->text; w++)
        for (size_t i = 0; i < n; i++)
            for (const char *const *space = spaces; *space; space++) {
                char rest[128];
                if (shapes[i].is_vector && strstr(w->text, "mmio"))
                    continue;
                snprintf(rest, sizeof rest, shapes[i].rest, *space);
                check_access(kind, w->text, w->promised, rest, shapes[i].is_torn);
            }
}

static void check_shared(void)
{
    for (const struct word *w = load_words; w->text; w++)
        if (!strstr(w->text, "mmio"))
            check_access("ld", w->text, w->promised, ".shared.u32 b32, [s]", false);
    for (const struct word *w = store_words; w->text; w++)
        if (!strstr(w->text, "mmio"))
            check_access("st", w->text, w->promised, ".shared.u32 [s], b32", false);
}

static void check_atomics(void)
{
    static const char *const atoms[] = {".global.add.u32 b32, [a], 1",
                                        ".add.u64 b64, [a], 1",
                                        ".shared.add.u32 b32, [s], 1",
                                        ".global.cas.b16 b16, [a], b16, b16",
                                        ".global.cas.b32 b32, [a], 1, 2",
                                        ".global.exch.b64 b64, [a], 1",
                                        ".global.exch.b128 b128, [a], b128",
                                        ".global.cas.b128 b128, [a], b128, b128",
                                        ".global.add.f32 f0, [a], f1",
                                        ".global.add.noftz.bf16 b16, [a], b16",
                                        ".global.add.v2.f32 {f0, f1}, [a], {f2, f3}",
                                        NULL};
    static const char *const reds[] = {
        ".global.add.u32 [a], 1",           ".max.s64 [a], b64",
        ".shared.and.b32 [s], b32",         ".global.add.f32 [a], f1",
        ".global.add.v2.f32 [a], {f2, f3}", NULL};
    for (const struct word *w = atom_words; w->text; w++)
        for (const char *const *scope = atom_scopes; *scope; scope++) {
            char word[64];
            snprintf(word, sizeof word, "%s%s", w->text, *scope);
            for (const char *const *atom = atoms; *atom; atom++)
                check_access("atom", word, w->promised, *atom, false);
            for (const char *const *red = reds; *red && !(w->promised & ACQUIRES); red++)
                check_access("red", word, w->promised, *red, false);
        }
}

static void check_fences(void)
{
    for (const struct word *w = fence_words; w->text; w++)
        for (const char *const *scope = fence_scopes; *scope; scope++) {
            char insn[64];
            snprintf(insn, sizeof insn, "fence%s%s", w->text, *scope);
            check_fence(insn, w->promised);
        }
    for (const struct word *w = other_fences; w->text; w++)
        check_fence(w->text, w->promised);
}

int main(void)
{
    check_moves("ld", load_words, loads, sizeof loads / sizeof *loads);
    check_moves("st", store_words, stores, sizeof stores / sizeof *stores);
    check_shared();
    check_atomics();
    check_fences();
    return CHECK_DONE("unit_order");
}
