/* Neighbourhoods: a thread loads elements that lie side by side, makes something of them, and
 * stores side by side. What it loads stands in registers of its own, and other statements stand
 * in between. */
#include "tools/fuzz/build.h"

enum { RECORD_MOST = 8 };

/* ---- elements -------------------------------------------------------------------------------- */

/* The register class of an element; and the type of its loads and stores. */
struct kind {
    enum gen_class class;
    const char *load, *store;
    bool is_float;
};

static struct kind draw_kind(struct gen *g, const struct gen_array *a)
{
    static const char *const narrow[] = {"b32", "u32", "s32", "f32"}, *const wide[] = {"b64", "u64",
                                                                                       "s64",
                                                                                       "f64"};
    const char *const *types = a->bytes == 8 ? wide : narrow;
    bool is_float = gen_chance(g, 40);
    const char *load = is_float ? types[3] : types[gen_below(g, 4)],
               *store = is_float ? types[3] : types[gen_below(g, 3)];
    return (struct kind){a->bytes == 8 ? GEN_D : GEN_R, load, store, is_float && gen_chance(g, 60)};
}

/* Numbers below n: mostly in order, or falling, or anyhow. */
static void draw_order(struct gen *g, unsigned order[RECORD_MOST], unsigned n)
{
    unsigned roll = gen_below(g, 10);
    for (unsigned i = 0; i < n; i++)
        order[i] = roll == 0 ? n - 1 - i : i;
    for (unsigned i = n; roll > 7 && i-- > 1;) {
        unsigned k = gen_below(g, i + 1), other = order[i];
        order[i] = order[k];
        order[k] = other;
    }
}

/* The element at %x<n>, so many further on. A few go to variables. */
static void load(struct gen *g, struct gen_values *values, const struct kind *kind, size_t at,
                 unsigned n)
{
    if (values->n && gen_chance(g, 8)) {
        gen_line(g, "ld.global.%s %s, [%%x%u+%zu];", kind->load, gen_dest(g, kind->class), n, at);
        return;
    }
    struct gen_value value = gen_new_value(g, kind->class, kind->is_float);
    struct gen_node *node =
        gen_line(g, "ld.global.%s %s, [%%x%u+%zu];", kind->load, value.name, n, at);
    node->stand_in = gen_zero_text(g, &value);
    gen_add_value(values, &value);
}

/* Registers of a float type go with types of bits and of floats. Variables may change before the
 * next store. */
static const char *stored(struct gen *g, const struct gen_place *place, const struct kind *kind)
{
    bool takes_float = kind->store[0] == 'f' || kind->store[0] == 'b';
    if (gen_chance(g, 25))
        return gen_dest(g, kind->class);
    const char *value = gen_value(g, place->values, kind->class, takes_float);
    return value ? value : gen_source(g, place, kind->class);
}

static void mingle(struct gen *g, const struct gen_place *place)
{
    if (gen_chance(g, 75))
        gen_burst(g, place);
    else
        g->statements(g, *place, 1);
}

void gen_neighbours(struct gen *g, const struct gen_place *place, const struct gen_array *a,
                    unsigned n)
{
    struct gen_values values = {.depth = place->depth};
    struct gen_place inner = *place;
    struct kind kind = draw_kind(g, a);
    unsigned order[RECORD_MOST],
        left_out = gen_chance(g, 12) ? gen_below(g, a->record) : RECORD_MOST;
    bool is_loose = gen_chance(g, 40);
    inner.values = &values;
    inner.stays = true;
    g->is_filled[a - g->array] = true;
    draw_order(g, order, a->record);
    for (unsigned i = 0; i < a->record; i++) {
        if (order[i] != left_out)
            load(g, &values, &kind, a->offset + order[i] * a->bytes, n);
        if (is_loose && gen_chance(g, 40))
            mingle(g, &inner);
    }
    for (unsigned i = gen_below(g, 4); i-- > 0;)
        mingle(g, &inner);
    is_loose = gen_chance(g, 40);
    draw_order(g, order, a->record);
    for (unsigned i = 0; i < a->record; i++) {
        const char *guard = gen_chance(g, 10) ? gen_guard(g) : "";
        if (order[i] != left_out)
            gen_line(g, "%sst.global.%s [%%x%u+%zu], %s;", guard, kind.store, n,
                     a->offset + order[i] * a->bytes, stored(g, &inner, &kind));
        if (is_loose && gen_chance(g, 40))
            mingle(g, &inner);
    }
}

/* ---- guards in a row ------------------------------------------------------------------------- */

/* "if (i + k < bound) a[i + k] = ...": %t<n> is the number of the record's first element, %x<n>
 * its address. */
