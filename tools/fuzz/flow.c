/* Lists of statements: branches, loops, switches, calls, returns, and what stands between them.
 *
 * Where lanes part and instructions of a warp are wanted on the way, the lanes that go on together
 * are found by ballot: the mask is exact. */
#include "tools/fuzz/build.h"

enum { DEPTH_MOST = 3, DEPTH_SMALL = 1, TRIPS_MOST = 6 };

/* ---- choices --------------------------------------------------------------------------------- */

/* Computes a predicate into %q<n>: the same in all threads of the CTA; or mostly in runs of
 * lanes, in a warp, or anyhow. */
static const char *choice(struct gen *g, const struct gen_place *place, unsigned n, bool uniform)
{
    static const char *const cmps[] = {"eq", "ne", "lt", "gt", "le", "ge"};
    unsigned bound = gen_below(g, g->cta_threads + 2);
    const char *cmp = cmps[gen_below(g, 6)], *order = cmps[2 + gen_below(g, 4)],
               *number = gen_chance(g, 50) ? "ltid" : "gid";
    if (uniform) {
        const char *a = gen_uniform_source(g, place, GEN_R),
                   *b = gen_uniform_source(g, place, GEN_R);
        return gen_format(g, "setp.%s.s32 %%q%u, %s, %s;\n", cmp, n, a, b);
    }
    if (g->is_entry && gen_chance(g, 30))
        return gen_format(g, "setp.%s.u32 %%q%u, %%%s, %u;\n", order, n, number, bound);
    if (g->is_entry && gen_chance(g, 20))
        return gen_format(
            g,
            "shr.u32 %%t%u, %%ltid, 5;\nand.b32 %%t%u, %%t%u, 1;\nsetp.eq.u32 %%q%u, %%t%u, %u;\n",
            n, n, n, n, n, gen_below(g, 2));
    enum gen_class class = gen_chance(g, 40) ? GEN_P : GEN_R;
    const char *a = gen_source(g, place, class), *b = gen_source(g, place, class);
    if (class == GEN_P)
        return gen_format(g, "and.pred %%q%u, %s, %s;\n", n, a, b);
    return gen_format(g, "setp.%s.%c32 %%q%u, %s, %s;\n", cmp, gen_chance(g, 50) ? 'u' : 's', n, a,
                      b);
}

/* What a place inside another has, where not all threads come. */
static struct gen_place parted(const struct gen_place *place)
{
    struct gen_place inner = *place;
    inner.is_uniform = false;
    inner.mask = NULL;
    inner.depth++;
    return inner;
}

/* Leaving the loop from here would break what the ballots say. */
static void stay_in_loop(struct gen_place *place)
{
    place->leave = place->again = NULL;
    place->stays = true;
}

/* A shape stands there; what it holds stands in it. */
static void stand(struct gen *g, const struct gen_place *place, enum gen_shape shape,
                  struct gen_place *inner)
{
    g->k->shape[place->shape][shape] = true;
    if (inner)
        inner->shape = shape;
}

static void fill(struct gen *g, struct gen_node *node, unsigned child,
                 const struct gen_place *place, unsigned n)
{
    struct gen_node **was = gen_enter(g, node, child);
    gen_statements(g, *place, n);
    g->at = was;
}

/* ---- if -------------------------------------------------------------------------------------- */

