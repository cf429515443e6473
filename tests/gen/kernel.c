/* Whole kernels: what they have, their functions, their first and last lines. */
#include "tests/gen/build.h"

#include <stdlib.h>
#include <string.h>

#include "ir/row.h"

/* ---- features and shape -------------------------------------------------------------------------------------------- */

static void draw_block(struct gen *g, unsigned block[3])
{
    static const unsigned sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 32, 32, 33, 48, 64, 64, 96, 100, 128, 160, 256};
    static const unsigned flat[][2] = {{16, 16}, {8, 8}, {32, 4}, {4, 8}, {5, 7}, {3, 11}, {1, 32}, {64, 2}, {33, 3}, {20, 5}};
    static const unsigned deep[][3] = {{4, 4, 4}, {8, 2, 4}, {3, 5, 2}, {2, 2, 2}, {1, 1, 40}, {32, 2, 2}, {7, 1, 9}};
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

static void draw_shape(struct gen *g)
{
    struct gen_kernel *k = g->k;
    draw_block(g, k->block);
    g->cta_threads = k->block[0] * k->block[1] * k->block[2];
    for (unsigned i = 0; i < 3; i++)
        k->grid[i] = g->cta_threads < 512 && gen_chance(g, i ? 20 : 60) ? 1 + gen_below(g, 3) : 1;
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
}

/* ---- registers -------------------------------------------------------------------------------------------------------- */

static char *registers_text(struct gen *g)
{
    unsigned n = g->n_temps + 1;
    return gen_format(g,
                      ".reg .pred %%p<%d>, %%up<%d>, %%q<%u>;\n.reg .b16 %%h<%d>, %%uh<%d>;\n"
                      ".reg .b32 %%r<%d>, %%ur<%d>, %%t<%u>, %%m<%u>, %%w<%u>, %%z32_<%u>, %%gid, %%ltid;\n"
                      ".reg .b64 %%d<%d>, %%ud<%d>, %%x<%u>, %%y<%u>, %%z<%u>, %%out, %%sums;\n",
                      GEN_POOL, GEN_UNIFORM_POOL, n, GEN_POOL, GEN_UNIFORM_POOL, GEN_POOL, GEN_UNIFORM_POOL, n, n, n, n,
                      GEN_POOL, GEN_UNIFORM_POOL, n, n, n);
}

/* A variable's first value: from the table, or affine in the thread's number. `seed` is a register of 32 bits. */
static void initialise(struct gen *g, enum gen_class class, unsigned i, const char *seed, const char *prefix)
{
    static const char letters[] = "phrd";
    static const char *const types[] = {"u8", "b16", "b32", "b64"};
    static const unsigned bytes[] = {1, 2, 4, 8};
    static const char *const zero[] = {"setp.ne.u32 %%%s%c%u, 0, 0;", "mov.b16 %%%s%c%u, 0;", "mov.b32 %%%s%c%u, 0;",
                                       "mov.b64 %%%s%c%u, 0;"};
    unsigned n = gen_temp(g);
    char *index = gen_format(g, "mad.lo.u32 %%t%u, %s, %u, %u;\n", n, seed, 2 * gen_below(g, 20) + 1, gen_below(g, 200));
    struct gen_node *node;
    if (class == GEN_R && gen_chance(g, 25)) {
        node = gen_line(g, "%smov.b32 %%%sr%u, %%t%u;", index, prefix, i, n);
    } else if (class == GEN_P) {
        node = gen_line(g, "%sand.b32 %%t%u, %%t%u, %u;\nsetp.eq.u32 %%%sp%u, %%t%u, 0;", index, n, n,
                        1 + gen_below(g, 6), prefix, i, n);
    } else {
        node = gen_line(g, "%sand.b32 %%t%u, %%t%u, %u;\nmul.wide.u32 %%x%u, %%t%u, %u;\nmov.u64 %%y%u, table;\n"
                           "add.s64 %%x%u, %%x%u, %%y%u;\nld.global.%s %%%s%c%u, [%%x%u];",
                        index, n, n, GEN_TABLE * 8 / bytes[class] - 1, n, n, bytes[class], n, n, n, n, types[class], prefix,
                        letters[class], i, n);
    }
    node->stand_in = gen_format(g, zero[class], prefix, letters[class], i);
}

