/* The caches of a GPU, as they would be while the launch runs: backend/timed.h. */
#include "backend/interp/caches.h"

/* ---- caches ---------------------------------------------------------------------------------- */

enum { SECTOR = 1 << PT_SECTOR_SHIFT, SECTORS = PT_CACHE_LINE / SECTOR, ALL = (1 << SECTORS) - 1 };

enum { IS_WRITTEN = SECTORS, IS_PART = 2 * SECTORS, TAG = 3 * SECTORS };

static uint32_t count(uint64_t sectors)
{
    return (uint32_t)__builtin_popcount((uint32_t)sectors & ALL);
}

/* Sectors 0 and 1, and 2 and 3, come of memory together. */
static uint32_t pairs_of(uint64_t sectors)
{
    uint32_t either = (uint32_t)(sectors | sectors >> 1) & 5;
    return either | either << 1;
}

/* The way that has the line becomes the set's first, as it was; if none has, it takes the place of
 * the last one, which is returned. */
static uint64_t take_way(uint64_t *set, uint64_t line)
{
    uint32_t at = 0;
    while (at < PT_CACHE_WAYS - 1 && set[at] >> TAG != line)
        at++;
    uint64_t way = set[at], evicted = 0;
    if (way >> TAG != line) {
        evicted = way;
        way = line << TAG;
    }
    memmove(set + 1, set, at * sizeof *set);
    set[0] = way;
    return evicted;
}

static uint64_t *set_of(const struct pt_cache *cache, uint64_t line)
{
    uint64_t mixed = line * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return cache->sets[mixed * cache->n_sets >> 32];
}

/* Of sectors that a cache is about to have, those that it had, and those that were written. */
struct had {
    uint32_t there, written;
};

static struct had touch_l1(struct pt_cache *cache, uint64_t line, uint32_t sectors, bool is_write)
{
    uint64_t *set = set_of(cache, line + 1);
    take_way(set, line + 1);
    struct had had = {(uint32_t)set[0] & sectors, (uint32_t)(set[0] >> IS_WRITTEN) & sectors};
    set[0] |= sectors | (is_write ? (uint64_t)sectors << IS_WRITTEN : 0);
    return had;
}

static void move_pairs(struct pt_timed *t, uint64_t sectors)
{
    t->sums.dram_pairs += count(pairs_of(sectors)) / 2;
}

static void write_back(struct pt_timed *t, uint64_t way)
{
    uint64_t parts = way >> IS_PART & ALL;
    t->sums.dram_writes += count(way >> IS_WRITTEN);
    t->sums.dram_reads += count(parts);
    t->parts -= count(parts);
    move_pairs(t, parts);
    move_pairs(t, way >> IS_WRITTEN & ALL);
}

static void read_memory(struct pt_timed *t, uint64_t *way, uint32_t missing)
{
    t->sums.dram_reads += count(pairs_of(missing));
    move_pairs(t, missing);
    *way |= pairs_of(missing);
}

static void fill_parts(struct pt_timed *t, uint64_t *way, uint32_t sectors)
{
    uint64_t parts = *way >> IS_PART & sectors;
    t->parts -= count(parts);
    *way &= ~(parts << IS_PART);
}

/* Sectors that were not there are written in part. */
static void write_parts(struct pt_timed *t, uint64_t *way, uint32_t sectors)
{
    if (t->parts + count(sectors) <= PT_TIMED_PARTS) {
        t->parts += count(sectors);
        *way |= (uint64_t)sectors << IS_PART | (uint64_t)sectors << IS_WRITTEN;
        return;
    }
    t->sums.dram_reads += count(sectors);
    t->sums.dram_writes += count(sectors);
    move_pairs(t, sectors);
    move_pairs(t, sectors);
}

/* L2's turns, in quarters: a pair's, and that of one sector. */
static uint32_t count_turns(uint32_t sectors)
{
    uint32_t pairs = count(pairs_of(sectors)) / 2, whole = (uint32_t)(sectors & sectors >> 1) & 5;
    return 4 * count(whole) + 3 * (pairs - count(whole));
}

/* Sectors of a line; of those that are written, which are filled: others count as filled when they
 * are written again. */
struct part {
    uint32_t sectors, whole;
};