static void branch(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    bool uniform = place->is_uniform && gen_chance(g, 35), has_else = gen_chance(g, 60);
    bool with_mask = !uniform && place->mask && g->has_parted_talk && gen_chance(g, 70);
    const char *test = choice(g, place, n, uniform);
    struct gen_node *node = gen_node(g, 2);
    struct gen_place inner = uniform ? *place : parted(place);
    stand(g, place,
          with_mask ? GEN_SHAPE_IF_MASKED
          : uniform ? GEN_SHAPE_IF_UNIFORM
                    : GEN_SHAPE_IF,
          &inner);
    struct gen_place other = inner;
    if (uniform)
        inner.depth++, other.depth++;
    if (with_mask) {
        test = gen_format(g,
                          "%svote.sync.ballot.b32 %%m%u, %%q%u, %s;\nnot.b32 %%w%u, "
                          "%%m%u;\nand.b32 %%w%u, %%w%u, %s;\n",
                          test, n, n, place->mask, n, n, n, n, place->mask);
        inner.mask = gen_format(g, "%%m%u", n);
        other.mask = gen_format(g, "%%w%u", n);
        node->stand_in =
            gen_format(g, "mov.b32 %%m%u, %s;\nmov.b32 %%w%u, %s;", n, place->mask, n, place->mask);
        stay_in_loop(&inner);
        stay_in_loop(&other);
    }
    bool keeps_leaving = uniform || !place->leaves_uniformly;
    if (!keeps_leaving)
        inner.leave = inner.again = other.leave = other.again = NULL;
    node->part[0] = gen_format(g, "%s@!%%q%u bra%s L%u_else;\n", test, n,
                               uniform && gen_chance(g, 50) ? ".uni" : "", n);
    node->part[1] = has_else ? gen_format(g, "bra L%u_end;\nL%u_else:\n", n, n)
                             : gen_format(g, "L%u_else:\n", n);
    node->part[2] = has_else ? gen_format(g, "L%u_end:\n", n) : node->part[2];
    fill(g, node, 0, &inner, 1 + gen_below(g, 4));
    if (has_else)
        fill(g, node, 1, &other, 1 + gen_below(g, 3));
}

/* A register that is written only where a condition holds, and read only there, with other
 * statements between. */