static void initialise_all(struct gen *g, const char *seed, const char *uniform_seed)
{
    for (unsigned c = 0; c < GEN_CLASSES; c++) {
        for (unsigned i = 0; i < GEN_POOL; i++)
            initialise(g, c, i, seed, "");
        for (unsigned i = 0; i < GEN_UNIFORM_POOL && uniform_seed; i++)
            initialise(g, c, i, uniform_seed, "u");
    }
}

/* ---- functions ---------------------------------------------------------------------------------------------------------- */

static void make_func(struct gen *g, struct gen_func *f, unsigned i)
{
    f->name = gen_format(g, "f%u", i);
    g->at = &f->body;
    g->n_temps = 1;
    gen_line(g, "ld.param.b32 %%z32_0, [a];\nld.param.b64 %%z0, [b];")->is_fixed = true;
    initialise_all(g, "%z32_0", NULL);
    gen_line(g, "mov.b32 %%r0, %%z32_0;");
    gen_line(g, "mov.b64 %%d0, %%z0;");
    gen_statements(g, (struct gen_place){.depth = 1}, 2 + gen_below(g, 6));
    f->head = gen_format(g, ".func (.param .b32 d) %s(.param .b32 a, .param .b64 b)\n{\n%s", f->name, registers_text(g));
    f->tail = gen_format(g, "cvt.u32.u16 %%z32_0, %%h1;\nxor.b32 %%r1, %%r1, %%z32_0;\nadd.u32 %%r0, %%r0, %%r1;\n"
                            "cvt.u32.u64 %%z32_0, %%d0;\nxor.b32 %%r0, %%r0, %%z32_0;\nst.param.b32 [d], %%r0;\nret;\n}\n");
}

/* ---- the kernel ---------------------------------------------------------------------------------------------------------- */

static void clear_memory(struct gen *g)
{
    if (g->has_local) {
        char *text = gen_format(g, "mov.u64 %%z0, mine;\n");
        for (unsigned i = 0; i < 8; i++)
            text = gen_format(g, "%sst.local.b64 [mine+%u], %%z0;\n", text, 8 * i);
        gen_line(g, "cvt.u64.u32 %%z0, %%gid;\n%s", strchr(text, '\n') + 1)->is_fixed = true;
    }
    if (g->has_shared) {
        char *text = gen_format(g, "mov.u32 %%t0, buffer;\nmad.lo.u32 %%t0, %%ltid, 8, %%t0;\nst.shared.u64 [%%t0], 0;\n"
                                   "setp.eq.u32 %%q0, %%ltid, 0;\n");
        for (unsigned i = 0; i < 14; i++)
            text = gen_format(g, "%s@%%q0 st.shared.u64 [cells+%u], 0;\n", text, 8 * i);
        gen_line(g, "%sbar.sync 0;", text)->is_fixed = true;
    }
}

/* All variables go to out, behind the arrays. */
static void save_all(struct gen *g)
{
    static const char *const types[] = {"", "u16", "b32", "b64"};
    static const char letters[] = "phrd";
    size_t at = g->k->out_bytes;
    gen_line(g, "mul.wide.u32 %%x0, %%gid, 8;\nadd.s64 %%x0, %%x0, %%out;")->is_fixed = true;
    for (unsigned u = 0; u < 2; u++)
        for (unsigned c = 0; c < GEN_CLASSES; c++)
            for (unsigned i = 0; i < (u ? GEN_UNIFORM_POOL : GEN_POOL); i++) {
                char *name = gen_format(g, "%%%s%c%u", u ? "u" : "", letters[c], i);
                if (c == GEN_P)
                    gen_line(g, "selp.u32 %%t0, 1, 0, %s;\nst.global.u32 [%%x0+%zu], %%t0;", name, at);
                else
                    gen_line(g, "st.global.%s [%%x0+%zu], %s;", types[c], at, name);
                at += (size_t)g->threads * 8;
            }
    g->k->out_bytes = at;
}

