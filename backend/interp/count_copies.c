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

/* The first lane, and those behind it whose bytes lie behind its own on both sides and in its
 * line. */
static uint32_t piece_of(uint32_t lanes, const struct pt_copies *c)
{
    uint32_t last = (uint32_t)__builtin_ctz(lanes), piece = lanes & -lanes;
    uint64_t line = c->from[last] / LINE;
    for (uint32_t left = lanes & ~piece; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (c->from[i] != c->from[last] + c->bytes || c->to[i] != c->to[last] + c->bytes ||
            c->from[i] / LINE != line)
            break;
        piece |= 1u << i;
        last = i;
    }
    return piece;
}

/* Past L1: pieces that lie together on both sides come one after the other, and lanes that read a
 * part only once more. Returns sectors. */
static uint32_t count_bypassing(const struct pt_copies *c, uint32_t lanes,
                                struct pt_counted_access *shared)
{
    uint32_t sectors = 0;
    while (lanes) {
        uint32_t piece = piece_of(lanes, c), whole = 0;
        for (uint32_t left = piece; left; left &= left - 1)
            whole |= c->read[__builtin_ctz(left)] == c->bytes ? left & -left : 0;
        sectors += count_sectors(piece, c->from, c->read);
        shared->parts += 1 + (whole && whole != piece);
        lanes &= ~piece;
    }
    return sectors;
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
        sectors = count_bypassing(c, reading, shared);
    } else {
        sectors = count_sectors(reading, c->from, c->read);
        count_cached(e, c, reading, shared);
    }
    global->parts += sectors;
    pt_count_worst_keep(e, PT_COUNTED_GLOBAL, reading, &read, sectors);
}
