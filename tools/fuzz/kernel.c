/* Whole kernels: what they have, their functions, their first and last lines. */
#include "ir/bits.h"
#include "tools/fuzz/build.h"

#include <stdlib.h>
#include <string.h>

#include "tools/fuzz/wish.h"

enum { SMALL_LINES = 50 }; /* of a small kernel, at most */

/* ---- features and shape ---------------------------------------------------------------------- */

static void draw_block(struct gen *g, unsigned block[3])
{
    static const unsigned sizes[] = {1,  2,  3,  4,  5,  6,  7,   8,   16,  31, 32,
                                     32, 33, 48, 64, 64, 96, 100, 128, 160, 256};
    static const unsigned flat[][2] = {{16, 16}, {8, 8},  {32, 4}, {4, 8},  {5, 7},
                                       {3, 11},  {1, 32}, {64, 2}, {33, 3}, {20, 5}};
    static const unsigned deep[][3] = {{4, 4, 4},  {8, 2, 4},  {3, 5, 2}, {2, 2, 2},
                                       {1, 1, 40}, {32, 2, 2}, {7, 1, 9}};
    unsigned roll = gen_below(g, 100), at = gen_below(g, 10);
    block[0] = sizes[gen_below(g, sizeof sizes / sizeof *sizes)];
    block[1] = block[2] = 1;
    if (roll < 4)
        block[0] = 1024;
    else if (roll < 25)
        memcpy(block, flat[at], sizeof flat[at]);
    else if (roll < 38)
        memcpy(block, deep[at % 7], sizeof deep[at % 7]);
}

static bool wants_warps(const struct gen *g)
{
    for (unsigned i = 0; g->wishes && i < g->wishes->n; i++)
        if (wish_needs_warp(&g->wishes->v[i]))
            return true;
    return false;
}

static void draw_shape(struct gen *g)
{
    struct gen_kernel *k = g->k;
    do {
        draw_block(g, k->block);
        g->cta_threads = k->block[0] * k->block[1] * k->block[2];
    } while ((g->has_many && g->cta_threads > 96) || (wants_warps(g) && g->cta_threads % 32) ||
             (g->is_small && ((g->cta_threads > 32 && gen_chance(g, 85)) ||
                              (g->cta_threads > 8 && gen_chance(g, 65)))));
    for (unsigned i = 0; i < 3; i++)
        k->grid[i] = g->cta_threads < 512 && gen_chance(g, i ? 20 : 60) ? 1 + gen_below(g, 3) : 1;
    if (g->has_many)
        k->grid[0] = (33 + gen_below(g, 40)) / (k->grid[1] * k->grid[2]) + 1;
    g->threads = g->cta_threads * k->grid[0] * k->grid[1] * k->grid[2];
    k->s = (uint32_t)gen_special(g, 32);
    k->w = gen_special(g, 64);
}

static void draw_features(struct gen *g)
{
    g->has_selectors = gen_chance(g, 4);
    g->has_tables = gen_chance(g, 6);
    g->has_returns = gen_chance(g, 35);
    g->has_carries = gen_chance(g, 5);
    g->has_order = gen_chance(g, 5);
    g->talks = gen_chance(g, 45);
    g->has_parted_talk = g->talks && gen_chance(g, 12);
    g->has_local = gen_chance(g, 12);
    g->has_shared = gen_chance(g, 40);
    g->has_const = gen_chance(g, 15);
    g->has_waits = g->has_shared && gen_chance(g, 30);
    g->has_many = gen_chance(g, 12);
}

/* ---- registers ------------------------------------------------------------------------------- */

static char *registers_text(struct gen *g)
{
    unsigned n = g->n_temps + 1;
    return gen_format(
        g,
        ".reg .pred %%p<%d>, %%up<%d>, %%q<%u>;\n"
        ".reg .b16 %%h<%d>, %%uh<%d>, %%s<%u>, %%nought16;\n"
        ".reg .b32 %%r<%d>, %%ur<%d>, %%t<%u>, %%m<%u>, %%w<%u>, %%z32_<%u>, %%gid, %%ltid, "
        "%%nought32;\n"
        ".reg .b64 %%d<%d>, %%ud<%d>, %%x<%u>, %%y<%u>, %%z<%u>, %%out, %%sums, %%nought64;\n"
        ".reg .f32 %%f<%u>;\n.reg .f64 %%fd<%u>;\n",
        GEN_POOL, GEN_UNIFORM_POOL, n, GEN_POOL, GEN_UNIFORM_POOL, n, GEN_POOL, GEN_UNIFORM_POOL, n,
        n, n, n, GEN_POOL, GEN_UNIFORM_POOL, n, n, n, n, n);
}