static void make_entry(struct gen *g)
{
    struct gen_kernel *k = g->k;
    g->is_entry = true;
    g->at = &k->entry.body;
    g->n_temps = 1;
    k->entry.name = "k";
    gen_line(g, "ld.param.u64 %%out, [out];\nld.param.u64 %%sums, [sums];\nmov.u32 %%t0, %%tid.z;\nmov.u32 %%m0, %%ntid.y;\n"
                "mov.u32 %%w0, %%tid.y;\nmad.lo.u32 %%t0, %%t0, %%m0, %%w0;\nmov.u32 %%m0, %%ntid.x;\nmov.u32 %%w0, %%tid.x;\n"
                "mad.lo.u32 %%ltid, %%t0, %%m0, %%w0;\nmov.u32 %%t0, %%ctaid.z;\nmov.u32 %%m0, %%nctaid.y;\n"
                "mov.u32 %%w0, %%ctaid.y;\nmad.lo.u32 %%t0, %%t0, %%m0, %%w0;\nmov.u32 %%m0, %%nctaid.x;\n"
                "mov.u32 %%w0, %%ctaid.x;\nmad.lo.u32 %%z32_0, %%t0, %%m0, %%w0;\nmad.lo.u32 %%gid, %%z32_0, %u, %%ltid;",
             g->cta_threads)->is_fixed = true;
    clear_memory(g);
    initialise_all(g, "%gid", "%z32_0");
    gen_line(g, "ld.param.u32 %%ur0, [s];");
    gen_line(g, "ld.param.u64 %%ud0, [w];");
    unsigned rest = g->cta_threads % 32;
    struct gen_place place = {.is_uniform = true, .mask = "-1"};
    if (rest && gen_chance(g, 40)) { /* the last warp's mask is exact, too */
        gen_line(g, "mov.b32 %%m0, %u;\nsetp.ge.u32 %%q0, %%ltid, %u;\nselp.b32 %%m0, %%m0, -1, %%q0;", (1u << rest) - 1,
                 g->cta_threads - rest)->is_fixed = true;
        place.mask = "%m0";
    }
    gen_statements(g, place, 6 + gen_below(g, 22));
    save_all(g);
    k->entry.head = gen_format(g, ".entry k(.param .u64 out, .param .u64 sums, .param .u32 s, .param .u64 w)\n{\n%s%s",
                               registers_text(g), g->has_local ? ".local .align 16 .b8 mine[64];\n" : "");
    k->entry.tail = gen_format(g, "ret;\n}\n");
}

static void make_variables(struct gen *g)
{
    char *text = gen_format(g, ".global .align 16 .b64 table[%d] = {", GEN_TABLE);
    for (unsigned i = 0; i < GEN_TABLE; i++)
        text = gen_format(g, "%s%s0x%llx", text, i ? i % 8 ? ", " : ",\n" : "\n", (unsigned long long)gen_special(g, 64));
    text = gen_format(g, "%s};\n", text);
    if (g->has_shared)
        text = gen_format(g, "%s.shared .align 16 .b8 buffer[%u];\n.shared .align 16 .b8 cells[112];\n", text,
                          g->cta_threads * 8);
    g->k->variables = text;
}

void gen_make(struct gen_kernel *k, uint64_t seed)
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
    struct gen g = {.k = k, .random = seed * UINT64_C(0xd1342543de82ef95) + 1};
    draw_features(&g);
    draw_shape(&g);
    make_variables(&g);
    gen_lay_out(&g);
    for (unsigned n = gen_chance(&g, 5) ? 1 + gen_below(&g, GEN_FUNCS) : 0; k->n_funcs < n; k->n_funcs++)
        make_func(&g, &k->func[k->n_funcs], k->n_funcs);
    make_entry(&g);
    k->arena.oom = NULL;
}