static void partial(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    bool uniform = place->is_uniform && gen_chance(g, 30), is_guarded = gen_chance(g, 60),
         is_64 = gen_chance(g, 30);
    enum gen_class class = is_64 ? GEN_D : GEN_R;
    unsigned bits = is_64 ? 64 : 32;
    char *name = gen_format(g, is_64 ? "%%z%u" : "%%z32_%u", n);
    const char *test = choice(g, place, n, uniform), *a = gen_source(g, place, class),
               *b = gen_source(g, place, class);
    const char *c = uniform ? gen_uniform_source(g, place, class) : gen_source(g, place, class),
               *d = gen_dest(g, class);
    const char *make = gen_chance(g, 50)
                           ? gen_format(g, "ld.global.b%u %s, [table+%u];\n", bits, name,
                                        8 * gen_below(g, GEN_TABLE))
                           : gen_format(g, "add.s%u %s, %s, %u;\n", bits, name, c, gen_below(g, 9));
    const char *use = gen_format(g, "mad.lo.s%u %s, %s, %s, %s;\n", bits, d, name, a, b);
    struct gen_node *node = gen_node(g, 1);
    struct gen_place inner = *place;
    stand(g, place, GEN_SHAPE_PARTIAL, &inner);
    inner.depth++;
    if (is_guarded) {
        node->part[0] = gen_format(g, "%s@%%q%u %s", test, n, make);
        node->part[1] = gen_format(g, "@%%q%u %s", n, use);
    } else {
        node->part[0] =
            gen_format(g, "%s@!%%q%u bra L%u_made;\n%sL%u_made:\n", test, n, n, make, n);
        node->part[1] = gen_format(g, "@!%%q%u bra L%u_used;\n%sL%u_used:\n", n, n, use, n);
    }
    fill(g, node, 0, &inner, gen_below(g, 3));
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* How often: into %z32_<n>. */
static char *trips_text(struct gen *g, const struct gen_place *place, unsigned n, bool uniform)
{
    if (uniform && gen_chance(g, 50))
        return gen_format(g, "mov.u32 %%z32_%u, %u;\n", n, 1 + gen_below(g, TRIPS_MOST));
    const char *from = uniform ? gen_uniform_source(g, place, GEN_R) : gen_source(g, place, GEN_R);
    return gen_format(g, "and.b32 %%z32_%u, %s, %u;\n", n, from, gen_chance(g, 50) ? 3 : 7);
}

static void count_in(struct gen_place *place, unsigned n, bool uniform)
{
    unsigned at = place->n_counters < GEN_COUNTERS ? place->n_counters++ : GEN_COUNTERS - 1;
    place->counter[at] = n;
    place->counter_is_uniform[at] = uniform;
}

/* What a counter goes on by: a constant, or a number that the CTA's threads share, in %w<n>,
 * which `text` computes. */
static const char *draw_step(struct gen *g, const struct gen_place *place, unsigned n,
                             const char **text)
{
    *text = "";
    if (!g->is_entry || gen_chance(g, 80))
        return gen_format(g, "%u", gen_chance(g, 70) ? 1 : 1 + gen_below(g, 3));
    *text = gen_format(g,
                       "and.b32 %%w%u, %s, 3;\n"
                       "add.u32 %%w%u, %%w%u, 1;\n",
                       n, gen_uniform_source(g, place, GEN_R), n, n);
    return gen_format(g, "%%w%u", n);
}

static void loop(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    const char *stride, *step = draw_step(g, place, n, &stride);
    bool uniform = place->is_uniform && gen_chance(g, 50),
         has_bound = !uniform && g->is_entry && gen_chance(g, 35);
    bool with_mask = !uniform && place->mask && g->has_parted_talk && gen_chance(g, 60),
         at_end = gen_chance(g, 40);
    struct gen_node *node = gen_node(g, 1);
    char *trips = gen_format(g, "%s%s", stride, trips_text(g, place, n, uniform || has_bound));
    struct gen_place inner = uniform ? *place : parted(place);
    stand(g, place,
          with_mask ? GEN_SHAPE_LOOP_MASKED
          : uniform ? GEN_SHAPE_LOOP_UNIFORM
                    : GEN_SHAPE_LOOP,
          &inner);
    inner.depth = place->depth + 1;
    inner.leave = gen_format(g, "L%u_end", n);
    inner.again = gen_format(g, "L%u_next", n);
    inner.leaves_uniformly = uniform;
    inner.stays = place->stays || with_mask;
    count_in(&inner, n, uniform);
    char *test = gen_format(g, "setp.lt.u32 %%q%u, %%t%u, %%z32_%u;\n", n, n, n);
    node->stand_in = gen_format(g, "mov.u32 %%t%u, 0;", n);
    if (with_mask) {
        test = gen_format(g, "%svote.sync.ballot.b32 %%m%u, %%q%u, %%m%u;\n", test, n, n, n);
        trips = gen_format(g, "%smov.b32 %%m%u, %s;\n", trips, n, place->mask);
        inner.mask = gen_format(g, "%%m%u", n);
        inner.leave = inner.again = NULL;
        node->stand_in = gen_format(g, "%s\nmov.b32 %%m%u, %s;", node->stand_in, n, place->mask);
        at_end = false;
    }
    node->part[0] = gen_format(g, "%smov.u32 %%t%u, 0;\nL%u_head:\n%s", trips, n, n,
                               at_end ? "" : gen_format(g, "%s@!%%q%u bra L%u_end;\n", test, n, n));
    node->part[1] =
        gen_format(g, "L%u_next:\nadd.u32 %%t%u, %%t%u, %s;\n%sL%u_end:\n", n, n, n, step,
                   at_end ? gen_format(g, "%s@%%q%u bra L%u_head;\n", test, n, n)
                          : gen_format(g, "bra L%u_head;\n", n),
                   n);
    fill(g, node, 0, &inner, 1 + gen_below(g, 5));
}

/* All records of the thread in an array, one a round, by a pointer that goes on, in strides of
 * the grid; the last ones may be left out. %z32_<n> is the stride. */
static void walk(struct gen *g, const struct gen_place *place, const struct gen_array *a)
{
    unsigned n = gen_temp(g), left_out = gen_chance(g, 50) ? 0 : gen_below(g, g->threads),
             record = a->record * a->bytes;
    struct gen_node *node = gen_node(g, 1);
    struct gen_place inner = left_out || gen_chance(g, 85) ? parted(place) : *place;
    const char *value = gen_dest(g, a->bytes == 8 ? GEN_D : GEN_R),
               *type = a->bytes == 8 ? "b64" : "b32";
    const char *stride =
        gen_chance(g, 60)
            ? gen_format(g, "mov.u32 %%m%u, %%nctaid.x;\nmul.lo.u32 %%z32_%u, %%m%u, %u;\n", n, n,
                         n, g->threads / g->k->grid[0])
            : gen_format(g, "mov.u32 %%z32_%u, %u;\n", n, g->threads);
    const char *bound_text, *bound = gen_bound(g, n, a->a, left_out, &bound_text);
    bool has_neighbours = a->record > 1;
    stand(g, place, GEN_SHAPE_WALK, &inner);
    inner.depth = place->depth + 1;
    inner.leave = has_neighbours && gen_chance(g, 30) ? gen_format(g, "L%u_end", n) : NULL;
    inner.again = inner.leave ? gen_format(g, "L%u_next", n) : NULL;
    inner.leaves_uniformly = inner.is_uniform;
    count_in(&inner, n, false);
    node->stand_in = gen_format(g, "mov.u32 %%t%u, 0;", n);
    node->part[0] =
        gen_format(g,
                   "%s%smov.u32 %%t%u, %%gid;\nmul.wide.u32 %%z%u, %%z32_%u, %u;\nmad.wide.u32 "
                   "%%x%u, %%t%u, %u, %%out;\n"
                   "L%u_head:\nsetp.lt.u32 %%q%u, %%t%u, %s;\n@!%%q%u bra L%u_end;\n",
                   stride, bound_text, n, n, n, record, n, n, record, n, n, n, bound, n, n);
    node->part[1] = gen_format(g,
                               "L%u_next:\nadd.u32 %%t%u, %%t%u, %%z32_%u;\nadd.s64 %%x%u, %%x%u, "
                               "%%z%u;\nbra L%u_head;\nL%u_end:\n",
                               n, n, n, n, n, n, n, n, n);
    if (has_neighbours) {
        struct gen_node **was = gen_enter(g, node, 0);
        gen_neighbours(g, &inner, a, n);
        g->at = was;
    } else {
        node->part[0] = gen_format(g, "%sld.global.%s %s, [%%x%u+%zu];\n", node->part[0], type,
                                   value, n, a->offset);
        node->part[1] = gen_format(g, "st.global.%s [%%x%u+%zu], %s;\n%s", type, n, a->offset,
                                   value, node->part[1]);
        fill(g, node, 0, &inner, gen_below(g, 4));
    }
}

/* Two ways into one loop; each lane goes round a few times. */
static void irreducible(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    const char *test = choice(g, place, n, false);
    struct gen_node *node = gen_node(g, 2);
    struct gen_place inner = parted(place);
    stand(g, place, GEN_SHAPE_TWO_ENTRIES, &inner);
    inner.leave = inner.again = NULL;
    node->part[0] = gen_format(g, "%sand.b32 %%t%u, %s, 3;\n@%%q%u bra L%u_second;\nL%u_first:\n",
                               test, n, gen_source(g, place, GEN_R), n, n, n);
    node->part[1] = gen_format(g,
                               "L%u_second:\nsub.u32 %%t%u, %%t%u, 1;\nsetp.lt.s32 %%q%u, %%t%u, "
                               "0;\n@%%q%u bra L%u_end;\n",
                               n, n, n, n, n, n, n);
    node->part[2] = gen_format(
        g,
        "and.b32 %%z32_%u, %%t%u, 1;\nsetp.eq.u32 %%q%u, %%z32_%u, 0;\n@%%q%u bra L%u_first;\n"
        "bra L%u_second;\nL%u_end:\n",
        n, n, n, n, n, n, n, n);
    fill(g, node, 0, &inner, 1 + gen_below(g, 2));
    fill(g, node, 1, &inner, 1 + gen_below(g, 2));
}

/* ---- switches -------------------------------------------------------------------------------- */

static void jump_by_table(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    bool uniform = place->is_uniform && gen_chance(g, 30);
    struct gen_node *node = gen_node(g, 3);
    struct gen_place inner = uniform ? *place : parted(place);
    stand(g, place, uniform ? GEN_SHAPE_TABLE_UNIFORM : GEN_SHAPE_TABLE, &inner);
    inner.depth = place->depth + 1;
    inner.leave = inner.again = NULL;
    node->part[0] = gen_format(
        g,
        "L%u_table: .branchtargets L%u_a, L%u_b, L%u_c, L%u_a;\nand.b32 %%t%u, %s, 3;\n"
        "brx.idx %%t%u, L%u_table;\nL%u_a:\n",
        n, n, n, n, n, n,
        uniform ? gen_uniform_source(g, place, GEN_R) : gen_source(g, place, GEN_R), n, n, n);
    node->part[1] = gen_format(
        g, gen_chance(g, 70) ? "bra L%u_end;\nL%u_b:\n" : "// L%u falls through\nL%u_b:\n", n, n);
    node->part[2] = gen_format(g, "bra L%u_end;\nL%u_c:\n", n, n);
    node->part[3] = gen_format(g, "L%u_end:\n", n);
    for (unsigned i = 0; i < 3; i++)
        fill(g, node, i, &inner, 1 + gen_below(g, 2));
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void leave_loop(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    const char *test = choice(g, place, n, place->leaves_uniformly);
    bool leaves = gen_chance(g, 60);
    const char *to = leaves ? place->leave : place->again;
    stand(g, place, leaves ? GEN_SHAPE_LEAVE : GEN_SHAPE_AGAIN, NULL);
    gen_line(g, "%s@%s%%q%u bra %s;", test, gen_chance(g, 30) ? "!" : "", n, to);
}

/* Some threads end here; or all of the CTA. */
static void end_threads(struct gen *g, struct gen_place *place)
{
    unsigned n = gen_temp(g);
    const char *test = choice(g, place, n, false);
    bool returns = gen_chance(g, 60);
    const char *how = returns ? "ret" : "exit";
    stand(g, place, returns ? GEN_SHAPE_RETURN : GEN_SHAPE_EXIT, NULL);
    if (place->mask && g->talks) {
        struct gen_node *node = gen_line(
            g, "%snot.pred %%q%u, %%q%u;\nvote.sync.ballot.b32 %%m%u, %%q%u, %s;\n@!%%q%u %s;",
            test, n, n, n, n, place->mask, n, how);
        node->stand_in = gen_format(g, "mov.b32 %%m%u, %s;", n, place->mask);
        place->mask = gen_format(g, "%%m%u", n);
    } else {
        gen_line(g, "%s@%%q%u %s;", test, n, how);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What is called, as the call writes it, and what comes before; `list` is what comes behind. */
struct target {
    const char *before, *name, *list;
};

/* One of two functions that the call names, by its address. */
static struct target draw_pointer(struct gen *g, const struct gen_place *place, unsigned n,
                                  unsigned n_callable)
{
    const char *first = g->k->func[gen_below(g, n_callable)].name,
               *second = g->k->func[gen_below(g, n_callable)].name;
    const char *test = choice(g, place, n, place->is_uniform);
    return (struct target){
        gen_format(g,
                   "%s.reg .b64 to%u, or%u;\nmov.u64 to%u, %s;\nmov.u64 or%u, %s;\n"
                   "selp.b64 to%u, to%u, or%u, %%q%u;\nC%u: .calltargets %s, %s;\n",
                   test, n, n, n, first, n, second, n, n, n, n, n, first, second),
        gen_format(g, "to%u", n), gen_format(g, ", C%u", n)};
}

static void call(struct gen *g, const struct gen_place *place, unsigned n_callable)
{
    unsigned n = gen_temp(g);
    struct target f = {"", g->k->func[gen_below(g, n_callable)].name, ""};
    if (n_callable > 1 && gen_chance(g, 40))
        f = draw_pointer(g, place, n, n_callable);
    stand(g, place, *f.list ? GEN_SHAPE_CALL_POINTER : GEN_SHAPE_CALL, NULL);
    const char *a = gen_source(g, place, GEN_R), *b = gen_source(g, place, GEN_D),
               *d = gen_dest(g, GEN_R);
    gen_line(g,
             "{\n%s.param .b32 a%u;\n.param .b64 b%u;\n.param .b32 d%u;\nst.param.b32 [a%u], "
             "%s;\nst.param.b64 [b%u], %s;\n"
             "call%s (d%u), %s, (a%u, b%u)%s;\nld.param.b32 %s, [d%u];\n}",
             f.before, n, n, n, n, a, n, b, place->is_uniform && gen_chance(g, 30) ? ".uni" : "", n,
             f.name, n, n, f.list, d, n);
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool may_end(const struct gen *g, const struct gen_place *place)
{
    bool is_outermost = place->depth == 0;
    return g->has_returns && g->is_entry && !place->stays &&
           (!g->talks || (is_outermost && place->is_uniform));
}

static void control(struct gen *g, const struct gen_place *place)
{
    unsigned roll = gen_below(g, 100);
    const struct gen_array *rounds = g->is_entry ? gen_rounds(g) : NULL;
    if (rounds && gen_chance(g, 20))
        walk(g, place, rounds);
    else if (gen_chance(g, 12))
        partial(g, place);
    else if (roll < 8 && !(g->has_parted_talk && place->mask) && !g->for_gpu)
        irreducible(g, place);
    else if (roll < 14 && g->has_tables)
        jump_by_table(g, place);
    else if (roll < 60)
        branch(g, place);
    else
        loop(g, place);
}

static void together(struct gen *g, const struct gen_place *place)
{
    if (place->is_uniform && g->has_shared && gen_chance(g, place->mask && g->talks ? 50 : 100))
        gen_cta(g, place);
    else if (place->mask && g->talks)
        gen_warp(g, place);
    else
        gen_memory(g, place);
}

/* What holds statements may stand here. */
static bool may_hold(const struct gen *g, const struct gen_place *place)
{
    return place->depth < (g->is_small ? DEPTH_SMALL : DEPTH_MOST);
}

/* Neighbouring elements, in one round or in all. */
static bool draw_near(struct gen *g, const struct gen_place *place)
{
    const struct gen_array *rounds = g->is_entry && may_hold(g, place) ? gen_rounds(g) : NULL;
    if (!rounds || rounds->record == 1 || !gen_chance(g, place->values ? 3 : 14))
        return false;
    if (gen_chance(g, 50))
        walk(g, place, rounds);
    else
        gen_near(g, place);
    return true;
}

static void statement(struct gen *g, struct gen_place *place)
{
    unsigned roll = gen_below(g, 100), n_callable = g->k->n_funcs;
    if (draw_near(g, place))
        return;
    if (place->is_uniform && g->has_shared && gen_chance(g, 5))
        gen_meet(g, place);
    else if (roll < 16 && may_hold(g, place))
        control(g, place);
    else if (roll < 30)
        gen_memory(g, place);
    else if (roll < 36)
        together(g, place);
    else if (roll < 40 && n_callable)
        call(g, place, n_callable);
    else if (roll < 45 && place->leave)
        leave_loop(g, place);
    else if (roll < 47 && may_end(g, place))
        end_threads(g, place);
    else if (roll < 50 && g->has_carries)
        gen_carry_chain(g, place);
    else if (roll < 52)
        gen_special_register(g);
    else
        gen_compute(g, place, g->is_entry && place->is_uniform && gen_chance(g, 20));
}

void gen_statements(struct gen *g, struct gen_place place, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        statement(g, &place);
}
