/* What threads do together: instructions of a warp, exchange through shared memory, barriers,
 * waits for each other. */
#include "tools/fuzz/build.h"

#include <string.h>

/* ---- warps ----------------------------------------------------------------------------------- */

/* A lane reads from lane % ^ k, and keeps its own value where that is none of the mask, or is
 * not there. */
static void shuffle_among(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    const char *a = gen_source(g, place, GEN_R), *d = gen_dest(g, GEN_R);
    if (gen_chance(g, 50))
        gen_line(g,
                 "mov.u32 %%t%u, %%laneid;\nxor.b32 %%t%u, %%t%u, %u;\nshfl.sync.idx.b32 %%z32_%u, "
                 "%s, %%t%u, 31, %s;\n"
                 "mov.b32 %%m%u, %s;\nshr.u32 %%m%u, %%m%u, %%t%u;\nand.b32 %%m%u, %%m%u, 1;\n"
                 "and.b32 %%w%u, %%ltid, -32;\nadd.u32 %%w%u, %%w%u, %%t%u;\nsetp.lt.u32 %%q%u, "
                 "%%w%u, %u;\n"
                 "setp.ne.and.u32 %%q%u, %%m%u, 0, %%q%u;\nselp.b32 %s, %%z32_%u, %s, %%q%u;",
                 n, n, n, 1 + gen_below(g, 31), n, a, n, place->mask, n, place->mask, n, n, n, n, n,
                 n, n, n, n, n, n, g->cta_threads, n, n, n, d, n, a, n);
    else /* from the mask's first lane */
        gen_line(
            g,
            "brev.b32 %%t%u, %s;\nclz.b32 %%t%u, %%t%u;\nshfl.sync.idx.b32 %s, %s, %%t%u, 31, %s;",
            n, place->mask, n, n, d, a, n, place->mask);
}

/* All 32 lanes are there. */
static void shuffle_whole(struct gen *g, const struct gen_place *place)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const unsigned segments[] = {0, 0, 0, 16, 24, 28, 30};
    unsigned mode = gen_below(g, 4), segment = segments[gen_below(g, 7)];
    unsigned clamp = segment << 8 | (mode == 0 ? 0 : 31);
    const char *pred = gen_chance(g, 30) ? gen_format(g, "|%s", gen_dest(g, GEN_P)) : "";
    const char *by =
        gen_chance(g, 75) ? gen_format(g, "%u", gen_below(g, 32)) : gen_source(g, place, GEN_R);
    const char *a = gen_source(g, place, GEN_R), *d = gen_dest(g, GEN_R);
    gen_line(g, "shfl.sync.%s.b32 %s%s, %s, %s, %u, %s;", modes[mode], d, pred, a, by, clamp,
             place->mask);
}

static void vote(struct gen *g, const struct gen_place *place)
{
    static const char *const modes[] = {"all", "any", "uni"};
    const char *not = gen_chance(g, 30) ? "!" : "", *p = gen_source(g, place, GEN_P);
    const char *mode = modes[gen_below(g, 3)];
    if (gen_chance(g, 40))
        gen_line(g, "vote.sync.ballot.b32 %s, %s%s, %s;", gen_dest(g, GEN_R), not, p, place->mask);
    else
        gen_line(g, "vote.sync.%s.pred %s, %s%s, %s;", mode, gen_dest(g, GEN_P), not, p,
                 place->mask);
}

static void match(struct gen *g, const struct gen_place *place)
{
    bool is_64 = gen_chance(g, 30);
    const char *a = gen_source(g, place, is_64 ? GEN_D : GEN_R), *d = gen_dest(g, GEN_R),
               *p = gen_dest(g, GEN_P);
    if (gen_chance(g, 60))
        gen_line(g, "match.any.sync.b%u %s, %s, %s;", is_64 ? 64 : 32, d, a, place->mask);
    else
        gen_line(g, "match.all.sync.b%u %s|%s, %s, %s;", is_64 ? 64 : 32, d, p, a, place->mask);
}

static void reduce(struct gen *g, const struct gen_place *place)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};
    const char *op = ops[gen_below(g, 9)], *a = gen_source(g, place, GEN_R);
    gen_line(g, "redux.sync.%s %s, %s, %s;", op, gen_dest(g, GEN_R), a, place->mask);
}

