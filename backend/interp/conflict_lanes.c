/* Words of accesses, compared with what is remembered of them, and remembered: of lanes that access
 * what lies one behind the other, or one place, many at once, by lines (lines.h) or in runs of
 * cells. */
#include "backend/interp/conflict.h"
#include "backend/interp/lines.h"

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

/* A strong write among those of others at this time, of which the cell has the first and the last
 * that came: it is the last now. True of most atomics that many threads do to one word. */
static inline bool note_among(const struct pt_conflict *a, const struct pt_word *w)
{
    const uint64_t is_write = UINT64_C(1) << PT_STAMP_IS_WRITE;
    uint64_t stamp = stamp_of(a, w), first = pt_cell_stamp(w->cell, PT_CELL_READ) ^ is_write;
    uint64_t differ = (pt_cell_stamp(w->cell, PT_CELL_WRITE) ^ stamp) | (first ^ stamp);
    if (a->scope < PT_SCOPE_GPU || !(a->use & PT_USE_WRITE) || w->bytes != 15 ||
        differ & ~PT_STAMP_THREAD || !((first ^ stamp) & PT_STAMP_THREAD) ||
        pt_cell_stamp(w->cell, PT_CELL_READ_LAST))
        return false;
    pt_cell_set(w->cell, PT_CELL_WRITE, stamp, a->site, w->bytes);
    return true;
}

static __attribute__((noinline)) void compare_highest(const struct pt_conflict *a,
                                                      const struct pt_word *w)
{
    struct pt_word highest = *w;
    highest.lane = w->high;
    compare(a, &highest, PT_CELL_WRITE);
}