static void guarded_element(struct gen *g, const struct gen_place *place, const struct gen_array *a,
                            const struct kind *kind, unsigned n, unsigned k, const char *bound)
{
    struct gen_values values = {.depth = place->depth};
    struct gen_place inner = *place;
    unsigned m = gen_temp(g);
    size_t at = a->offset + (size_t)k * a->bytes;
    inner.values = &values;
    inner.stays = true;
    struct gen_node *node = gen_node(g, 1);
    node->part[0] = gen_format(
        g, "add.u32 %%t%u, %%t%u, %u;\nsetp.ge.u32 %%q%u, %%t%u, %s;\n@%%q%u bra L%u_on;\n", m, n,
        k, m, m, bound, m, m);
    struct gen_node **was = gen_enter(g, node, 0);
    load(g, &values, kind, at, n);
    for (unsigned i = gen_below(g, 3); i-- > 0;)
        gen_burst(g, &inner);
    gen_line(g, "st.global.%s [%%x%u+%zu], %s;", kind->store, n, at, stored(g, &inner, kind));
    g->at = was;
    node->part[1] = gen_format(g, "L%u_on:\n", m);
}

static void guarded_row(struct gen *g, const struct gen_place *place, const struct gen_array *a,
                        unsigned n)
{
    struct kind kind = draw_kind(g, a);
    struct gen_place inner = *place;
    unsigned order[RECORD_MOST], all = g->threads * a->record;
    unsigned left_out = gen_chance(g, 70) ? gen_below(g, a->record * 8) % all : 0;
    const char *text, *bound = gen_bound(g, n, a->record, left_out, &text);
    inner.is_uniform = false;
    inner.mask = NULL;
    inner.leave = inner.again = NULL;
    inner.depth++;
    g->is_filled[a - g->array] = true;
    struct gen_node *line = gen_line(g, "%s", text);
    line->stand_in = line->part[0];
    draw_order(g, order, a->record);
    for (unsigned i = 0; i < a->record; i++)
        guarded_element(g, &inner, a, &kind, n, order[i], bound);
}

/* ---- one round ------------------------------------------------------------------------------- */

void gen_near(struct gen *g, const struct gen_place *place)
{
    const struct gen_array *a = gen_rounds(g);
    unsigned n = gen_temp(g), round = gen_below(g, a->a);
    struct gen_place inner = *place;
    inner.depth++;
    struct gen_node *line = gen_line(g, "mul.lo.u32 %%t%u, %%gid, %u;\n%sadd.s64 %%x%u, %%x%u, %u;",
                                     n, a->record, gen_address(g, n, a->bytes, "%out"), n, n,
                                     round * g->threads * a->record * a->bytes);
    line->stand_in = line->part[0]; /* goes when nobody needs the address */
    if (gen_chance(g, 40))
        guarded_row(g, &inner, a, n);
    else
        gen_neighbours(g, &inner, a, n);
}

/* ---- first values ---------------------------------------------------------------------------- */

/* Each thread's elements get values of the table. */
static void fill(struct gen *g, const struct gen_array *a)
{
    unsigned n = gen_temp(g), bits = 8 * a->bytes;
    const char *value = bits == 64 ? "z" : "z32_";
    gen_line(g,
             "mov.u32 %%m%u, 0;\nL%u_head:\ndiv.u32 %%t%u, %%m%u, %u;\nrem.u32 %%w%u, %%m%u, %u;\n"
             "mad.lo.u32 %%t%u, %%t%u, %u, %%gid;\nmad.lo.u32 %%t%u, %%t%u, %u, %%w%u;\n"
             "mad.wide.u32 %%x%u, %%t%u, %u, %%out;\nmul.lo.u32 %%t%u, %%t%u, 0x9e3779b1;\nshr.u32 "
             "%%t%u, %%t%u, 25;\n"
             "mov.u64 %%y%u, table;\nmad.wide.u32 %%y%u, %%t%u, 8, %%y%u;\nld.global.b%u %%%s%u, "
             "[%%y%u];\n"
             "st.global.b%u [%%x%u+%zu], %%%s%u;\nadd.u32 %%m%u, %%m%u, 1;\nsetp.lt.u32 %%q%u, "
             "%%m%u, %u;\n@%%q%u bra L%u_head;",
             n, n, n, n, a->record, n, n, a->record, n, n, g->threads, n, n, a->record, n, n, n,
             a->bytes, n, n, n, n, n, n, n, n, bits, value, n, n, bits, n, a->offset, value, n, n,
             n, n, n, a->a * a->record, n, n);
}

void gen_fill_arrays(struct gen *g)
{
    for (unsigned i = 0; i < g->n_arrays; i++)
        if (g->is_filled[i])
            fill(g, &g->array[i]);
}
