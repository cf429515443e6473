/* Counts cp.async as an H100 does (tests/hardware/profile/README.md). */
#include "backend/interp/count.h"
#include "backend/interp/sectors.h"

enum { BANKS = 32, WORD = 4, SECTOR = 32, LINE = 128 };

/* Lanes of a warp, half or quarter that are served together: as many turns as a bank is asked for
 * by lanes, be it for the same word. */
static uint32_t count_turns(uint32_t lanes, const uint64_t *address, uint32_t bytes)
{
    uint8_t of_bank[BANKS] = {0}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t word = address[__builtin_ctz(lanes)] / WORD;
        for (uint32_t i = 0; i < bytes / WORD; i++) {
            uint8_t *of = &of_bank[(word + i) % BANKS];
            most = ++*of > most ? *of : most;
        }
    }
    return most;
}

/* Through L1: banks hold what is read, and what is written. */
static void count_cached(const struct pt_event *e, const struct pt_copies *c, uint32_t reading,
                         struct pt_counted_access *shared)
{
    uint32_t width = PT_WARP_SIZE * WORD / c->bytes;
    for (uint32_t first = 0; first < PT_WARP_SIZE; first += width) {
        uint32_t some = (uint32_t)((UINT64_C(1) << width) - 1) << first;
        uint32_t from = count_turns(reading & some, c->from, c->bytes);
        uint32_t to = count_turns(e->lanes & some, c->to, c->bytes), turns = from > to ? from : to;
        shared->parts += turns;
        shared->conflicts += turns ? turns - 1 : 0;
    }
}

static uint32_t count_sectors(uint32_t lanes, const uint64_t *from, const uint32_t *read)
{
    uint64_t seen[2 * PT_WARP_SIZE];
    uint32_t n = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(lanes);
        for (uint64_t at = from[i] / SECTOR; at <= (from[i] + read[i] - 1) / SECTOR; at++) {
            uint32_t k = 0;
            while (k < n && seen[k] != at)
                k++;
            seen[k] = at;
            n += k == n;
        }
    }
    return n;
}

/* What lanes move from a sector of global memory to one of shared memory, each half to the same
 * half, or each to the other. */
struct move {
    uint64_t from, to;     /* sectors */
    uint32_t is_crossed;   /* 1: halves change places */
    uint32_t halves;       /* of the source: bits */
    uint32_t turn;         /* how many moves like it there are before it out of the same sector */
    bool is_partly_zeroed; /* a lane reads less than it writes */
};

static bool share_lines(const struct move *a, const struct move *b)
{
    enum { SHIFT = LINE / SECTOR };
    return a->from / SHIFT == b->from / SHIFT && a->to / SHIFT == b->to / SHIFT;
}

/* True if both can be made at once, as far as the sector that each comes from allows it. */
static bool are_alike(const struct move *a, const struct move *b)
{
    return share_lines(a, b) && !((a->from ^ a->to ^ b->from ^ b->to) & 1) &&
           a->is_crossed == b->is_crossed && a->halves == b->halves;
}

static uint32_t find_moves(struct move moves[PT_WARP_SIZE], uint32_t lanes,
                           const struct pt_copies *c)
{
    enum { HALF = SECTOR / 2 };
    uint32_t n = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(lanes), k = 0;
        uint64_t from = c->from[i] / HALF, to = c->to[i] / HALF;
        uint32_t is_crossed = (from ^ to) & 1;
        while (k < n && (moves[k].from != from / 2 || moves[k].to != to / 2 ||
                         moves[k].is_crossed != is_crossed))
            k++;
        if (k == n)
            moves[n++] = (struct move){.from = from / 2, .to = to / 2, .is_crossed = is_crossed};
        moves[k].halves |= 1u << (from & 1);
        moves[k].is_partly_zeroed |= c->read[i] != c->bytes;
    }
    return n;
}

/* Past L1, 16 bytes a lane: moves between the same two lines are made at once if they are alike and
 * come from different sectors, and once more where lanes read a part only. L1's tags count, for two
 * lines, each sector that is written once. Returns sectors. */
static uint32_t count_bypassing(const struct pt_copies *c, uint32_t lanes,
                                struct pt_counted_access *global, struct pt_counted_access *shared)
{
    struct move moves[PT_WARP_SIZE];
    uint32_t n = find_moves(moves, lanes, c);
    for (uint32_t i = 0; i < n; i++) {
        bool is_counted = false, is_first = true, was_zeroed = false;
        for (uint32_t k = 0; k < i; k++) {
            moves[i].turn += are_alike(&moves[k], &moves[i]) && moves[k].from == moves[i].from;
            is_counted |= share_lines(&moves[k], &moves[i]) && moves[k].to == moves[i].to;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (!are_alike(&moves[k], &moves[i]) || moves[k].turn != moves[i].turn)
                continue;
            is_first = false;
            was_zeroed |= moves[k].is_partly_zeroed;
        }
        global->conflicts += is_counted;
        shared->parts += is_first + (moves[i].is_partly_zeroed && !was_zeroed);
    }
    return n;
}

void pt_count_copies_add(const struct pt_event *e, const struct pt_copies *c)
{
    const struct pt_form *form = pt_sectors_form(e);
    struct pt_counted_access *global = pt_count_space(e, PT_COUNTED_GLOBAL),
                             *shared = pt_count_space(e, PT_COUNTED_SHARED);
    struct pt_access read = {.address = c->from, .bytes = c->bytes, .use = PT_USE_READ};
    uint32_t reading = 0, sectors;
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        uint32_t bytes = c->read[__builtin_ctz(left)];
        reading |= bytes ? left & -left : 0;
        global->bytes += bytes;
        shared->bytes += c->bytes;
    }
    global->requests++;
    shared->requests++;
    global->lanes += (uint64_t)__builtin_popcount(reading);
    shared->lanes += (uint64_t)__builtin_popcount(e->lanes);
    if (pt_form_has(form, PT_M_cg)) {
        sectors = count_bypassing(c, reading, global, shared);
    } else {
        sectors = count_sectors(reading, c->from, c->read);
        count_cached(e, c, reading, shared);
    }
    global->parts += sectors;
    pt_count_worst_keep(e, PT_COUNTED_GLOBAL, reading, &read, sectors);
}