static enum pt_cache_level access_l2(struct pt_timed *t, uint64_t line, struct part part,
                                     uint32_t use)
{
    uint32_t sectors = part.sectors;
    bool is_atomic = use & PT_USE_ATOMIC, is_write = use & PT_USE_WRITE;
    uint64_t *way = set_of(&t->l2, line + 1), evicted = take_way(way, line + 1);
    if (evicted)
        write_back(t, evicted);
    uint32_t there = (uint32_t)*way & sectors, missing = sectors & ~there;
    t->sums.l2_hits += count(there);
    t->sums.l2_turns += count_turns(sectors);
    *(is_write ? &t->sums.l2_writes : &t->sums.l2_reads) += count(sectors);
    if (missing && (is_atomic || !is_write))
        read_memory(t, way, missing);
    if (is_write) {
        uint32_t parts = is_atomic ? 0 : missing & ~part.whole;
        fill_parts(t, way, sectors);
        *way |= (uint64_t)(sectors & ~parts) << IS_WRITTEN;
        if (parts)
            write_parts(t, way, parts);
    }
    *way |= sectors;
    return missing ? PT_CACHE_DRAM : PT_CACHE_L2;
}

/* Stores that L1 joined with others to these sectors fill them. */
static void join(struct pt_timed *t, uint64_t line, uint32_t sectors)
{
    uint64_t *set = set_of(&t->l2, line + 1);
    for (uint32_t i = 0; i < PT_CACHE_WAYS; i++)
        if (set[i] >> TAG == line + 1)
            fill_parts(t, &set[i], sectors);
}

static enum pt_cache_level access_line(struct pt_timed *t, struct pt_cache *l1, uint64_t line,
                                       struct part part, uint32_t use, bool joins)
{
    bool is_write = use & PT_USE_WRITE;
    struct had had = l1 ? touch_l1(l1, line, part.sectors, is_write) : (struct had){0};
    t->sums.l1_lines++;
    t->sums.l1_sectors += count(part.sectors);
    t->sums.l1_hits += count(had.there);
    if (is_write && joins && had.written)
        join(t, line, had.written);
    part.sectors &= ~(!is_write ? had.there : joins ? had.written : 0);
    return part.sectors ? access_l2(t, line, part, use) : PT_CACHE_L1;
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* Loads that other threads' stores must not miss do not ask L1. */
static bool asks_l1(const struct pt_event *e, const struct pt_access *access)
{
    const struct pt_form *form = pt_sectors_form(e);
    return !(access->use & PT_USE_ATOMIC) && access->order == PT_ORDER_PLAIN &&
           access->bytes <= PT_SECTORS_WIDEST && !pt_form_has(form, PT_M_cg) &&
           !pt_form_has(form, PT_M_cv);
}

/* What a request asks for, in the order of its sectors. */
struct request {
    uint64_t units[PT_SECTORS_MOST];
    uint8_t bytes[PT_SECTORS_MOST]; /* of each, that lanes write; more than there are, if twice */
    uint32_t n;
    bool joins; /* its stores, with those that are in L1 */
};

static enum pt_cache_level access_sectors(const struct pt_event *e, const struct request *r,
                                          const struct pt_access *access)
{
    const struct pt_cta *cta = e->warp->cta;
    struct pt_timed *t = cta->launch->timed;
    struct pt_cache *l1 =
        asks_l1(e, access) ? &t->l1[pt_cta_number(cta) % cta->launch->sm_count] : NULL;
    enum pt_cache_level worst = PT_CACHE_L1;
    for (uint32_t i = 0; i < r->n;) {
        uint64_t line = r->units[i] / SECTORS;
        struct part part = {0};
        for (; i < r->n && r->units[i] / SECTORS == line; i++) {
            part.sectors |= 1u << r->units[i] % SECTORS;
            part.whole |= (uint32_t)(r->bytes[i] >= SECTOR) << r->units[i] % SECTORS;
        }
        enum pt_cache_level level = access_line(t, l1, line, part, access->use, r->joins);
        worst = level > worst ? level : worst;
    }
    return worst;
}

/* Of each sector, how many of its bytes the lanes access. */
static void find_bytes(struct request *r, uint32_t lanes, const struct pt_access *access)
{
    memset(r->bytes, 0, r->n);
    for (uint32_t i = 0; lanes; lanes &= lanes - 1) {
        uint64_t at = access->address[__builtin_ctz(lanes)], end = at + access->bytes;
        for (uint64_t from = at, to; from < end; from = to) {
            uint64_t unit = from >> PT_SECTOR_SHIFT, room = (unit + 1) << PT_SECTOR_SHIFT;
            to = end < room ? end : room;
            while (r->units[i] != unit)
                i = i + 1 < r->n ? i + 1 : 0;
            uint64_t bytes = r->bytes[i] + (to - from);
            r->bytes[i] = (uint8_t)(bytes < SECTOR ? bytes : SECTOR);
        }
    }
}

/* Integers that all lanes combine at one address are combined before by the assembler's code. */
static bool is_combined(const struct pt_event *e, uint32_t lanes, const uint64_t *address)
{
    const struct pt_form *form = pt_sectors_form(e);
    uint64_t first = address[__builtin_ctz(lanes)];
    if (pt_form_has(form, PT_M_cas) || pt_form_has(form, PT_M_exch))
        return false;
    for (; lanes; lanes &= lanes - 1)
        if (address[__builtin_ctz(lanes)] != first)
            return false;
    return true;
}

uint32_t pt_caches_take_sector(uint32_t *lanes, const uint64_t *address, uint64_t *sector)
{
    uint32_t n[SECTOR] = {0}, most = 0;
    *sector = address[__builtin_ctz(*lanes)] >> PT_SECTOR_SHIFT;
    for (uint32_t left = *lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (address[lane] >> PT_SECTOR_SHIFT != *sector)
            continue;
        uint32_t now = ++n[address[lane] % SECTOR];
        most = now > most ? now : most;
        *lanes &= ~(1u << lane);
    }
    return most;
}

static void count_atomics(const struct pt_event *e, uint32_t lanes, const uint64_t *address)
{
    struct pt_timed *t = e->warp->cta->launch->timed;
    bool is_int = pt_type_is_int((enum pt_type)pt_sectors_form(e)->type[0]);
    bool is_one = is_int && is_combined(e, lanes, address);
    while (lanes) {
        uint64_t sector;
        uint32_t turns = pt_caches_take_sector(&lanes, address, &sector);
        turns = is_one ? 1 : is_int ? turns : 2 * turns;
        t->sums.atomics += turns;
        t->hot[sector * UINT64_C(0x9e3779b97f4a7c15) >> 52 & (PT_TIMED_HOT - 1)] += turns;
    }
}

/* Of an asynchronous copy, each of which lies in one piece. */
static enum pt_cache_level access_bulk(const struct pt_event *e, uint32_t lanes,
                                       const struct pt_access *access)
{
    enum pt_cache_level worst = PT_CACHE_L1;
    struct request r = {.joins = false};
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = access->address[__builtin_ctz(lanes)];
        uint64_t sector = at >> PT_SECTOR_SHIFT, end = (at + access->bytes + SECTOR - 1) / SECTOR;
        while (sector < end) {
            r.n = 0;
            for (; sector < end && r.n < SECTORS; sector++) {
                r.units[r.n] = sector;
                r.bytes[r.n++] = SECTOR;
            }
            enum pt_cache_level level = access_sectors(e, &r, access);
            worst = level > worst ? level : worst;
        }
    }
    return worst;
}

