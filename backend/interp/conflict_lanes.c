/* Words of accesses, compared with what is remembered of them, and remembered: of lanes that access
 * what lies one behind the other, or one place, many at once, by lines (lines.h) or in runs of
 * cells. */
#include "backend/interp/conflict.h"
#include "backend/interp/lines.h"
#include "backend/interp/shape.h"

/* ---- words ----------------------------------------------------------------------------------- */

/* True if a race was told. */
static inline bool compare(const struct pt_conflict *a, const struct pt_word *w,
                           enum pt_cell_stamp which)
{
    uint64_t stamp = pt_cell_stamp(w->cell, which);
    if (!stamp || pt_conflict_is_old(a, w->lane, stamp, w->born) ||
        !(pt_cell_bytes(w->cell, which) & w->bytes) || pt_conflict_is_strong(a, stamp))
        return false;
    uint32_t other = pt_conflict_other(a, w->lane, stamp);
    if (other == PT_WARP_SIZE)
        return false;
    pt_conflict_tell(a, w, which, other);
    return true;
}

static inline uint64_t stamp_of(const struct pt_conflict *a, const struct pt_word *w)
{
    return a->stamp | (uint64_t)w->lane << PT_STAMP_LOW | (uint64_t)w->high << PT_STAMP_HIGH;
}

static inline void note_read(const struct pt_conflict *a, const struct pt_word *w)
{
    struct pt_cell c = w->cell;
    uint64_t stamp = stamp_of(a, w), last = pt_cell_stamp(c, PT_CELL_READ_LAST);
    if (last && pt_cell_widen(c, PT_CELL_READ_LAST, stamp, a->site, w->bytes))
        return;
    if (!last || pt_conflict_is_old(a, w->lane, last, w->born)) {
        pt_cell_set(c, PT_CELL_READ_LAST, stamp, a->site, w->bytes);
        return;
    }
    uint64_t first = pt_cell_stamp(c, PT_CELL_READ);
    if (!first || pt_conflict_is_old(a, w->lane, first, w->born))
        pt_cell_set(c, PT_CELL_READ, last, pt_cell_site(c, PT_CELL_READ_LAST),
                    pt_cell_bytes(c, PT_CELL_READ_LAST));
    else if (a->scope && !pt_stamp_field(last, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS))
        return; /* a weak read says more: it races with more */
    pt_cell_set(c, PT_CELL_READ_LAST, stamp, a->site, w->bytes);
}

static inline bool is_kept_write(uint64_t stamp)
{
    return stamp >> PT_STAMP_IS_WRITE & 1;
}

static inline void note_write(const struct pt_conflict *a, const struct pt_word *w)
{
    struct pt_cell c = w->cell;
    uint64_t stamp = stamp_of(a, w), old = pt_cell_stamp(c, PT_CELL_WRITE);
    const uint64_t strength = ~(UINT64_C(0xf) << PT_STAMP_SCOPE); /* and that it is atomic */
    if (a->scope && old && !((old ^ stamp) & strength) &&
        !pt_stamp_field(old, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS))
        return; /* the thread's weak write of this time says more: it races with more */
    if (old && w->bytes != 15 && pt_cell_widen(c, PT_CELL_WRITE, stamp, a->site, w->bytes)) {
        return;
    }
    uint64_t first = pt_cell_stamp(c, PT_CELL_READ);
    for (int which = PT_CELL_READ; which <= PT_CELL_READ_LAST; which++)
        if (!(pt_cell_bytes(c, (enum pt_cell_stamp)which) & ~w->bytes))
            *pt_cell_stamps(c, (enum pt_cell_stamp)which) = 0;
    if (a->scope && is_kept_write(first) && !pt_conflict_is_old(a, w->lane, first, w->born))
        *pt_cell_stamps(c, PT_CELL_READ) = first;
    else if (a->scope && old && !pt_conflict_is_old(a, w->lane, old, w->born))
        pt_cell_set(c, PT_CELL_READ, old | UINT64_C(1) << PT_STAMP_IS_WRITE,
                    pt_cell_site(c, PT_CELL_WRITE), pt_cell_bytes(c, PT_CELL_WRITE));
    pt_cell_set(c, PT_CELL_WRITE, stamp, a->site, w->bytes);
}