void gen_warp(struct gen *g, const struct gen_place *place)
{
    bool is_whole = !strcmp(place->mask, "-1") && g->cta_threads % 32 == 0;
    switch (gen_below(g, 8)) {
    case 0:
        vote(g, place);
        break;
    case 1:
        vote(g, place);
        break;
    case 2:
        match(g, place);
        break;
    case 3:
        reduce(g, place);
        break;
    case 4:
        if (gen_chance(g, 50))
            gen_line(g, "bar.warp.sync %s;", place->mask);
        else
            gen_line(g, "elect.sync _|%s, %s;", gen_dest(g, GEN_P), place->mask);
        break;
    default:
        if (is_whole)
            shuffle_whole(g, place);
        else
            shuffle_among(g, place);
    }
}

/* ---- CTAs ------------------------------------------------------------------------------------ */

/* Whose value a thread reads: computed into %t<n> from %tid, below the number of threads. */
static char *partner_text(struct gen *g, const struct gen_place *place, unsigned n)
{
    unsigned by = 1 + gen_below(g, g->cta_threads);
    switch (gen_below(g, 5)) {
    case 0:
        return gen_format(g, "add.u32 %%t%u, %%ltid, %u;\nrem.u32 %%t%u, %%t%u, %u;\n", n, by, n, n,
                          g->cta_threads);
    case 1:
        return gen_format(g, "sub.u32 %%t%u, %u, %%ltid;\n", n, g->cta_threads - 1);
    case 2:
        return gen_format(g, "mov.u32 %%t%u, %u;\n", n, by - 1);
    case 3:
        return gen_format(g, "and.b32 %%t%u, %%ltid, %s;\n", n,
                          gen_chance(g, 50) ? gen_uniform_source(g, place, GEN_R)
                                            : gen_format(g, "%u", (1u << gen_below(g, 6)) - 1));
    default:
        return gen_format(g, "rem.u32 %%t%u, %s, %u;\n", n, gen_source(g, place, GEN_R),
                          g->cta_threads);
    }
}

static void exchange(struct gen *g, const struct gen_place *place)
{
    static const char *const types[] = {"u8", "s16", "b32", "f32", "b64", "f64"};
    static const unsigned bytes[] = {1, 2, 4, 4, 8, 8};
    unsigned t = gen_below(g, 6), n = gen_temp(g), m = gen_temp(g);
    enum gen_class class = bytes[t] == 8 ? GEN_D : bytes[t] == 4 ? GEN_R : GEN_H;
    const char *from = gen_dest(g, class), *to = gen_dest(g, class);
    gen_line(g,
             "mov.u32 %%z32_%u, buffer;\nmad.lo.u32 %%t%u, %%ltid, %u, %%z32_%u;\nst.shared.%s "
             "[%%t%u], %s;\nbar.sync 0;\n"
             "%smul.lo.u32 %%t%u, %%t%u, %u;\nadd.u32 %%t%u, %%t%u, %%z32_%u;\nld.shared.%s %s, "
             "[%%t%u];\nbar.sync 0;",
             n, n, bytes[t], n, types[t], n, from, partner_text(g, place, m), m, m, bytes[t], m, m,
             n, types[t], to, m);
}

/* Distances from one round to the next: into %z32_<n>, what makes the next one, and until which
 * is left. */
struct distances {
    const char *first, *next;
};

static struct distances draw_distances(struct gen *g, const struct gen_place *place, unsigned n)
{
    unsigned bits = 0;
    while (1u << bits < g->cta_threads)
        bits++;
    const char *down = gen_format(g, "mov.u32 %%z32_%u, %u;\n", n, 1u << gen_below(g, bits + 1));
    const char *any = gen_format(
        g, "and.b32 %%t%u, %s, %u;\nmov.b32 %%z32_%u, 1;\nshl.b32 %%z32_%u, %%z32_%u, %%t%u;\n", n,
        gen_uniform_source(g, place, GEN_R), bits > 3 ? 3 : 1, n, n, n, n);
    switch (gen_below(g, 4)) {
    case 0:
        return (struct distances){
            down, gen_format(g, "shr.u32 %%z32_%u, %%z32_%u, 1;\nsetp.ne.u32 %%q%u, %%z32_%u, 0;\n",
                             n, n, n, n)};
    case 1:
        return (struct distances){
            any, gen_format(g, "shr.u32 %%z32_%u, %%z32_%u, 1;\nsetp.gt.u32 %%q%u, %%z32_%u, 0;\n",
                            n, n, n, n)};
    case 2:
        return (struct distances){
            gen_format(g, "mov.u32 %%z32_%u, 1;\n", n),
            gen_format(g, "shl.b32 %%z32_%u, %%z32_%u, 1;\nsetp.le.u32 %%q%u, %%z32_%u, %u;\n", n,
                       n, n, n, 1u << bits)};
    default:
        return (struct distances){gen_chance(g, 50) ? any : down,
                                  gen_format(g, "setp.ne.u32 %%q%u, 0, 0;\n", n)};
    }
}