/* A variable's first value: a parameter, from the table, affine in the thread's number, or that
 * scrambled. `seed` is a register of 32 bits. */
static void initialise(struct gen *g, enum gen_class class, const char *name, const char *seed)
{
    static const char *const types[] = {"u8", "b16", "b32", "b64"}, *const from[] = {
                                                                        "", "cvt.u16.u32",
                                                                        "mov.b32", "cvt.s64.s32"};
    static const unsigned bytes[] = {1, 2, 4, 8};
    static const char *const zero[] = {"setp.ne.u32 %s, 0, 0;", "mov.b16 %s, 0;", "mov.b32 %s, 0;",
                                       "mov.b64 %s, 0;"};
    unsigned n = gen_temp(g), factor = 2 * gen_below(g, 20) + 1, offset = gen_below(g, 200);
    char *index = gen_format(g, "mad.lo.u32 %%t%u, %s, %u, %u;\n", n, seed, factor, offset);
    struct gen_node *node;
    if (!strcmp(name, "%ur0") || !strcmp(name, "%ud0"))
        node =
            gen_line(g, class == GEN_R ? "ld.param.u32 %%ur0, [s];" : "ld.param.u64 %%ud0, [w];");
    else if (class == GEN_P)
        node = gen_line(g, "%sand.b32 %%t%u, %%t%u, %u;\nsetp.eq.u32 %s, %%t%u, 0;", index, n, n,
                        1 + gen_below(g, 6), name, n);
    else if (gen_chance(g, 35))
        node = gen_line(g, "%s%s %s, %%t%u;", index, from[class], name, n);
    else if (class < GEN_D && gen_chance(g, 60))
        node = gen_line(g,
                        "%smul.lo.u32 %%t%u, %%t%u, 0x9e3779b1;\nshr.u32 %%m%u, %%t%u, "
                        "15;\nxor.b32 %%t%u, %%t%u, %%m%u;\n%s %s, %%t%u;",
                        index, n, n, n, n, n, n, n, from[class], name, n);
    else
        node = gen_line(
            g,
            "%sand.b32 %%t%u, %%t%u, %u;\nmul.wide.u32 %%x%u, %%t%u, %u;\nmov.u64 %%y%u, table;\n"
            "add.s64 %%x%u, %%x%u, %%y%u;\nld.global.%s %s, [%%x%u];",
            index, n, n, GEN_TABLE * 8 / bytes[class] - 1, n, n, bytes[class], n, n, n, n,
            types[class], name, n);
    node->stand_in = gen_format(g, zero[class], name);
}

struct variable {
    enum gen_class class;
    bool is_uniform;
    const char *name;
};

enum { VARIABLES = GEN_CLASSES * (GEN_POOL + GEN_UNIFORM_POOL) };

/* The variables that the text mentions. */
static unsigned find_variables(struct gen *g, const char *text, struct variable v[VARIABLES])
{
    unsigned n = 0;
    for (unsigned u = 0; u < 2; u++)
        for (unsigned c = 0; c < GEN_CLASSES; c++)
            for (unsigned i = 0; i < (u ? GEN_UNIFORM_POOL : GEN_POOL); i++) {
                v[n] =
                    (struct variable){c, u, gen_format(g, "%%%s%c%u", u ? "u" : "", "phrd"[c], i)};
                n += gen_mentions(text, v[n].name);
            }
    return n;
}

/* First values for the variables that the text mentions; uniform ones come from `uniform_seed`.
 * Returns how many there are. */
static unsigned initialise_all(struct gen *g, const char *text, const char *seed,
                               const char *uniform_seed, struct variable v[VARIABLES])
{
    unsigned n = find_variables(g, text, v);
    for (unsigned i = 0; i < n; i++)
        initialise(g, v[i].class, v[i].name, v[i].is_uniform ? uniform_seed : seed);
    return n;
}

/* What stands at `first` is taken away, to come behind what is made next; its text. */
static char *set_aside(struct gen *g, struct gen_node **first, struct gen_node **list)
{
    char *written = gen_list_text(*first), *text = gen_format(g, "%s", written);
    free(written);
    *list = *first;
    *first = NULL;
    g->at = first;
    return text;
}

static void append(struct gen *g, struct gen_node *list)
{
    for (*g->at = list; *g->at; g->at = &(*g->at)->next)
        continue;
}

