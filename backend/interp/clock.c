/* Vector clocks that are shared and never change. */
#include "backend/interp/clock.h"

static size_t bytes_of(uint32_t n)
{
    return sizeof(struct pt_clock) + n * sizeof(struct pt_clock_entry);
}

void pt_clock_drop(struct pt_clocks *clocks, struct pt_clock *clock)
{
    if (!clock || --clock->refs)
        return;
    clocks->bytes -= bytes_of(clock->n);
    clocks->allocator->resize(clocks->allocator->ud, clock, 0);
}

static struct pt_clock *make(struct pt_clocks *clocks, uint32_t n)
{
    size_t bytes = bytes_of(n);
    struct pt_clock *clock = NULL;
    if (clocks->bytes + bytes <= PT_CLOCK_BYTES_MAX)
        clock = clocks->allocator->resize(clocks->allocator->ud, NULL, bytes);
    if (!clock) {
        clocks->is_out_of_memory = true;
        return NULL;
    }
    clock->refs = 1;
    clock->n = n;
    clocks->bytes += bytes;
    return clock;
}

/* What is being merged, with the entries that cover those behind them. */
struct merge {
    uint32_t cta_end; /* the first warp that `cta` does not cover; 0: no CTA */
    struct pt_clock_entry cta, warp;
    struct pt_clock_entry *to;
    uint32_t n;
};

static bool is_covered(const struct pt_clock_entry *e, const struct pt_clock_entry *by)
{
    return e->time <= by->time && e->proxy <= by->proxy;
}

static void put(struct pt_clocks *clocks, struct merge *m, const struct pt_clock_entry *e)
{
    uint32_t warp = e->key >> 8;
    bool has_cta = warp < m->cta_end, has_warp = m->warp.key == pt_clock_key_warp(warp);
    if (!(e->key & 0xff)) {
        m->cta = *e;
        m->cta_end = warp + clocks->n_warps;
    } else if ((has_cta && is_covered(e, &m->cta)) || (has_warp && is_covered(e, &m->warp))) {
        return;
    } else if (e->key == pt_clock_key_warp(warp)) {
        m->warp = *e;
    }
    if (m->to)
        m->to[m->n] = *e;
    m->n++;
}

/* Merges into m->to, or only counts. */
static void merge(struct pt_clocks *clocks, struct merge *m, const struct pt_clock_entry *a,
                  uint32_t n_a, const struct pt_clock_entry *b, uint32_t n_b)
{
    for (uint32_t i = 0, k = 0; i < n_a || k < n_b;) {
        struct pt_clock_entry e;
        if (k == n_b || (i < n_a && a[i].key < b[k].key)) {
            e = a[i++];
        } else if (i == n_a || b[k].key < a[i].key) {
            e = b[k++];
        } else {
            e = a[i++];
            e.time = b[k].time > e.time ? b[k].time : e.time;
            e.proxy = b[k].proxy > e.proxy ? b[k].proxy : e.proxy;
            k++;
        }
        put(clocks, m, &e);
    }
}

static bool is_same(const struct pt_clock *clock, const struct pt_clock_entry *entries, uint32_t n)
{
    return clock && clock->n == n && !memcmp(clock->entries, entries, n * sizeof *entries);
}

static void replace(struct pt_clocks *clocks, struct pt_clock **clock, struct pt_clock *by)
{
    pt_clock_drop(clocks, *clock);
    *clock = by;
}

void pt_clock_add(struct pt_clocks *clocks, struct pt_clock **clock,
                  const struct pt_clock_entry *entries, uint32_t n, struct pt_clock *like)
{
    const struct pt_clock *old = *clock;
    uint32_t n_old = old ? old->n : 0;
    const struct pt_clock_entry *a = old ? old->entries : NULL;
    struct merge count = {0}, m = {0};
    merge(clocks, &count, a, n_old, entries, n);
    struct pt_clock *both = make(clocks, count.n);
    if (!both)
        return;
    m.to = both->entries;
    merge(clocks, &m, a, n_old, entries, n);
    bool is_old = is_same(old, both->entries, both->n);
    bool is_like = !is_old && is_same(like, both->entries, both->n);
    if (is_old || is_like)
        pt_clock_drop(clocks, both);
    if (is_old)
        return;
    replace(clocks, clock, is_like ? pt_clock_share(like) : both);
}

void pt_clock_pass_proxy(struct pt_clocks *clocks, struct pt_clock **clock)
{
    struct pt_clock *all = *clock ? make(clocks, (*clock)->n) : NULL;
    if (!all)
        return;
    for (uint32_t i = 0; i < all->n; i++) {
        all->entries[i] = (*clock)->entries[i];
        all->entries[i].proxy = all->entries[i].time;
    }
    replace(clocks, clock, all);
}

static const struct pt_clock_entry *find(const struct pt_clock *clock, uint32_t key)
{
    uint32_t low = 0, high = clock->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->entries[middle].key == key)
            return &clock->entries[middle];
        if (clock->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void see(struct pt_clock_known *known, const struct pt_clock_entry *e)
{
    if (!e)
        return;
    known->time = e->time > known->time ? e->time : known->time;
    known->proxy = e->proxy > known->proxy ? e->proxy : known->proxy;
}

struct pt_clock_known pt_clock_find(const struct pt_clocks *clocks, const struct pt_clock *clock,
                                    uint32_t warp, uint32_t lane)
{
    struct pt_clock_known known = {0, 0};
    if (!clock)
        return known;
    see(&known, find(clock, pt_clock_key_cta(clocks, warp)));
    see(&known, find(clock, pt_clock_key_warp(warp)));
    see(&known, find(clock, pt_clock_key_lane(warp, lane)));
    return known;
}

uint32_t pt_clock_find_cta(const struct pt_clocks *clocks, const struct pt_clock *clock,
                           uint32_t warp)
{
    const struct pt_clock_entry *e = clock ? find(clock, pt_clock_key_cta(clocks, warp)) : NULL;
    return e ? e->time : 0;
}