static inline void see_word(const struct pt_conflict *a, const struct pt_word *w)
{
    if (note_among(a, w))
        return;
    bool is_told = compare(a, w, PT_CELL_WRITE);
    if (!is_told && w->high != w->lane)
        compare_highest(a, w);
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

static inline struct place find_shared(const struct pt_conflict *a, uint32_t offset)
{
    const struct pt_known_cluster *k = a->cluster;
    size_t cells = k->window_cells, rank = offset >> PT_SHARED_RANK_SHIFT;
    size_t cell = (offset & ((1u << PT_SHARED_RANK_SHIFT) - 1)) / 4;
    if (rank * a->launch->clocks.n_warps >= k->n_warps || cell >= cells)
        return (struct place){0};
    char *lines = k->shared_lines + (rank * cells + cell) / PT_LINE_WORDS * PT_LINE_BYTES_SHARED;
    struct pt_line *line = (struct pt_line *)(void *)lines;
    if (line->newest < k->born) /* of a CTA before */
        *line = (struct pt_line){.newest = k->born};
    return (struct place){.line = line->is_split ? NULL : line,
                          .cell = pt_cells_at(k->shared, rank * cells + cell),
                          .room = PT_LINE_ROOM_SHARED,
                          .born = k->born,
                          .is_shared = true};
}

/* Its own window of local memory is a thread's alone. */
static inline struct place find_place(const struct pt_conflict *a, uint64_t address)
{
    const struct pt_cta *cta = a->frame->cta;
    const struct pt_launch *l = cta->launch;
    struct place at = {.born = 1, .room = PT_LINE_ROOM};
    uint64_t offset = address - (uint64_t)(uintptr_t)a->frame->shared;
    if (offset <= UINT32_MAX)
        return find_shared(a, (uint32_t)offset);
    if (address - (uint64_t)(uintptr_t)cta->local < l->local_stride * l->threads)
        return at;
    const struct pt_page *page = pt_cells_page(&a->launch->cells, address);
    if (page)
        at.cell = pt_line_cell(page, address);
    if (page && !at.cell.line)
        at.line = pt_line_of(page, address);
    return at;
}

/* It is in a cell from now on. */
static void split(const struct pt_conflict *a, struct place *at, uint64_t address)
{
    if (at->line && at->is_shared) {
        pt_line_split(at->line, at->cell.line);
        at->line->is_split = true; /* until the CTA ends */
    } else if (at->line) {
        at->cell = pt_cells_split(&a->launch->cells, address);
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
        w->cell.line = place.cell.line;
        w->cell.word = place.cell.word;
        if (w->cell.line)
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
        w.cell.word = i;
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
    uint32_t lane;  /* the lowest */
    uint32_t lanes; /* those from it on */
    uint32_t log;
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
    if (at.cell.line)
        see_cells(a, &at, e, address & -(UINT64_C(1) << PT_LINE_SHIFT), b->cta_time);
}

/* The words of each `1 << log` bytes that begin with the first `bytes` of them. */
static uint32_t words_of_lanes(uint32_t bytes, uint32_t log)
{
    static const uint32_t firsts[] = {
        [3] = 0x55555555, [4] = 0x11111111, [5] = 0x01010101, [6] = 0x00010001};
    uint32_t words = bytes < 1u << log ? firsts[log] : UINT32_MAX;
    return bytes < 8 || bytes == 1u << log ? words : bytes == 8 ? words * 3 : words * 15;
}

/* The words of lanes of a line, of which the first is one. */
static inline uint32_t words_of(uint32_t lanes, uint32_t bytes, uint32_t log)
{
    uint32_t words = 0, n = PT_WARP_SIZE - (uint32_t)__builtin_clz(lanes);
    if (log == 2)
        return lanes;
    if (!(lanes & (lanes + 1)))
        return words_of_lanes(bytes, log) & (uint32_t)((UINT64_C(1) << ((n << log) / 4)) - 1);
    for (uint32_t left = lanes, of_lane = (1u << bytes / 4) - 1; left; left &= left - 1)
        words |= of_lane << ((uint32_t)__builtin_ctz(left) << log) / 4;
    return words;
}

static void see_run(const struct pt_conflict *a, struct pt_line_bounds *b, const struct run *run)
{
    uint64_t is_write = a->use & PT_USE_WRITE ? 1 : 0;
    uint32_t log = run->log == PT_LINE_ALL ? (uint32_t)__builtin_ctz(a->bytes) : run->log;
    uint64_t address = a->address[run->lane];
    for (uint32_t lane = run->lane, left = run->lanes, n; left; left = n < 32 ? left >> n : 0) {
        uint32_t skipped = (uint32_t)__builtin_ctz(left);
        left >>= skipped;
        lane += skipped;
        address += (uint64_t)skipped << log;
        uint32_t in_line = (uint32_t)address & ((1u << PT_LINE_SHIFT) - 1);
        n = ((1u << PT_LINE_SHIFT) - in_line + (1u << log) - 1) >> log;
        uint32_t lanes = left & (uint32_t)((UINT64_C(1) << (n < 32 ? n : 32)) - 1);
        struct pt_line_access e = {.stamp = a->stamp | is_write << PT_STAMP_IS_WRITE |
                                            (uint64_t)lane << PT_STAMP_LOW |
                                            (uint64_t)run->more << PT_STAMP_HIGH,
                                   .words = words_of(lanes, a->bytes, log) << in_line / 4,
                                   .site = (uint16_t)a->site,
                                   .first = (uint8_t)(in_line / 4),
                                   .log = (uint8_t)run->log};
        see_line(a, b, address, &e);
        lane += n;
        address += (uint64_t)n << log;
    }
}

/* ---- shapes of a warp's addresses ------------------------------------------------------------ */

/* The words of a lane where those are in cells, or are to be. False: they are in a line. */
static inline bool see_own_cells(const struct pt_conflict *a, uint32_t lane)
{
    uint64_t address = a->address[lane];
    struct place at = find_place(a, address);
    if (at.line && !a->scope)
        return false;
    if (at.line)
        split(a, &at, address);
    for (uint32_t i = 0; at.cell.line && i < a->bytes; i += 4) {
        /* no copy of the cell: whole, it waits for its halves to be stored */
        struct pt_word w = {.cell = {at.cell.line, at.cell.word + i / 4},
                            .address = address + i,
                            .lane = lane,
                            .high = lane,
                            .bytes = 15,
                            .born = at.born};
        see_word(a, &w);
    }
    return true;
}

/* True if the next lane neither goes on with it nor reads the same. */
static inline bool is_alone(const struct pt_conflict *a, uint32_t left, uint32_t lane)
{
    if (lane + 1 == PT_WARP_SIZE || !(left >> (lane + 1) & 1))
        return true;
    uint64_t step = a->address[lane + 1] - a->address[lane];
    return step ? a->scope || step != a->bytes : a->use & PT_USE_WRITE;
}

/* The lowest of `left`, and those behind it that do as it does. Returns them. */
static uint32_t see_some(const struct pt_conflict *a, struct pt_line_bounds *b, uint32_t left,
                         uint32_t log)
{
    uint32_t lane = (uint32_t)__builtin_ctz(left), more = 0;
    bool are_words = log >= 2 && log < PT_LINE_ALL && !(a->address[lane] & 3);
    if (are_words && is_alone(a, left, lane) && see_own_cells(a, lane))
        return 1u << lane;
    uint32_t n = count_run(a, left, lane, a->bytes);
    uint64_t bytes = (uint64_t)n * a->bytes;
    if (n == 1 && !(a->use & PT_USE_WRITE))
        more = (n = count_run(a, left, lane, 0)) - 1;
    uint32_t lanes = (uint32_t)((UINT64_C(1) << n) - 1);
    if (log < PT_LINE_ALL && !a->scope && !((a->address[lane] | bytes) & 3)) {
        bool is_run = bytes > a->bytes;
        see_run(a, b, &(struct run){lane, is_run ? lanes : 1, is_run ? log : PT_LINE_ALL, more});
    } else {
        struct pt_word w = {.lane = lane, .high = lane + more};
        lanes = (uint32_t)((UINT64_C(1) << (more + 1)) - 1);
        see_range(a, &w, a->address[lane], a->bytes, see_word);
    }
    return lanes << lane;
}

/* True if the halves of a warp read the same. */
static bool are_halves_alike(const struct pt_conflict *a, const uint32_t log[2])
{
    return log[0] == log[1] && log[0] < PT_LINE_ALL && a->address[0] == a->address[HALF] &&
           a->lanes == UINT32_MAX && !(a->use & PT_USE_WRITE) && a->bytes >= 4;
}

static void see_shape(const struct pt_conflict *a, struct pt_line_bounds *b, uint32_t lanes,
                      uint32_t log, uint32_t more)
{
    uint32_t lane = (uint32_t)__builtin_ctz(lanes), last = 31 - (uint32_t)__builtin_clz(lanes);
    struct run run = {lane, lanes >> lane, log, more};
    if (log == PT_LINE_ALL)
        run = (struct run){lane, 1, log, last - lane};
    see_run(a, b, &run);
}

/* All as one, or the halves of a warp. Returns the lanes that are left. */
static uint32_t see_shapes(const struct pt_conflict *a, struct pt_line_bounds *b)
{
    enum { LOW_HALF = UINT32_MAX >> HALF };
    uint32_t half[] = {a->lanes & LOW_HALF, a->lanes & ~(uint32_t)LOW_HALF}, left = 0;
    uint32_t all = pt_conflict_shape(a, a->lanes);
    if (all <= PT_LINE_ALL) {
        see_shape(a, b, a->lanes, all, 0);
        return 0;
    }
    if (!half[0] || !half[1])
        return a->lanes;
    uint32_t log[] = {pt_conflict_shape(a, half[0]), pt_conflict_shape(a, half[1])};
    if (are_halves_alike(a, log)) {
        see_shape(a, b, LOW_HALF, log[0], HALF);
        return 0;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (log[i] <= PT_LINE_ALL)
            see_shape(a, b, half[i], log[i], 0);
        else
            left |= half[i];
    }
    return left;
}

/* Lanes that access this and that: what is known of the words is on its way to the cache. */
static void fetch(const struct pt_conflict *a, uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint64_t address = a->address[__builtin_ctz(left)];
        const struct pt_page *page = pt_cells_recent(&a->launch->cells, address);
        if (page && page->cells) {
            struct pt_cell c = pt_line_cell(page, address);
            for (int i = 0; i < PT_CELL_STAMPS; i++)
                __builtin_prefetch(pt_cell_stamps(c, (enum pt_cell_stamp)i));
            __builtin_prefetch(&c.line->more[c.word]);
        } else if (page) {
            __builtin_prefetch(pt_line_of(page, address));
        }
    }
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
    bool has_log = a->bytes <= BYTES_MOST && !(a->bytes & (a->bytes - 1));
    uint32_t log = has_log ? (uint32_t)__builtin_ctz(a->bytes) : PT_LINE_ALL;
    if (a->lanes != UINT32_MAX)
        b.cta_time = pt_causality_least(a->warp, a->lanes);
    uint32_t left = has_log && !a->scope ? see_shapes(a, &b) : a->lanes;
    if (left & (left - 1))
        fetch(a, left);
    while (left)
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