/* Threads meet at distances: each has two elements of `meeting` that no other has in that round,
 * whose addresses go to %t<n> and %t<m>: those of a pair at this distance; or its partner's, and
 * the one so many further on as there are partners. */
static const char *tile_addresses(struct gen *g, unsigned n, unsigned m, unsigned bytes)
{
    if (gen_chance(g, 60))
        return gen_format(g,
                          "add.u32 %%t%u, %%z32_%u, -1;\nand.b32 %%t%u, %%t%u, %%ltid;\nshl.b32 "
                          "%%w%u, %%ltid, 1;\n"
                          "sub.u32 %%w%u, %%w%u, %%t%u;\nmad.lo.u32 %%t%u, %%w%u, %u, "
                          "%%m%u;\nmul.lo.u32 %%w%u, %%z32_%u, %u;\n"
                          "add.u32 %%t%u, %%t%u, %%w%u;\n",
                          n, n, n, n, n, n, n, n, n, n, bytes, n, m, n, bytes, m, n, m);
    return gen_format(g,
                      "xor.b32 %%w%u, %%ltid, %%z32_%u;\nmad.lo.u32 %%t%u, %%w%u, %u, "
                      "%%m%u;\nadd.u32 %%t%u, %%t%u, %u;\n",
                      n, n, n, n, bytes, n, m, n, g->cta_threads * bytes);
}

static void load_value(struct gen *g, struct gen_values *values, unsigned bits, unsigned n)
{
    struct gen_value v = gen_new_value(g, bits == 64 ? GEN_D : GEN_R, false);
    gen_line(g, "ld.shared.b%u %s, [%%t%u];", bits, v.name, n)->stand_in = gen_zero_text(g, &v);
    gen_add_value(values, &v);
}

void gen_meet(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g), m = gen_temp(g), bytes = gen_chance(g, 70) ? 4 : 8, bits = 8 * bytes;
    enum gen_class class = bytes == 8 ? GEN_D : GEN_R;
    const char *a = gen_source(g, place, class), *b = gen_source(g, place, class),
               *to = gen_dest(g, class);
    struct distances d = draw_distances(g, place, n);
    struct gen_values values = {.depth = place->depth + 1};
    struct gen_place inner = *place;
    inner.depth++;
    inner.is_uniform = false;
    inner.mask = inner.leave = inner.again = NULL;
    inner.stays = true;
    inner.values = &values;
    struct gen_node *node = gen_node(g, 1);
    node->part[0] = gen_format(
        g,
        "mov.u32 %%m%u, meeting;\nmad.lo.u32 %%m%u, %%ltid, %u, %%m%u;\nst.shared.b%u [%%m%u], "
        "%s;\n"
        "st.shared.b%u [%%m%u+%u], %s;\n%sL%u_head:\nbar.sync 0;\n%sadd.u32 %%w%u, %%m%u, %u;\n"
        "setp.gt.u32 %%q%u, %%t%u, %%w%u;\n@%%q%u bra L%u_on;\n",
        n, m, bytes, n, bits, m, a, bits, m, g->cta_threads * bytes, b, d.first, n,
        tile_addresses(g, n, m, bytes), n, n, (2 * g->cta_threads - 1) * bytes, n, m, n, n, n);
    struct gen_node **was = gen_enter(g, node, 0);
    load_value(g, &values, bits, n);
    load_value(g, &values, bits, m);
    for (unsigned i = gen_below(g, 3); i-- > 0;)
        gen_burst(g, &inner);
    const char *some = gen_source(g, &inner, GEN_P),
               *skip = gen_chance(g, 40) ? gen_format(g, "@%s bra L%u_on;\n", some, n) : "";
    const char *guard = *skip ? "" : gen_guard(g), *x = gen_value(g, &values, class, false),
               *y = gen_value(g, &values, class, false);
    gen_line(g, "%s%sst.shared.b%u [%%t%u], %s;\n%sst.shared.b%u [%%t%u], %s;", skip, guard, bits,
             n, x, guard, bits, m, y);
    g->at = was;
    node->part[1] = gen_format(
        g,
        "L%u_on:\n%s@%%q%u bra L%u_head;\nbar.sync 0;\nld.shared.b%u %s, [%%m%u];\nbar.sync 0;\n",
        n, d.next, n, n, bits, to, m);
}