static inline void see_word(const struct pt_conflict *a, const struct pt_word *w)
{
    struct pt_word highest = *w;
    bool is_told = compare(a, w, PT_CELL_WRITE);
    if (!is_told && w->high != w->lane) {
        highest.lane = w->high;
        compare(a, &highest, PT_CELL_WRITE);
    }
    if (!(a->use & PT_USE_WRITE)) {
        uint64_t stamp = pt_cell_stamp(w->cell, PT_CELL_WRITE);
        if (!is_told && a->is_constant && stamp && pt_stamp_time(stamp) >= w->born &&
            pt_cell_bytes(w->cell, PT_CELL_WRITE) & w->bytes)
            pt_conflict_tell_constant(a, w);
        if (!is_told && is_kept_write(pt_cell_stamp(w->cell, PT_CELL_READ)))
            compare(a, w, PT_CELL_READ);
        note_read(a, w);
        return;
    }
    if (!is_told && !compare(a, w, PT_CELL_READ))
        compare(a, w, PT_CELL_READ_LAST);
    note_write(a, w);
}

/* ---- where words are ------------------------------------------------------------------------- */

/* Where what is known of a word is: in a line, or else a cell, or it is not kept. */
struct place {
    struct pt_line *line;
    struct pt_cell cell;
    uint32_t room, born; /* of the line; what was before is of other memory */
    bool is_shared;
};

static void find_shared(const struct pt_conflict *a, uint32_t offset, struct place *at)
{
    const struct pt_known_cluster *k = a->cluster;
    size_t cells = k->window_cells, rank = offset >> PT_SHARED_RANK_SHIFT;
    size_t cell = (offset & ((1u << PT_SHARED_RANK_SHIFT) - 1)) / 4;
    if (rank * a->launch->clocks.n_warps >= k->n_warps || cell >= cells)
        return;
    char *line = k->shared_lines + (rank * cells + cell) / PT_LINE_WORDS * PT_LINE_BYTES_SHARED;
    *at = (struct place){.line = (struct pt_line *)(void *)line,
                         .cell = pt_cells_at(k->shared, rank * cells + cell),
                         .room = PT_LINE_ROOM_SHARED,
                         .born = k->born,
                         .is_shared = true};
    if (at->line->newest < k->born) /* of a CTA before */
        *at->line = (struct pt_line){.newest = k->born};
    if (at->line->is_split)
        at->line = NULL;
}

static void set_cell(struct place *at, const struct pt_page *page, uint64_t address)
{
    at->cell = pt_cells_at(page->cells, address >> 2 & (PT_PAGE_CELLS - 1));
}

/* Its own window of local memory is a thread's alone. */
static inline struct place find_place(const struct pt_conflict *a, uint64_t address)
{
    const struct pt_cta *cta = a->frame->cta;
    const struct pt_launch *l = cta->launch;
    struct place at = {.born = 1, .room = PT_LINE_ROOM};
    uint64_t offset = address - (uint64_t)(uintptr_t)a->frame->shared;
    if (offset <= UINT32_MAX) {
        find_shared(a, (uint32_t)offset, &at);
        return at;
    }
    if (address - (uint64_t)(uintptr_t)cta->local < l->local_stride * l->threads)
        return at;
    const struct pt_page *page = pt_cells_page(&a->launch->cells, address);
    if (page && page->cells)
        set_cell(&at, page, address);
    else if (page)
        at.line =
            (struct pt_line *)(void *)&page
                ->lines[(address & ((1u << PT_PAGE_SHIFT) - 1)) / PT_LINE_BYTES * PT_LINE_BYTES];
    return at;
}

/* It is in a cell from now on. */
static void split(const struct pt_conflict *a, struct place *at, uint64_t address)
{
    if (at->line && at->is_shared) {
        uint64_t first = address / 4 % PT_LINE_WORDS;
        pt_line_split(at->line, (struct pt_cell){at->cell.at - first, at->cell.stride});
        at->line->is_split = true; /* until the CTA ends */
    } else if (at->line) {
        const struct pt_page *page = pt_cells_split(&a->launch->cells, address);
        if (page)
            set_cell(at, page, address);
    }
    at->line = NULL;
}

