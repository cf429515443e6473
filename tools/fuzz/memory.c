/* Statements that touch memory: a thread's own elements of `out`, the read-only table, local
 * arrays, sums. */
#include "ir/bits.h"
#include "tools/fuzz/build.h"
#include "tools/fuzz/image.h"
#include "tools/fuzz/wish.h"

#include <string.h>

enum { LOCAL_BYTES = 64, TABLE_BYTES = GEN_TABLE * 8 };

/* ---- a thread's own elements ----------------------------------------------------------------- */

enum map { MAP_OWN, MAP_SHIFTED, MAP_XOR, MAP_STRIDED, MAP_REVERSED, MAP_ROUNDS, MAPS };

static unsigned power_of_two(unsigned n)
{
    unsigned p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static unsigned elements_of(const struct gen *g, const struct gen_array *a)
{
    unsigned n = g->threads;
    switch (a->map) {
    case MAP_SHIFTED:
        return n + a->a;
    case MAP_XOR:
        return power_of_two(n > a->a ? n : a->a + 1);
    case MAP_STRIDED:
        return n * a->a + a->b;
    case MAP_ROUNDS:
        return n * a->a * a->record;
    default:
        return n;
    }
}

/* How many rounds, and how many elements each; in kernels of many CTAs so many rounds that they
 * take turns. */
static void draw_rounds(struct gen *g, struct gen_array *a, bool is_first)
{
    static const unsigned records[] = {1, 1, 2, 2, 2, 4, 4, 4, 8, 3};
    if (is_first && (g->has_many || gen_chance(g, 25))) {
        a->map = MAP_ROUNDS;
        a->bytes = gen_chance(g, 50) ? 4 : 8;
        a->a = g->has_many ? 12 + gen_below(g, 8) : 1 + gen_below(g, 6);
    }
    if (a->map == MAP_ROUNDS)
        a->record = records[gen_below(g, sizeof records / sizeof *records)];
}

void gen_lay_out(struct gen *g)
{
    static const unsigned sizes[] = {1, 2, 4, 4, 4, 8, 8, 16};
    size_t at = 0;
    g->n_arrays = 1 + gen_below(g, GEN_ARRAYS);
    for (unsigned i = 0; i < g->n_arrays; i++) {
        struct gen_array *a = &g->array[i];
        a->bytes = sizes[gen_below(g, sizeof sizes / sizeof *sizes)];
        a->map = gen_chance(g, 40) ? MAP_OWN : gen_below(g, MAPS);
        a->a = 1 + gen_below(g, a->map == MAP_STRIDED || a->map == MAP_ROUNDS ? 6 : 40);
        a->a = a->map == MAP_REVERSED ? g->threads - 1 : a->a;
        a->b = gen_below(g, 4);
        a->record = 1;
        draw_rounds(g, a, i == 0);
        a->offset = at;
        at += pt_round_up((size_t)elements_of(g, a) * a->bytes, 16);
    }
    g->wish_at = pt_round_up(at, GEN_WISH_BYTES);
    if (g->wishes)
        at = g->wish_at + (size_t)g->threads * GEN_WISH_BYTES;
    if (wish_needs_images(g->wishes)) {
        g->k->images_at = pt_round_up(at, IMAGES_ALIGN);
        at = g->k->images_at + IMAGES_BYTES;
    }
    g->k->out_bytes = at; /* the registers at the kernel's end follow */
}

const struct gen_array *gen_rounds(struct gen *g)
{
    for (unsigned i = 0; i < g->n_arrays; i++)
        if (g->array[i].map == MAP_ROUNDS && g->array[i].bytes >= 4 && g->array[i].bytes <= 8)
            return &g->array[i];
    return NULL;
}

/* Computes the number of an element of the thread into %t<n>. */
static char *index_text(struct gen *g, const struct gen_array *a, unsigned n)
{
    switch (a->map) {
    case MAP_SHIFTED:
        return gen_format(g, "add.u32 %%t%u, %%gid, %u;\n", n, a->a);
    case MAP_XOR:
        return gen_format(g, "xor.b32 %%t%u, %%gid, %u;\n", n, a->a);
    case MAP_STRIDED:
        return gen_format(g, "mad.lo.u32 %%t%u, %%gid, %u, %u;\n", n, a->a, a->b);
    case MAP_REVERSED:
        return gen_format(g, "sub.u32 %%t%u, %u, %%gid;\n", n, a->a);
    case MAP_ROUNDS:
        return gen_format(g, "mad.lo.u32 %%t%u, %%gid, %u, %u;\n", n, a->record,
                          g->threads * gen_below(g, a->a) * a->record + gen_below(g, a->record));
    default:
        return gen_format(g, "mov.u32 %%t%u, %%gid;\n", n);
    }
}

const char *gen_bound(struct gen *g, unsigned n, unsigned each, unsigned left_out,
                      const char **text)
{
    *text = "";
    if (gen_chance(g, 30))
        return gen_format(g, "%u", g->threads * each - left_out);
    *text = gen_format(g,
                       "mov.u32 %%w%u, %%nctaid.x;\n"
                       "mad.lo.s32 %%w%u, %%w%u, %u, -%u;\n",
                       n, n, n, g->threads / g->k->grid[0] * each, left_out);
    return gen_format(g, "%%w%u", n);
}

/* %x<n> = base + %t<n> * bytes, in one of the ways that compilers write it. */
char *gen_address(struct gen *g, unsigned n, unsigned bytes, const char *base)
{
    switch (gen_below(g, 5)) {
    case 0:
        return gen_format(g, "mul.wide.u32 %%x%u, %%t%u, %u;\nadd.s64 %%x%u, %s, %%x%u;\n", n, n,
                          bytes, n, base, n);
    case 1:
        return gen_format(g, "mul.wide.s32 %%x%u, %%t%u, %u;\nadd.s64 %%x%u, %%x%u, %s;\n", n, n,
                          bytes, n, n, base);
    case 2:
        return gen_format(g, "cvt.u64.u32 %%x%u, %%t%u;\nmad.lo.s64 %%x%u, %%x%u, %u, %s;\n", n, n,
                          n, n, bytes, base);
    case 3:
        return gen_format(g, "mad.wide.u32 %%x%u, %%t%u, %u, %s;\n", n, n, bytes, base);
    default:
        return gen_format(
            g,
            "mul.lo.u32 %%t%u, %%t%u, %u;\ncvt.u64.u32 %%x%u, %%t%u;\nadd.u64 %%x%u, %%x%u, %s;\n",
            n, n, bytes, n, n, n, n, base);
    }
}

/* ---- types of accesses ----------------------------------------------------------------------- */

struct access {
    const char *type; /* ".v2.u32" */
    unsigned bytes, lanes;
};

static const struct access accesses[] = {
    {".u8", 1, 1},      {".s8", 1, 1},      {".b8", 1, 1},      {".u16", 2, 1},
    {".s16", 2, 1},     {".b16", 2, 1},     {".v2.u8", 2, 2},   {".u32", 4, 1},
    {".s32", 4, 1},     {".b32", 4, 1},     {".f32", 4, 1},     {".v2.u16", 4, 2},
    {".v4.u8", 4, 4},   {".v2.s16", 4, 2},  {".v4.s8", 4, 4},   {".u64", 8, 1},
    {".s64", 8, 1},     {".b64", 8, 1},     {".f64", 8, 1},     {".v2.u32", 8, 2},
    {".v2.f32", 8, 2},  {".v4.u16", 8, 4},  {".v4.f32", 16, 4}, {".v4.u32", 16, 4},
    {".v2.u64", 16, 2}, {".v2.f64", 16, 2},
};
enum { ACCESSES = sizeof accesses / sizeof *accesses };

static const struct access *draw_access(struct gen *g, unsigned bytes)
{
    for (;;) {
        const struct access *a = &accesses[gen_below(g, ACCESSES)];
        if (!bytes || a->bytes == bytes)
            return a;
    }
}

/* The registers of an access: all different. Untyped and integer ones may be wider; for a GPU not
 * where they may hold a float. */
static const char *operand_text(struct gen *g, const struct access *a)
{
    unsigned bits = a->bytes / a->lanes * 8, first = gen_below(g, GEN_POOL);
    enum gen_class class = bits <= 16 ? GEN_H : bits == 32 ? GEN_R : GEN_D;
    static const char *const names[] = {"p", "h", "r", "d"};
    if (!strchr(a->type, 'f') && class < GEN_D && gen_chance(g, 40) && !g->for_gpu)
        class ++;
    const char *name = names[class];
    unsigned i[4];
    for (unsigned k = 0; k < 4; k++)
        i[k] = (first + k) % GEN_POOL;
    if (a->lanes == 1)
        return gen_format(g, "%%%s%u", name, i[0]);
    if (a->lanes == 2)
        return gen_format(g, "{%%%s%u, %%%s%u}", name, i[0], name, i[1]);
    return gen_format(g, "{%%%s%u, %%%s%u, %%%s%u, %%%s%u}", name, i[0], name, i[1], name, i[2],
                      name, i[3]);
}

/* Makes integers of the registers of a narrow store, no larger than what is stored. */
static const char *narrowed(struct gen *g, const struct access *a, const char *operand)
{
    const char *text = "", *format = a->bytes == a->lanes ? "%sand.b16 %.*s, %.*s, 0xff;\n"
                                                          : "%sxor.b16 %.*s, %.*s, 1;\n";
    for (const char *at = strchr(operand, '%'); g->for_gpu && a->bytes / a->lanes < 4 && at;
         at = strchr(at + 1, '%')) {
        int n = (int)strcspn(at, ",}");
        text = gen_format(g, format, text, n, at, n, at);
    }
    return text;
}

static const char *load_modifier(struct gen *g, bool is_global)
{
    static const char *const plain[] = {"", "", "", ".ca", ".cg", ".cs"};
    static const char *const ordered[] = {".volatile", ".relaxed.gpu", ".relaxed.sys",
                                          ".relaxed.cta"};
    if (is_global && g->has_order && gen_chance(g, 30))
        return ordered[gen_below(g, 4)];
    return plain[gen_below(g, 6)];
}

/* "ld.volatile.global.u32": modifiers that order come before the space, cache operators after
 * it. */
static char *spell(struct gen *g, const char *what, const char *space, const char *modifier,
                   const char *type)
{
    bool is_order = *modifier && (modifier[1] == 'v' || modifier[1] == 'r');
    return gen_format(g, "%s%s%s%s%s", what, is_order ? modifier : "", space,
                      is_order ? "" : modifier, type);
}

static void own_element(struct gen *g)
{
    const struct gen_array *a = &g->array[gen_below(g, g->n_arrays)];
    const struct access *access = draw_access(g, a->bytes);
    unsigned n = gen_temp(g);
    const char *space = gen_chance(g, 85) ? ".global" : "", *operand = operand_text(g, access);
    char *index = index_text(g, a, n),
         *address = gen_format(g, "%s%s", index, gen_address(g, n, a->bytes, "%out"));
    const char *modifier = load_modifier(g, true), *guard = gen_guard(g);
    if (gen_chance(g, 35)) {
        gen_line(g, "%s%s%s %s, [%%x%u+%zu];", address, guard,
                 spell(g, "ld", space, modifier, access->type), operand, n, a->offset);
    } else {
        modifier = !strcmp(modifier, ".ca") ? ".wb" : modifier;
        gen_line(g, "%s%s%s%s [%%x%u+%zu], %s;", address, narrowed(g, access, operand), guard,
                 spell(g, "st", space, modifier, access->type), n, a->offset, operand);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Any index is taken modulo the table. */
static char *table_index(struct gen *g, const struct gen_place *place, unsigned n, bool uniform)
{
    if (uniform)
        return gen_format(g, "mov.b32 %%t%u, %s;\n", n, gen_uniform_source(g, place, GEN_R));
    if (!g->is_entry || gen_chance(g, 50))
        return gen_format(g, "mov.b32 %%t%u, %s;\n", n, gen_source(g, place, GEN_R));
    const char *offset = gen_uniform_source(g, place, GEN_R);
    return gen_format(g, "mad.lo.u32 %%t%u, %%gid, %u, %s;\n", n, gen_below(g, 6), offset);
}

static void table_element(struct gen *g, const struct gen_place *place)
{
    bool uniform = place->is_uniform && gen_chance(g, 30);
    const struct access *access = draw_access(g, 0);
    unsigned n = gen_temp(g);
    const char *operand = operand_text(g, access);
    if (uniform && access->lanes == 1 && access->bytes >= 4)
        operand =
            gen_format(g, access->bytes == 4 ? "%%ur%u" : "%%ud%u", gen_below(g, GEN_UNIFORM_POOL));
    const char *guard = operand[1] == 'u' ? "" : gen_guard(g);
    const char *modifier = gen_chance(g, 40) ? "" : load_modifier(g, false);
    const char *space = gen_chance(g, 80) ? ".global" : "";
    bool is_nc = *space && gen_chance(g, 30), is_const = g->has_const && gen_chance(g, 40);
    char *load = is_const ? gen_format(g, "ld.const%s", access->type)
                 : is_nc  ? gen_format(g, "ld.global.nc%s", access->type)
                          : spell(g, "ld", space, modifier, access->type);
    char *index = table_index(g, place, n, uniform);
    char *address = gen_address(g, n, access->bytes, gen_format(g, "%%y%u", n));
    gen_line(g, "%sand.b32 %%t%u, %%t%u, %u;\nmov.u64 %%y%u, %s;\n%s%s%s %s, [%%x%u];", index, n, n,
             TABLE_BYTES / access->bytes - 1, n, is_const ? "constants" : "table", address, guard,
             load, operand, n);
}

/* ---- a thread's own part of local and shared memory ------------------------------------------ */

/* Loads or stores at %x<n>, which `address` computes. */
static void load_or_store(struct gen *g, const struct access *access, const char *address,
                          const char *space, unsigned n)
{
    const char *guard = gen_guard(g), *operand = operand_text(g, access);
    if (gen_chance(g, 50))
        gen_line(g, "%s%sld%s%s %s, [%%x%u];", address, guard, space, access->type, operand, n);
    else
        gen_line(g, "%s%s%sst%s%s [%%x%u], %s;", address, narrowed(g, access, operand), guard,
                 space, access->type, n, operand);
}

/* %t<n>: any element of a block of memory. */
static char *any_element(struct gen *g, const struct gen_place *place, const struct access *access,
                         unsigned bytes, unsigned n)
{
    unsigned last = bytes / access->bytes - 1;
    if (gen_chance(g, 30))
        return gen_format(g, "mov.b32 %%t%u, %u;\n", n, gen_below(g, last + 1));
    return gen_format(g, "and.b32 %%t%u, %s, %u;\n", n, gen_source(g, place, GEN_R), last);
}

static void local_element(struct gen *g, const struct gen_place *place)
{
    const struct access *access = draw_access(g, 0);
    unsigned n = gen_temp(g);
    bool is_generic = gen_chance(g, 20);
    char *index = any_element(g, place, access, LOCAL_BYTES, n);
    char *address = gen_address(g, n, access->bytes, gen_format(g, "%%y%u", n));
    address = gen_format(g, "%smov.u64 %%y%u, mine;\n%s%s", index, n,
                         is_generic ? gen_format(g, "cvta.local.u64 %%y%u, %%y%u;\n", n, n) : "",
                         address);
    load_or_store(g, access, address, is_generic ? "" : ".local", n);
}

/* Lanes with a stride of GEN_OWN bytes, or each somewhere in its own. */
static void shared_element(struct gen *g, const struct gen_place *place)
{
    const struct access *access = draw_access(g, 0);
    unsigned n = gen_temp(g);
    bool is_generic = gen_chance(g, 20);
    char *index = any_element(g, place, access, GEN_OWN, n);
    char *address = gen_address(g, n, access->bytes, gen_format(g, "%%y%u", n));
    address = gen_format(g, "%smov.u64 %%x%u, slots;\nmad.wide.u32 %%y%u, %%ltid, %u, %%x%u;\n%s%s",
                         index, n, n, GEN_OWN, n,
                         is_generic ? gen_format(g, "cvta.shared.u64 %%y%u, %%y%u;\n", n, n) : "",
                         address);
    load_or_store(g, access, address, is_generic ? "" : ".shared", n);
}

/* ---- atomics --------------------------------------------------------------------------------- */

static const char *const sums[] = {".add.u32", ".add.s32", ".add.u64", ".min.u32", ".min.s32",
                                   ".min.u64", ".min.s64", ".max.u32", ".max.s32", ".max.u64",
                                   ".max.s64", ".and.b32", ".and.b64", ".or.b32",  ".or.b64",
                                   ".xor.b32", ".xor.b64", ".inc.u32"};
enum { SUMS = sizeof sums / sizeof *sums, CELLS = 8 };

/* Eight cells for each operation. Nobody reads them, since values on the way depend on the
 * order. */
static void add_to_sum(struct gen *g, const struct gen_place *place)
{
    unsigned op = gen_below(g, SUMS), n = gen_temp(g);
    bool is_64 = strstr(sums[op], "64") != NULL;
    const char *value = gen_source(g, place, is_64 ? GEN_D : GEN_R), *guard = gen_guard(g);
    char *cell = gen_chance(g, 60) ? gen_format(g, "mov.b32 %%t%u, %u;\n", n, gen_below(g, CELLS))
                                   : gen_format(g, "and.b32 %%t%u, %s, %u;\n", n,
                                                gen_source(g, place, GEN_R), CELLS - 1);
    const char *space = gen_chance(g, 85) ? ".global" : "",
               *constant = !strcmp(sums[op], ".inc.u32") ? "1000" : value;
    bool is_atom = gen_chance(g, 30);
    gen_line(g, "%s%s%s%s%s%s %s[%%x%u+%u], %s;", cell, gen_address(g, n, 8, "%sums"), guard,
             is_atom ? "atom" : "red", space, sums[op],
             is_atom ? gen_format(g, is_64 ? "%%z%u, " : "%%t%u, ", n) : "", n, op * CELLS * 8,
             constant);
    g->k->sums_bytes = SUMS * CELLS * 8;
}

/* On its own element a thread may use what was there before. */
static void own_atomic(struct gen *g, const struct gen_place *place)
{
    static const char *const more[] = {".exch.b32",        ".exch.b64",         ".dec.u32",
                                       ".add.f32",         ".add.f64",          ".cas.b32",
                                       ".cas.b64",         ".add.noftz.f16",    ".add.noftz.bf16",
                                       ".add.noftz.f16x2", ".add.noftz.bf16x2", ".cas.b16"};
    enum { MORE = sizeof more / sizeof *more };
    unsigned i = gen_below(g, g->n_arrays), op = gen_below(g, SUMS + MORE), n = gen_temp(g);
    const char *name = op < SUMS ? sums[op] : more[op - SUMS];
    if (g->for_gpu && strstr(name, "f"))
        name = ".cas.b32";
    unsigned bytes = strstr(name, "64") ? 8 : strstr(name, "16") && !strstr(name, "x2") ? 2 : 4;
    if (g->array[i].bytes != bytes) {
        own_element(g);
        return;
    }
    enum gen_class class = bytes == 8 ? GEN_D : bytes == 4 ? GEN_R : GEN_H;
    const char *value = gen_source(g, place, class), *other = gen_source(g, place, class),
               *dest = gen_dest(g, class);
    const char *guard = gen_guard(g), *space = gen_chance(g, 85) ? ".global" : "",
               *index = index_text(g, &g->array[i], n);
    bool is_cas = !strncmp(name, ".cas", 4);
    gen_line(g, "%s%s%satom%s%s %s, [%%x%u+%zu], %s%s%s;", index, gen_address(g, n, bytes, "%out"),
             guard, space, name, dest, n, g->array[i].offset, value, is_cas ? ", " : "",
             is_cas ? other : "");
}

void gen_memory(struct gen *g, const struct gen_place *place)
{
    unsigned roll = gen_below(g, 100);
    if (!g->is_entry || roll < 30)
        table_element(g, place);
    else if (roll < 45 && g->has_local)
        local_element(g, place);
    else if (roll < 48 && g->has_shared)
        shared_element(g, place);
    else if (roll < 56)
        add_to_sum(g, place);
    else if (roll < 62)
        own_atomic(g, place);
    else
        own_element(g);
}