/* All add to few cells; the result is read when all have. */
static void sum_up(struct gen *g, const struct gen_place *place)
{
    static const char *const ops[] = {"add.u32", "min.s32", "max.u32", "and.b32",
                                      "or.b32",  "xor.b32", "inc.u32", "add.u64",
                                      "max.s64", "min.u64", "xor.b64", "or.b64"};
    enum { OPS = sizeof ops / sizeof *ops, NARROW = 7, CELLS = 4 };
    unsigned op = gen_below(g, g->for_gpu ? NARROW : OPS), n = gen_temp(g), at = op * CELLS * 8;
    bool is_64 = strstr(ops[op], "64") != NULL;
    enum gen_class class = is_64 ? GEN_D : GEN_R;
    const char *cell =
        gen_chance(g, 50) ? gen_format(g, "%u", gen_below(g, CELLS)) : gen_source(g, place, GEN_R);
    const char *read =
        gen_chance(g, 50) ? gen_format(g, "%u", gen_below(g, CELLS)) : gen_source(g, place, GEN_R);
    const char *atom =
        gen_chance(g, 30) ? gen_format(g, "atom.shared.%s %%z%s%u,", ops[op], is_64 ? "" : "32_", n)
                          : gen_format(g, "red.shared.%s", ops[op]);
    const char *value = !strcmp(ops[op], "inc.u32") ? "1000" : gen_source(g, place, class),
               *guard = gen_guard(g);
    gen_line(g,
             "mov.u32 %%m%u, cells;\nmov.b32 %%t%u, %s;\nand.b32 %%t%u, %%t%u, %u;\nmad.lo.u32 "
             "%%t%u, %%t%u, 8, %%m%u;\n"
             "%s%s [%%t%u+%u], %s;\nbar.sync 0;\nmov.b32 %%t%u, %s;\nand.b32 %%t%u, %%t%u, %u;\n"
             "mad.lo.u32 %%t%u, %%t%u, 8, %%m%u;\nld.shared.b%u %s, [%%t%u+%u];\nbar.sync 0;",
             n, n, cell, n, n, CELLS - 1, n, n, n, guard, atom, n, at, value, n, read, n, n,
             CELLS - 1, n, n, n, is_64 ? 64 : 32, gen_dest(g, class), n, at);
    g->cell_bytes = OPS * CELLS * 8;
}

static void reduce_at_barrier(struct gen *g, const struct gen_place *place)
{
    const char *not = gen_chance(g, 30) ? "!" : "", *p = gen_source(g, place, GEN_P);
    unsigned barrier = gen_below(g, 3);
    const char *op = gen_chance(g, 50) ? "and" : "or";
    unsigned d = gen_below(g, GEN_UNIFORM_POOL);
    if (gen_chance(g, 50))
        gen_line(g, "bar.red.popc.u32 %%ur%u, %u, %s%s;", d, barrier, not, p);
    else
        gen_line(g, "bar.red.%s.pred %%up%u, %u, %s%s;", op, d, barrier, not, p);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Puts the number of threads that still run into %t<n>, and the address of two words for waits
 * into %w<n>. */
static char *count_text(struct gen *g, unsigned n)
{
    return gen_format(
        g, "mov.u32 %%w%u, words;\nsetp.eq.u32 %%q%u, 0, 0;\nbar.red.popc.u32 %%t%u, 0, %%q%u;\n",
        n, n, n, n);
}

/* Exchange where threads wait, in a loop, until all have stored: for a count or an mbarrier's
 * phase. Some may pass by the loop, and wait at the barrier behind. */
static void wait_for_all(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g), m = gen_temp(g);
    bool has_mbarrier = gen_chance(g, 50);
    const char *from = gen_dest(g, GEN_D), *to = gen_dest(g, GEN_D),
               *passes = gen_chance(g, 50) ? gen_source(g, place, GEN_P) : NULL;
    const char *count = count_text(g, n), *partner = partner_text(g, place, m);
    const char *begin = has_mbarrier
                            ? gen_format(g, "mbarrier.init.shared.b64 [%%w%u], %%t%u;\n", n, n)
                            : gen_format(g, "st.shared.u32 [%%w%u], 0;\n", n);
    const char *arrive = has_mbarrier
                             ? gen_format(g, "mbarrier.arrive.shared.b64 %%x%u, [%%w%u];\n", n, n)
                             : gen_format(g, "membar.cta;\nred.shared.add.u32 [%%w%u], 1;\n", n);
    const char *pass = passes ? gen_format(g, "@%s bra L%u_on;\n", passes, n) : "";
    const char *test =
        has_mbarrier
            ? gen_format(g, "mbarrier.try_wait.parity.shared.b64 %%q%u, [%%w%u], 0;\n@!%%q%u", n, n,
                         n)
            : gen_format(g,
                         "ld.volatile.shared.u32 %%z32_%u, [%%w%u];\nsetp.lt.u32 %%q%u, %%z32_%u, "
                         "%%t%u;\n@%%q%u",
                         n, n, n, n, n, n);
    gen_line(g,
             "%s%sbar.sync 0;\nmov.u32 %%m%u, buffer;\nmad.lo.u32 %%z32_%u, %%ltid, 8, "
             "%%m%u;\nst.shared.b64 [%%z32_%u], %s;\n"
             "%s%sL%u_wait:\n%s bra L%u_wait;\nL%u_on:\n%s\n%smad.lo.u32 %%t%u, %%t%u, 8, "
             "%%m%u;\nld.shared.b64 %s, [%%t%u];\n"
             "bar.sync 0;%s",
             count, begin, n, n, n, n, from, arrive, pass, n, test, n, n,
             passes ? "bar.sync 0;" : "membar.cta;", partner, m, m, n, to, m,
             has_mbarrier ? gen_format(g, "\nmbarrier.inval.shared.b64 [%%w%u];\nbar.sync 0;", n)
                          : "");
}