/* The words of a range of bytes, as cells. */
static inline void see_range(const struct pt_conflict *a, struct pt_word *w, uint64_t address,
                             uint32_t bytes,
                             void (*see)(const struct pt_conflict *, const struct pt_word *))
{
    uint64_t end = address + bytes;
    for (uint64_t at = address & ~UINT64_C(3); at < end; at += 4) {
        w->bytes = 15;
        if (at < address)
            w->bytes &= 15u << (address - at);
        if (at + 4 > end)
            w->bytes &= 15u >> (at + 4 - end);
        w->address = at;
        struct place place = find_place(a, at);
        split(a, &place, at);
        w->born = place.born;
        w->cell = place.cell;
        if (w->cell.at)
            see(a, w);
    }
}

/* ---- lanes one behind the other, or at one place --------------------------------------------- */

/* Lanes from `lane` on, of which each accesses what lies `step` behind that of the one before it.
 * Returns how many. */
static uint32_t count_run(const struct pt_conflict *a, uint32_t left, uint32_t lane, uint64_t step)
{
    uint32_t n = 1;
    while (lane + n < PT_WARP_SIZE && left >> (lane + n) & 1 &&
           a->address[lane + n] == a->address[lane] + n * step)
        n++;
    return n;
}

enum { RUN_LEAST = 4, HALF = PT_WARP_SIZE / 2 };

/* Words of a line, in cells. `line`: its address. */
static void see_cells(const struct pt_conflict *a, const struct place *at,
                      const struct pt_line_access *e, uint64_t line, uint32_t cta_time)
{
    const uint64_t is_write = UINT64_C(1) << PT_STAMP_IS_WRITE;
    uint64_t stamps[PT_LINE_WORDS];
    uint32_t n = (uint32_t)__builtin_popcount(e->words);
    bool is_dense = e->words >> e->first == UINT32_MAX >> (PT_LINE_WORDS - n);
    struct pt_word w = {.cell = at->cell, .born = at->born, .bytes = 15};
    for (uint32_t i = 0; i < n; i++)
        stamps[i] = pt_line_stamp(e, e->first + i) & ~is_write;
    if (is_dense && !a->scope && n >= RUN_LEAST && pt_conflict_run(a, &w, stamps, n, cta_time))
        return;
    for (uint32_t left = e->words; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        uint64_t stamp = pt_line_stamp(e, i);
        w.lane = pt_stamp_low(stamp);
        w.high = pt_stamp_high(stamp);
        w.address = line + 4 * i;
        w.cell.at = at->cell.at + i - e->first;
        if (e->log >= 2) {
            see_word(a, &w);
            continue;
        }
        for (uint32_t lane = w.lane, last = w.high; lane <= last; lane++) {
            struct pt_word part = {.lane = lane, .high = lane};
            see_range(a, &part, a->address[lane], a->bytes, see_word);
        }
    }
}

/* Lanes whose accesses lie `1 << log` behind each other, or a place that all of them access. */
struct run {
    uint32_t lane, n, log;
    uint32_t more; /* lanes behind each that do the same */
};

static void see_line(const struct pt_conflict *a, struct pt_line_bounds *b, uint64_t address,
                     const struct pt_line_access *e)
{
    struct place at = find_place(a, address);
    b->born = at.born;
    b->is_alone = at.is_shared && a->cluster->n_warps == b->n_warps;
    if (at.line && !a->scope && pt_line_see(at.line, at.room, b, e))
        return;
    split(a, &at, address);
    if (at.cell.at)
        see_cells(a, &at, e, address & -(UINT64_C(1) << PT_LINE_SHIFT), b->cta_time);
}

/* The words of each `1 << log` bytes that begin with the first `bytes` of them. */
static uint32_t words_of_lanes(uint32_t bytes, uint32_t log)
{
    static const uint32_t firsts[] = {
        [3] = 0x55555555, [4] = 0x11111111, [5] = 0x01010101, [6] = 0x00010001};
    uint32_t words = bytes < 1u << log ? firsts[log] : UINT32_MAX;
    return bytes == 4 ? words : bytes == 8 ? words * 3 : words * 15;
}