/* Zeros of which no compiler knows, where the text needs them. */
static void load_noughts(struct gen *g, const char *text)
{
    if (strstr(text, "%nought"))
        gen_line(g, "ld.volatile.global.b64 %%nought64, [nought];\n"
                    "cvt.u32.u64 %%nought32, %%nought64;\ncvt.u16.u64 %%nought16, %%nought64;")
            ->is_fixed = true;
}

/* ---- functions ------------------------------------------------------------------------------- */

static void make_func(struct gen *g, struct gen_func *f, unsigned i)
{
    struct variable v[VARIABLES];
    f->name = gen_format(g, "f%u", i);
    f->tail =
        "cvt.u32.u16 %z32_0, %h1;\nxor.b32 %r1, %r1, %z32_0;\nadd.u32 %r0, %r0, %r1;\n"
        "cvt.u32.u64 %z32_0, %d0;\nxor.b32 %r0, %r0, %z32_0;\nst.param.b32 [d], %r0;\nret;\n}\n";
    g->at = &f->body;
    g->n_temps = 1;
    gen_line(g, "ld.param.b32 %%z32_0, [a];\nld.param.b64 %%z0, [b];")->is_fixed = true;
    struct gen_node **first = g->at, *body;
    gen_statements(g, (struct gen_place){.depth = 1, .shape = GEN_SHAPE_FUNCTION},
                   1 + gen_below(g, 5));
    char *text = set_aside(g, first, &body);
    load_noughts(g, text);
    initialise_all(g, gen_format(g, "%s%s", text, f->tail), "%z32_0", NULL, v);
    append(g, body);
    f->head = gen_format(g, ".func (.param .b32 d) %s(.param .b32 a, .param .b64 b)\n{\n%s",
                         f->name, registers_text(g));
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Zeros, or what tells threads apart, where statements load what no other has stored. */
static void clear_memory(struct gen *g, const char *text)
{
    unsigned n = gen_temp(g);
    if (gen_mentions(text, "mine")) {
        char *stores = gen_format(g, "cvt.u64.u32 %%x%u, %%gid;\n", n);
        for (unsigned i = 0; i < 8; i++)
            stores = gen_format(g, "%sst.local.b64 [mine+%u], %%x%u;\n", stores, 8 * i, n);
        gen_line(g, "%s", stores)->is_fixed = true;
    }
    if (gen_mentions(text, "slots"))
        gen_line(g,
                 "mov.u32 %%t%u, slots;\nmad.lo.u32 %%t%u, %%ltid, %u, %%t%u;\nst.shared.v2.u64 "
                 "[%%t%u], {0, 0};",
                 n, n, GEN_OWN, n, n)
            ->is_fixed = true;
    if (gen_mentions(text, "buffer"))
        gen_line(g,
                 "mov.u32 %%t%u, buffer;\nmad.lo.u32 %%t%u, %%ltid, 8, %%t%u;\nst.shared.u64 "
                 "[%%t%u], 0;\nbar.sync 0;",
                 n, n, n, n)
            ->is_fixed = true;
    if (gen_mentions(text, "meeting"))
        gen_line(g,
                 "mov.u32 %%t%u, meeting;\nmad.lo.u32 %%t%u, %%ltid, 16, %%t%u;\nst.shared.v2.u64 "
                 "[%%t%u], {0, 0};\nbar.sync 0;",
                 n, n, n, n)
            ->is_fixed = true;
    if (gen_mentions(text, "cells"))
        gen_line(g,
                 "mov.u32 %%m%u, cells;\nmul.lo.u32 %%t%u, %%ltid, 8;\nL%u_head:\nsetp.ge.u32 "
                 "%%q%u, %%t%u, %u;\n"
                 "@%%q%u bra L%u_end;\nadd.u32 %%w%u, %%m%u, %%t%u;\nst.shared.u64 [%%w%u], "
                 "0;\nadd.u32 %%t%u, %%t%u, %u;\n"
                 "bra L%u_head;\nL%u_end:\nbar.sync 0;",
                 n, n, n, n, n, g->cell_bytes, n, n, n, n, n, n, n, n, g->cta_threads * 8, n, n)
            ->is_fixed = true;
}

/* Makes %t0 of all of a variable. */
static void mix(struct gen *g, const struct variable *v)
{
    static const char *const parts[] = {
        "selp.u32 %%m0, 1, 0, %s;", "cvt.u32.u16 %%m0, %s;", "mov.b32 %%m0, %s;",
        "mov.b64 {%%m0, %%w0}, %s;\nmad.lo.u32 %%t0, %%t0, 0x85ebca6b, %%w0;"};
    gen_line(g, "%s\nmad.lo.u32 %%t0, %%t0, 0x9e3779b1, %%m0;",
             gen_format(g, parts[v->class], v->name));
}

/* What the variables hold goes to out, behind the arrays: each of them, or a hash of all. */
static void save_all(struct gen *g, const struct variable *v, unsigned n)
{
    static const char *const types[] = {"u32", "u16", "b32", "b64"};
    static const unsigned bytes[] = {4, 2, 4, 8};
    size_t at = g->k->out_bytes;
    bool is_mixed = gen_chance(g, 80);
    gen_line(g, "mov.u32 %%t0, 0;")->is_fixed = true;
    for (unsigned i = 0; i < n; i++) {
        bool is_predicate = v[i].class == GEN_P;
        const char *bits =
            is_predicate ? gen_format(g, "selp.u32 %%t0, 1, 0, %s;\n", v[i].name) : "";
        if (is_mixed) {
            mix(g, &v[i]);
            continue;
        }
        gen_line(g,
                 "%smul.wide.u32 %%x0, %%gid, %u;\nadd.s64 %%x0, %%x0, %%out;\nst.global.%s "
                 "[%%x0+%zu], %s;",
                 bits, bytes[v[i].class], types[v[i].class], at, is_predicate ? "%t0" : v[i].name);
        at += pt_round_up((size_t)g->threads * bytes[v[i].class], 8);
    }
    gen_line(
        g,
        "mul.wide.u32 %%x0, %%gid, 4;\nadd.s64 %%x0, %%x0, %%out;\nst.global.b32 [%%x0+%zu], %%t0;",
        at)
        ->is_fixed = true;
    g->k->out_bytes = at + (size_t)g->threads * 4;
}

/* At the body's head, where all threads are there, those that need that and half of the others. */
static void make_wishes(struct gen *g, const struct gen_place *place, bool is_head)
{
    for (unsigned i = 0; g->wishes && i < g->wishes->n; i++) {
        const struct gen_wish *wish = &g->wishes->v[i];
        if ((wish_needs_warp(wish) || i % 2) == is_head)
            wish_make(g, place, wish);
    }
}

/* How many statements the body has. */
static unsigned draw_length(struct gen *g)
{
    if (g->is_small)
        return gen_chance(g, 60) ? 1 : gen_chance(g, 75) ? 2 : 3 + gen_below(g, 3);
    return gen_chance(g, 90) ? 3 + gen_below(g, 9) : 12 + gen_below(g, 18);
}

static void make_entry(struct gen *g)
{
    struct gen_kernel *k = g->k;
    struct variable v[VARIABLES];
    g->is_entry = true;
    g->at = &k->entry.body;
    g->n_temps = 1;
    k->entry.name = "k";
    gen_line(
        g,
        "ld.param.u64 %%out, [out];\nld.param.u64 %%sums, [sums];\nmov.u32 %%t0, %%tid.z;\nmov.u32 "
        "%%m0, %%ntid.y;\n"
        "mov.u32 %%w0, %%tid.y;\nmad.lo.u32 %%t0, %%t0, %%m0, %%w0;\nmov.u32 %%m0, "
        "%%ntid.x;\nmov.u32 %%w0, %%tid.x;\n"
        "mad.lo.u32 %%ltid, %%t0, %%m0, %%w0;\nmov.u32 %%t0, %%ctaid.z;\nmov.u32 %%m0, "
        "%%nctaid.y;\n"
        "mov.u32 %%w0, %%ctaid.y;\nmad.lo.u32 %%t0, %%t0, %%m0, %%w0;\nmov.u32 %%m0, %%nctaid.x;\n"
        "mov.u32 %%w0, %%ctaid.x;\nmad.lo.u32 %%z32_0, %%t0, %%m0, %%w0;\nmad.lo.u32 %%gid, "
        "%%z32_0, %u, %%ltid;",
        g->cta_threads)
        ->is_fixed = true;
    unsigned rest = g->cta_threads % 32;
    struct gen_place place = {.is_uniform = true, .mask = "-1"};
    if (rest && gen_chance(g, 40)) { /* the last warp's mask is exact, too */
        gen_line(g,
                 "mov.b32 %%m0, %u;\nsetp.ge.u32 %%q0, %%ltid, %u;\nselp.b32 %%m0, %%m0, -1, %%q0;",
                 (1u << rest) - 1, g->cta_threads - rest)
            ->is_fixed = true;
        place.mask = "%m0";
    }
    struct gen_node **first = g->at, *body;
    unsigned n = draw_length(g);
    make_wishes(g, &place, true);
    gen_statements(g, place, n);
    make_wishes(g, &place, false);
    char *text = set_aside(g, first, &body);
    clear_memory(g, text);
    load_noughts(g, text);
    gen_fill_arrays(g);
    unsigned n_variables = initialise_all(g, text, "%gid", "%z32_0", v);
    append(g, body);
    save_all(g, v, n_variables);
    k->entry.head = gen_format(
        g, ".entry k(.param .u64 out, .param .u64 sums, .param .u32 s, .param .u64 w)\n{\n%s%s",
        registers_text(g), gen_mentions(text, "mine") ? ".local .align 16 .b8 mine[64];\n" : "");
    k->entry.tail = gen_format(g, "ret;\n}\n");
}

static char *table_text(struct gen *g, const char *space, const char *name)
{
    char *text = gen_format(g, "%s .align 16 .b64 %s[%d] = {", space, name, GEN_TABLE);
    for (unsigned i = 0; i < GEN_TABLE; i++)
        text = gen_format(g, "%s%s0x%llx", text, i ? i % 8 ? ", " : ",\n" : "\n",
                          (unsigned long long)gen_special(g, 64));
    return gen_format(g, "%s};\n", text);
}

static void make_variables(struct gen *g)
{
    char *text = table_text(g, ".global", "table");
    if (g->for_gpu || g->wishes)
        text = gen_format(g, "%s.global .b64 nought;\n", text);
    text = gen_format(g, "%s%s", text, gen_images_text(g));
    if (g->has_const)
        text = gen_format(g, "%s%s", text, table_text(g, ".const", "constants"));
    if (g->has_shared)
        text = gen_format(g,
                          "%s.shared .align 16 .b8 slots[%u];\n.shared .align 16 .b8 buffer[%u];\n"
                          ".shared .align 16 .b8 meeting[%u];\n.shared .align 16 .b8 cells[%u];\n",
                          text, g->cta_threads * GEN_OWN, g->cta_threads * 8, g->cta_threads * 16,
                          g->cell_bytes + 8);
    if (g->has_waits)
        text = gen_format(g, "%s.shared .align 16 .b64 words[2];\n", text);
    g->k->variables = text;
}

/* Lines of PTX, but for tables. */
static unsigned count_lines(const struct gen_kernel *k)
{
    char *text = gen_text(k);
    unsigned n = 0;
    for (const char *at = text; (at = strchr(at, ';')) != NULL; at++)
        n++;
    free(text);
    return n;
}

static void make(struct gen_kernel *k, uint64_t seed, unsigned draw, const struct gen_options *o)
{
    memset(k, 0, sizeof *k);
    pt_arena_init(&k->arena, &pt_malloc_allocator);
    jmp_buf oom;
    if (setjmp(oom)) {
        fputs("ptera: out of memory\n", stderr);
        exit(1);
    }
    k->arena.oom = &oom;
    k->seed = seed;
    k->sums_bytes = 8;
    struct gen g = {.k = k,
                    .for_gpu = o->for_gpu,
                    .is_small = o->is_small,
                    .wishes = o->wishes && o->wishes->n ? o->wishes : NULL,
                    .statements = gen_statements,
                    .random = seed * UINT64_C(0xd1342543de82ef95) + 1};
    for (unsigned i = 0; i < draw; i++)
        g.random = gen_random(&g);
    draw_features(&g);
    draw_shape(&g);
    gen_lay_out(&g);
    for (unsigned n = gen_chance(&g, 10) ? 1 + gen_below(&g, GEN_FUNCS) : 0; k->n_funcs < n;
         k->n_funcs++)
        make_func(&g, &k->func[k->n_funcs], k->n_funcs);
    make_entry(&g);
    make_variables(&g);
    k->arena.oom = NULL;
}

void gen_make(struct gen_kernel *k, uint64_t seed, const struct gen_options *o)
{
    bool has_wishes = o->wishes && o->wishes->n;
    for (unsigned draw = 0;; draw++) {
        make(k, seed, draw, o);
        if (!o->is_small || has_wishes || count_lines(k) <= SMALL_LINES)
            return;
        gen_free(k);
    }
}