enum pt_cache_level pt_caches_access_global(const struct pt_event *e, uint32_t lanes,
                                            const struct pt_access *access)
{
    struct request r;
    if (access->bytes > PT_SECTORS_WIDEST)
        return access_bulk(e, lanes, access);
    if (access->use & PT_USE_ATOMIC)
        count_atomics(e, lanes, access->address);
    r.n = pt_sectors_find(r.units, lanes, access->address, access->bytes, PT_SECTOR_SHIFT);
    r.joins = true;
    if (access->use & PT_USE_WRITE)
        find_bytes(&r, lanes, access);
    return access_sectors(e, &r, access);
}

enum pt_cache_level pt_caches_access_texels(const struct pt_event *e,
                                            const struct pt_texels *texels)
{
    struct pt_access access = {.use = PT_USE_READ, .order = PT_ORDER_PLAIN};
    uint32_t width = pt_sectors_texel_lanes(texels->texture);
    enum pt_cache_level worst = PT_CACHE_L1;
    struct request r = {.joins = false};
    for (uint32_t first = 0; first < PT_WARP_SIZE; first += width) {
        uint32_t lanes = e->lanes & ((1u << width) - 1) << first;
        r.n = pt_sectors_find_texels(r.units, texels, lanes);
        enum pt_cache_level level = access_sectors(e, &r, &access);
        worst = level > worst ? level : worst;
    }
    return worst;
}

enum pt_cache_level pt_caches_access_local(const struct pt_event *e, uint32_t lanes,
                                           const struct pt_access *access)
{
    const struct pt_launch *launch = e->warp->cta->launch;
    struct request r;
    uint64_t warp = pt_cta_number(e->warp->cta) * launch->n_warps + e->warp->index;
    uint64_t from = UINT64_C(1) << 48 | warp * (launch->local_stride / 4 + 1) * SECTORS;
    r.n = pt_sectors_find_local(r.units, e, lanes, access->address, access->bytes);
    r.joins = false;
    memset(r.bytes, SECTOR, r.n);
    for (uint32_t i = 0; i < r.n; i++)
        r.units[i] += from;
    return access_sectors(e, &r, access);
}