/* A lock guards a sum. */
static void add_under_lock(struct gen *g, const struct gen_place *place)
{
    unsigned n = gen_temp(g);
    gen_line(g,
             "mov.u32 %%w%u, words;\nst.shared.v2.u64 [%%w%u], {0, 0};\nbar.sync 0;\nL%u_lock:\n"
             "atom.shared.cas.b32 %%t%u, [%%w%u], 0, 1;\nsetp.ne.u32 %%q%u, %%t%u, 0;\n@%%q%u bra "
             "L%u_lock;\n"
             "ld.volatile.shared.u32 %%t%u, [%%w%u+8];\nadd.u32 %%t%u, %%t%u, "
             "%s;\nst.volatile.shared.u32 [%%w%u+8], %%t%u;\n"
             "membar.cta;\natom.shared.exch.b32 %%t%u, [%%w%u], 0;\nbar.sync 0;\nld.shared.u32 %s, "
             "[%%w%u+8];\nbar.sync 0;",
             n, n, n, n, n, n, n, n, n, n, n, n, n, gen_source(g, place, GEN_R), n, n, n, n,
             gen_dest(g, GEN_R), n);
}

/* Warps of even number hand over to the next ones, and do not wait. All threads run. */
static void hand_over(struct gen *g)
{
    unsigned n = gen_temp(g), threads = (g->cta_threads + 31) / 32 * 32;
    const char *from = gen_dest(g, GEN_D), *to = gen_dest(g, GEN_D);
    gen_line(g,
             "mov.u32 %%m%u, buffer;\nmad.lo.u32 %%m%u, %%ltid, 8, %%m%u;\nst.shared.b64 [%%m%u], "
             "%s;\nand.b32 %%t%u, %%ltid, 32;\n"
             "setp.ne.u32 %%q%u, %%t%u, 0;\n@%%q%u bra L%u_take;\nbar.arrive 3, %u;\nbra "
             "L%u_on;\nL%u_take:\nbar.sync 3, %u;\n"
             "ld.shared.b64 %s, [%%m%u+-256];\nL%u_on:\nbar.sync 0;",
             n, n, n, n, from, n, n, n, n, n, threads, n, n, threads, to, n, n);
}

static void wait(struct gen *g, const struct gen_place *place)
{
    unsigned roll = gen_below(g, 4);
    if (roll == 0 && g->cta_threads > 32 && !g->has_returns)
        hand_over(g);
    else if (roll == 1)
        add_under_lock(g, place);
    else
        wait_for_all(g, place);
}

void gen_cta(struct gen *g, const struct gen_place *place)
{
    static const char *const plain[] = {"bar.sync 0;",     "bar.sync 1;", "barrier.sync.aligned 2;",
                                        "barrier.sync 0;", "membar.cta;", "fence.acq_rel.gpu;"};
    if (g->has_waits && gen_chance(g, 40)) {
        wait(g, place);
        return;
    }
    switch (gen_below(g, 6)) {
    case 0:
        gen_line(g, "%s", plain[gen_below(g, 6)]);
        break;
    case 1:
        reduce_at_barrier(g, place);
        break;
    case 2:
        sum_up(g, place);
        break;
    default:
        exchange(g, place);
    }
}
