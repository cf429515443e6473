/* Words that lanes access one behind the other: compared and remembered all at once, in loops that
 * the compiler turns into SIMD. */
#include "backend/interp/conflict.h"

/* What the access knows, in numbers that vectors compare well: signed. */
struct bounds {
    int64_t born, first, n_warps, cta_time, warp, warp_time;
};

enum {
    TIME_MASK = (1 << PT_STAMP_TIME_BITS) - 1,
    WARP_MASK = (1 << PT_STAMP_WARP_BITS) - 1,
};
static inline uint64_t is_old(const struct bounds *b, uint64_t stamp)
{
    int64_t time = (int64_t)(stamp & TIME_MASK);
    int64_t warp = (int64_t)(stamp >> PT_STAMP_WARP & WARP_MASK), in_cta = warp - b->first;
    return (uint64_t)((time < b->born) |
                      ((in_cta >= 0) & (in_cta < b->n_warps) & (time <= b->cta_time)) |
                      ((warp == b->warp) & (time <= b->warp_time)));
}

/* True if all of the stamps are before the access, or of the same threads. */
static bool are_old(const struct bounds *b, const uint64_t *stamps, const uint64_t *before,
                    uint32_t n, bool is_single)
{
    uint64_t thread = is_single ? PT_STAMP_THREAD : UINT64_MAX, differ = 0;
    for (uint32_t i = 0; i < n; i++)
        differ |= 1 ^ (is_old(b, before[i]) | (uint64_t)!((before[i] ^ stamps[i]) & thread));
    return !differ;
}

static bool are_none(const uint64_t *stamps, uint32_t n)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < n; i++)
        any |= stamps[i];
    return !any;
}

static void write_run(const struct pt_conflict *a, struct pt_cell c, const uint64_t *stamps,
                      uint32_t n)
{
    uint64_t *write = pt_cell_stamps(c, PT_CELL_WRITE), *read = pt_cell_stamps(c, PT_CELL_READ);
    uint64_t *last = pt_cell_stamps(c, PT_CELL_READ_LAST);
    for (uint32_t i = 0; i < n; i++) {
        write[i] = stamps[i];
        read[i] = last[i] = 0;
    }
    struct pt_cell_more more = {.tags[PT_CELL_WRITE] = pt_cell_tag(a->site, 15),
                                .high = pt_cell_high(PT_CELL_WRITE, 15)};
    for (uint32_t i = 0; i < n; i++)
        c.line->more[c.word + i] = more;
}

/* True if none of the last reads is of other lanes of this warp at this time, which become one with
 * it, and no first read is a write. */
static bool are_apart(const struct bounds *b, const uint64_t *stamps, const uint64_t *first,
                      const uint64_t *last, uint32_t n)
{
    const uint64_t others = ~(PT_STAMP_LANES | UINT64_C(1) << PT_STAMP_IS_SPREAD);
    uint64_t meet = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t differ = last[i] ^ stamps[i];
        meet |= (uint64_t)(!(differ & others) & !!(differ & ~others));
        meet |= first[i] >> PT_STAMP_IS_WRITE & 1 & ~is_old(b, first[i]);
    }
    return !meet;
}

/* Where `moves`: the last read is the first now. */
static void move_more(struct pt_cell_more *more, uint64_t moves)
{
    const uint8_t first = pt_cell_high(PT_CELL_READ, 15);
    if (!moves)
        return;
    more->tags[PT_CELL_READ] = more->tags[PT_CELL_READ_LAST];
    more->high = (uint8_t)((more->high & ~first) | (more->high >> 2 & first));
}

static void read_run(const struct pt_conflict *a, const struct bounds *b, struct pt_cell c,
                     const uint64_t *stamps, uint32_t n)
{
    uint64_t *first = pt_cell_stamps(c, PT_CELL_READ), moves[PT_LINE_WORDS], any = 0;
    uint64_t *last = pt_cell_stamps(c, PT_CELL_READ_LAST);
    struct pt_cell_more *more = &c.line->more[c.word];
    for (uint32_t i = 0; i < n; i++) {
        uint64_t l = last[i], f = first[i];
        uint64_t is_gone = is_old(b, l) | (uint64_t)!((l ^ stamps[i]) & PT_STAMP_THREAD);
        moves[i] = -((1 ^ is_gone) & is_old(b, f));
        first[i] = (l & moves[i]) | (f & ~moves[i]);
        last[i] = stamps[i];
        any |= moves[i];
    }
    for (uint32_t i = 0; any && i < n; i++)
        move_more(&more[i], moves[i]);
    for (uint32_t i = 0; i < n; i++) {
        more[i].tags[PT_CELL_READ_LAST] = pt_cell_tag(a->site, 15);
        more[i].high |= pt_cell_high(PT_CELL_READ_LAST, 15);
    }
}

bool pt_conflict_run(const struct pt_conflict *a, const struct pt_word *w, const uint64_t *stamps,
                     uint32_t n, uint32_t cta_time)
{
    const struct bounds b = {w->born,  a->first,        a->launch->clocks.n_warps,
                             cta_time, a->warp->number, a->warp->warp_time};
    bool is_single = pt_stamp_low(stamps[0]) == pt_stamp_high(stamps[0]);
    const uint64_t *write = pt_cell_stamps(w->cell, PT_CELL_WRITE);
    const uint64_t *last = pt_cell_stamps(w->cell, PT_CELL_READ_LAST);
    if (!are_old(&b, stamps, write, n, is_single) || (a->is_constant && !are_none(write, n)))
        return false;
    if (!(a->use & PT_USE_WRITE)) {
        if (!are_apart(&b, stamps, pt_cell_stamps(w->cell, PT_CELL_READ), last, n))
            return false;
        read_run(a, &b, w->cell, stamps, n);
        return true;
    }
    if (!are_old(&b, stamps, pt_cell_stamps(w->cell, PT_CELL_READ), n, is_single) ||
        !are_old(&b, stamps, last, n, is_single))
        return false;
    write_run(a, w->cell, stamps, n);
    return true;
}