static void see_run(const struct pt_conflict *a, struct pt_line_bounds *b, const struct run *run)
{
    uint64_t is_write = a->use & PT_USE_WRITE ? 1 : 0;
    uint32_t log = run->log == PT_LINE_ALL ? (uint32_t)__builtin_ctz(a->bytes) : run->log;
    uint32_t pattern = a->bytes < 1u << log ? words_of_lanes(a->bytes, log) : UINT32_MAX;
    uint64_t address = a->address[run->lane], line;
    uint64_t end = address + ((uint64_t)(run->n - 1) << log) + a->bytes;
    for (uint64_t i = address, low = run->lane; i < end; i = line + (i & ((1u << log) - 1))) {
        line = (i | ((1u << PT_LINE_SHIFT) - 1)) + 1;
        uint64_t stop = line < end ? line : end;
        uint32_t first = i / 4 % PT_LINE_WORDS, n = (uint32_t)(stop - i) / 4;
        uint64_t words = ((UINT64_C(1) << n) - 1) & pattern;
        struct pt_line_access e = {.stamp = a->stamp | is_write << PT_STAMP_IS_WRITE |
                                            low << PT_STAMP_LOW |
                                            (uint64_t)run->more << PT_STAMP_HIGH,
                                   .words = (uint32_t)(words << first),
                                   .site = (uint16_t)a->site,
                                   .first = (uint8_t)first,
                                   .log = (uint8_t)run->log};
        see_line(a, b, i, &e);
        low += run->log == PT_LINE_ALL ? 0 : (stop - i + (1u << log) - 1) >> log;
    }
}

/* The lowest of `left`, and those behind it that do as it does. Returns them. */
static uint32_t see_some(const struct pt_conflict *a, struct pt_line_bounds *b, uint32_t left,
                         uint32_t log)
{
    uint32_t lane = (uint32_t)__builtin_ctz(left), n = count_run(a, left, lane, a->bytes), more = 0;
    uint64_t bytes = (uint64_t)n * a->bytes;
    if (n == 1 && !(a->use & PT_USE_WRITE))
        more = (n = count_run(a, left, lane, 0)) - 1;
    if (log < PT_LINE_ALL && !((a->address[lane] | bytes) & 3)) {
        struct run run = {lane, bytes > a->bytes ? n : 1, bytes > a->bytes ? log : PT_LINE_ALL,
                          more};
        see_run(a, b, &run);
    } else {
        struct pt_word w = {.lane = lane, .high = lane + more};
        n = more + 1;
        see_range(a, &w, a->address[lane], a->bytes, see_word);
    }
    return (uint32_t)(((UINT64_C(1) << n) - 1) << lane);
}

/* True if the lanes of half a warp access what lies `step` apart. */
static bool is_half(const struct pt_conflict *a, uint32_t lane, uint64_t step)
{
    return pt_shape_is_run64(a->address + lane, HALF, step);
}

/* The log of a power of two by which the lanes of half a warp are apart, PT_LINE_ALL if they are
 * not, but read one place, or more: neither. */
static uint32_t shape_of_half(const struct pt_conflict *a, uint32_t lane)
{
    enum { MOST = 1 << (PT_LINE_SHIFT - 1), NEITHER = PT_LINE_ALL + 1 };
    uint64_t step = a->address[lane + 1] - a->address[lane];
    bool is_read = !(a->use & PT_USE_WRITE), is_power = !(step & (step - 1));
    if (a->address[lane] & 3 || !is_power || step > MOST || (step && step < a->bytes) ||
        (a->bytes < 4 && step != a->bytes) || (!step && !is_read) || !is_half(a, lane, step))
        return NEITHER;
    return step ? (uint32_t)__builtin_ctzll(step) : PT_LINE_ALL;
}

