/* Accesses of many lanes, compared and kept as one. */
#include "backend/interp/lines.h"

static inline bool is_write(const struct pt_line_access *e)
{
    return e->stamp >> PT_STAMP_IS_WRITE & 1;
}

static inline bool is_old(const struct pt_line_bounds *b, const struct pt_line_access *e)
{
    uint32_t time = pt_stamp_time(e->stamp), warp = pt_stamp_warp(e->stamp);
    return time < b->born || (warp - b->first < b->n_warps && time <= b->cta_time) ||
           (warp == b->warp && time <= b->warp_time);
}

/* True if each word is of one thread, and what they have in common is of the same in both: lanes
 * ascend with the words, so that the ends tell. */
static bool is_of_thread(const struct pt_line_access *x, const struct pt_line_access *e)
{
    const uint64_t same = ((UINT64_C(1) << PT_STAMP_WARP_BITS) - 1) << PT_STAMP_WARP;
    uint32_t both = x->words & e->words;
    if ((x->stamp ^ e->stamp) & same || pt_stamp_high(x->stamp | e->stamp) || !both)
        return false;
    uint32_t low = (uint32_t)__builtin_ctz(both), high = 31 - (uint32_t)__builtin_clz(both);
    return pt_line_lane(x, low) == pt_line_lane(e, low) && (x->log >= 2) == (e->log >= 2) &&
           pt_line_lane(x, high) == pt_line_lane(e, high);
}

/* True if one access can stand for the words of both. */
static bool is_alike(const struct pt_line_access *x, const struct pt_line_access *e)
{
    const uint64_t lanes = (UINT64_C(1) << PT_STAMP_LANE_BITS) - 1;
    return !((x->stamp ^ e->stamp) & ~(lanes << PT_STAMP_LOW)) && x->site == e->site &&
           x->log == e->log && pt_line_lane(x, 0) == pt_line_lane(e, 0);
}

static void drop_empty(struct pt_line *line)
{
    uint32_t n = 0, n_writes = 0;
    line->words = 0;
    for (uint32_t i = 0; i < line->n; i++) {
        uint32_t words = line->accesses[i].words;
        if (!words)
            continue;
        line->words |= words;
        n_writes += i < line->n_writes;
        line->accesses[n++] = line->accesses[i];
    }
    line->n = (uint8_t)n;
    line->n_writes = (uint8_t)n_writes;
}

/* Reads that one behind them says as much as, and those between a first and a last read of their
 * words: cells forget these as well. */
static void make_room(struct pt_line *line, const struct pt_line_bounds *b,
                      const struct pt_line_access *e)
{
    uint32_t before[PT_LINE_ROOM_SHARED], seen = 0, behind = is_write(e) ? 0 : e->words;
    for (uint32_t i = line->n_writes; i < line->n; i++) {
        struct pt_line_access *x = &line->accesses[i];
        if (!is_write(e) && (is_old(b, x) || is_of_thread(x, e)))
            x->words &= ~e->words;
        before[i] = seen;
        seen |= x->words;
    }
    for (uint32_t i = line->n; i-- > line->n_writes;) {
        uint32_t words = line->accesses[i].words;
        line->accesses[i].words &= ~(before[i] & behind);
        behind |= words;
    }
    drop_empty(line);
}

static bool is_safe(const struct pt_line *line, uint32_t n, const struct pt_line_bounds *b,
                    const struct pt_line_access *e)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_line_access *x = &line->accesses[i];
        if (!(x->words & e->words))
            continue;
        if (b->is_constant || (!is_old(b, x) && !is_of_thread(x, e)))
            return false;
    }
    return true;
}

/* An access of the same instruction at the same time, as it would be of a loop: they are one. */
static bool join(struct pt_line_access *x, const struct pt_line_access *e)
{
    if (!is_alike(x, e))
        return false;
    x->words |= e->words;
    return true;
}

static bool note_read(struct pt_line *line, uint32_t room, const struct pt_line_bounds *b,
                      const struct pt_line_access *e)
{
    enum { TRIED = 4 };
    struct pt_line_access *last = &line->accesses[line->n - 1];
    for (uint32_t i = line->n; i > line->n_writes && i + TRIED > line->n; i--)
        if (join(&line->accesses[i - 1], e))
            return true;
    if (line->n > line->n_writes && !(last->words & ~e->words) && is_of_thread(last, e)) {
        *last = *e;
        return true;
    }
    if (line->n == room)
        make_room(line, b, e);
    if (line->n == room)
        return false;
    line->accesses[line->n++] = *e;
    return true;
}

/* What it takes the place of it does so as well where there is no room. */
static bool note_write(struct pt_line *line, uint32_t room, const struct pt_line_bounds *b,
                       const struct pt_line_access *e)
{
    uint32_t empty = 0;
    for (uint32_t i = 0; line->words & e->words && i < line->n; i++)
        empty |= !(line->accesses[i].words &= ~e->words);
    if (empty)
        drop_empty(line);
    if (line->n_writes && join(&line->accesses[line->n_writes - 1], e))
        return true;
    if (line->n == room)
        make_room(line, b, e);
    if (line->n == room)
        return false;
    struct pt_line_access *at = &line->accesses[line->n_writes];
    if (line->n > line->n_writes)
        memmove(at + 1, at, (size_t)(line->n - line->n_writes) * sizeof *at);
    *at = *e;
    line->n++;
    line->n_writes++;
    return true;
}

bool pt_line_see(struct pt_line *line, uint32_t room, const struct pt_line_bounds *b,
                 const struct pt_line_access *e)
{
    bool writes = is_write(e);
    if (b->is_alone && line->newest <= b->cta_time)
        line->n = line->n_writes;
    uint32_t last = writes ? line->newest : line->written;
    bool is_known = b->is_alone && last <= b->cta_time && !b->is_constant;
    if (!is_known && line->words & e->words &&
        !is_safe(line, writes ? line->n : line->n_writes, b, e))
        return false;
    if (!(writes ? note_write : note_read)(line, room, b, e))
        return false;
    line->words |= e->words;
    line->newest = pt_stamp_time(e->stamp);
    line->written = writes ? line->newest : line->written;
    return true;
}

static void split_access(const struct pt_line_access *e, struct pt_cells_line *cells)
{
    for (uint32_t left = e->words; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        struct pt_cell c = {cells, i};
        uint64_t last = pt_cell_stamp(c, PT_CELL_READ_LAST);
        uint64_t stamp = pt_line_stamp(e, i) & ~(UINT64_C(1) << PT_STAMP_IS_WRITE);
        if (!is_write(e) && last && pt_cell_widen(c, PT_CELL_READ_LAST, stamp, e->site, 15))
            continue;
        bool is_same = last && !((last ^ stamp) & PT_STAMP_THREAD); /* which reads it again */
        if (!is_write(e) && last && !is_same && !pt_cell_stamp(c, PT_CELL_READ))
            pt_cell_set(c, PT_CELL_READ, last, pt_cell_site(c, PT_CELL_READ_LAST), 15);
        pt_cell_set(c, is_write(e) ? PT_CELL_WRITE : PT_CELL_READ_LAST, stamp, e->site, 15);
    }
}

void pt_line_split(const struct pt_line *line, struct pt_cells_line *cells)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < line->n; i++)
        words |= line->accesses[i].words;
    for (uint32_t left = words; left; left &= left - 1)
        for (int which = 0; which < PT_CELL_STAMPS; which++)
            cells->stamps[which][__builtin_ctz(left)] = 0;
    for (uint32_t i = 0; i < line->n; i++)
        split_access(&line->accesses[i], cells);
}