/* All of a warp: its halves, or both as one. Returns the lanes that are left. */
static uint32_t see_halves(const struct pt_conflict *a, struct pt_line_bounds *b)
{
    uint32_t log[] = {shape_of_half(a, 0), shape_of_half(a, HALF)}, left = 0;
    uint64_t apart = a->address[HALF] - a->address[0];
    bool is_one = log[0] == log[1] && log[0] <= PT_LINE_ALL;
    bool is_twice = is_one && !apart && !(a->use & PT_USE_WRITE) && a->bytes >= 4;
    if (is_twice && log[0] == PT_LINE_ALL) {
        see_run(a, b, &(struct run){0, 1, PT_LINE_ALL, PT_WARP_SIZE - 1});
    } else if (is_twice) {
        see_run(a, b, &(struct run){0, HALF, log[0], HALF});
    } else if (is_one && log[0] < PT_LINE_ALL && apart == (uint64_t)HALF << log[0]) {
        see_run(a, b, &(struct run){0, PT_WARP_SIZE, log[0], 0});
    } else {
        for (uint32_t i = 0; i < 2; i++) {
            bool is_all = log[i] == PT_LINE_ALL;
            struct run run = {i * HALF, is_all ? 1 : HALF, log[i], is_all ? HALF - 1 : 0};
            if (log[i] <= PT_LINE_ALL)
                see_run(a, b, &run);
            else
                left |= UINT32_MAX >> HALF << i * HALF;
        }
    }
    return left;
}

void pt_conflict_see(const struct pt_conflict *a)
{
    enum { BYTES_MOST = 16 };
    struct pt_line_bounds b = {.first = a->first,
                               .n_warps = a->launch->clocks.n_warps,
                               .cta_time = a->warp->cta_least,
                               .warp = a->warp->number,
                               .warp_time = a->warp->warp_time,
                               .is_constant = a->is_constant};
    bool has_log = !a->scope && a->bytes <= BYTES_MOST && !(a->bytes & (a->bytes - 1));
    uint32_t log = has_log ? (uint32_t)__builtin_ctz(a->bytes) : PT_LINE_ALL;
    if (a->lanes != UINT32_MAX)
        b.cta_time = pt_causality_least(a->warp, a->lanes);
    bool is_full = has_log && a->lanes == UINT32_MAX;
    for (uint32_t left = is_full ? see_halves(a, &b) : a->lanes; left;)
        left &= ~see_some(a, &b, left, log);
    if (a->launch->cells.is_out_of_memory)
        pt_causality_blind(a->frame, "there is no memory for who accessed what");
}

/* ---- asynchronous operations ----------------------------------------------------------------- */

/* An operation's word: what came before it. Those that write leave nothing to compare with: whether
 * later accesses wait for it is looked at elsewhere. */
static void see_async_word(const struct pt_conflict *a, const struct pt_word *w)
{
    uint64_t stamp = pt_cell_stamp(w->cell, PT_CELL_WRITE);
    bool is_told = compare(a, w, PT_CELL_WRITE);
    bool are_strong = a->scope && pt_stamp_field(stamp, PT_STAMP_SCOPE, PT_STAMP_SCOPE_BITS);
    if (!is_told && a->is_of_async_proxy && stamp && pt_stamp_time(stamp) >= w->born &&
        !are_strong) {
        uint32_t warp = pt_stamp_warp(stamp), low = pt_stamp_low(stamp);
        struct pt_clock_known known =
            pt_clock_find(&a->launch->clocks, a->warp->clock[w->lane], warp, low);
        if (warp == a->warp->number && low == w->lane && known.proxy < a->warp->proxy[low])
            known.proxy = a->warp->proxy[low];
        if (known.proxy < pt_stamp_time(stamp))
            pt_conflict_tell_proxy(a, w, low);
    }
    if (!(a->use & PT_USE_WRITE))
        return;
    if (!is_told && !compare(a, w, PT_CELL_READ))
        compare(a, w, PT_CELL_READ_LAST);
    for (int which = 0; which < PT_CELL_STAMPS && w->bytes == 15; which++)
        *pt_cell_stamps(w->cell, (enum pt_cell_stamp)which) = 0;
}

void pt_conflict_see_async(const struct pt_conflict *a, uint32_t lane, uint64_t address,
                           uint32_t bytes)
{
    struct pt_word w = {.lane = lane, .high = lane};
    see_range(a, &w, address, bytes, see_async_word);
}
