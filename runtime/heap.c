/* The device heap: segregated fit over extents of granules. */
#include "runtime/heap.h"
#include "runtime/history.h"
#include "runtime/observe.h"

#include <string.h>

enum { GRANULE = 16 };
/* Of `size`: the extent is a block; the granule is a block's first; the block was freed, and its
 * memory is not given out yet. Granules inside an extent hold 0. */
static const uint32_t used = UINT32_C(1) << 31, first = UINT32_C(1) << 30, held = UINT32_C(1) << 29;

void pt_heap_init(struct pt_heap *heap, struct pt_mem *mem, uint64_t limit)
{
    memset(heap, 0, sizeof *heap);
    heap->mem = mem;
    heap->limit = limit;
    pthread_mutex_init(&heap->lock, NULL);
}

void pt_heap_close(struct pt_heap *heap)
{
    pt_mem_unreserve(heap->size, heap->table_bytes);
    pthread_mutex_destroy(&heap->lock);
}

/* Class of a free extent: four classes for each power of two. */
static unsigned class_of(uint32_t granules)
{
    if (granules < 4)
        return granules;
    unsigned log = 31 - (unsigned)__builtin_clz(granules);
    return 4 * (log - 1) + ((granules >> (log - 2)) & 3);
}

static void mark(struct pt_heap *heap, uint32_t at, uint32_t granules, uint32_t flag)
{
    heap->size[at] = heap->size[at + granules - 1] = granules | flag;
}

static void insert(struct pt_heap *heap, uint32_t at, uint32_t granules)
{
    unsigned c = class_of(granules);
    mark(heap, at, granules, 0);
    heap->prev[at] = 0;
    heap->next[at] = heap->free[c];
    if (heap->free[c])
        heap->prev[heap->free[c] - 1] = at + 1;
    heap->free[c] = at + 1;
    heap->some[c / 64] |= UINT64_C(1) << (c % 64);
}

static void extract(struct pt_heap *heap, uint32_t at)
{
    unsigned c = class_of(heap->size[at]);
    if (heap->next[at])
        heap->prev[heap->next[at] - 1] = heap->prev[at];
    if (heap->prev[at])
        heap->next[heap->prev[at] - 1] = heap->next[at];
    else
        heap->free[c] = heap->next[at];
    if (!heap->free[c])
        heap->some[c / 64] &= ~(UINT64_C(1) << (c % 64));
}

/* A free extent of at least `granules`, or 0; else its first granule + 1. */
static uint32_t find(const struct pt_heap *heap, uint32_t granules)
{
    unsigned c = class_of(granules);
    for (uint32_t at = heap->free[c]; at; at = heap->next[at - 1])
        if (heap->size[at - 1] >= granules)
            return at;
    for (unsigned word = ++c / 64; word < PT_HEAP_CLASSES / 64; word++) {
        uint64_t bits = heap->some[word];
        if (word == c / 64)
            bits &= UINT64_MAX << (c % 64);
        if (bits)
            return heap->free[word * 64 + (unsigned)__builtin_ctzll(bits)];
    }
    return 0;
}

/* The first block makes the heap, so that engines whose kernels never allocate have none. */
static bool make(struct pt_heap *heap)
{
    uint64_t limit = heap->limit / GRANULE;
    if (limit == 0 || limit >= held)
        return false;
    uint32_t granules = (uint32_t)limit;
    size_t table = pt_mem_round((size_t)granules * sizeof(uint32_t));
    uint32_t *tables = pt_mem_reserve(3 * table, pt_mem_page());
    uint8_t *base = NULL;
    if (tables && pt_mem_commit(tables, 3 * table))
        base = pt_mem_alloc(heap->mem, (size_t)granules * GRANULE, PT_MEM_HEAP);
    if (!base) {
        pt_mem_unreserve(tables, 3 * table);
        return false;
    }
    heap->table_bytes = 3 * table;
    heap->size = tables;
    heap->next = tables + table / sizeof *tables;
    heap->prev = tables + 2 * (table / sizeof *tables);
    heap->granules = granules;
    heap->base = base;
    insert(heap, 0, granules);
    return true;
}

static uint32_t granules_at(const struct pt_heap *heap, uint32_t at)
{
    return heap->size[at] & ~(used | first | held);
}

/* Makes what was a block a free extent, one with those beside it. */
static void merge(struct pt_heap *heap, uint32_t at)
{
    uint32_t granules = granules_at(heap, at), behind = at + granules;
    heap->size[at] = heap->size[behind - 1] = 0;
    if (behind < heap->granules && !(heap->size[behind] & used)) {
        granules += heap->size[behind];
        extract(heap, behind);
        heap->size[behind] = 0;
    }
    if (at > 0 && !(heap->size[at - 1] & used)) {
        uint32_t before = heap->size[at - 1];
        extract(heap, at - before);
        heap->size[at - 1] = 0;
        at -= before;
        granules += before;
    }
    insert(heap, at, granules);
}

/* ---- where memory is checked: red zones behind blocks, and a quarantine ---------------------- */

enum { RED_ZONE = 4 /* granules */ };

static bool is_checked(const struct pt_heap *heap)
{
    return heap->mem->history != NULL;
}

/* Blocks that were freed longest ago become free until those that are held have `most` granules. */
static void let_go(struct pt_heap *heap, uint32_t most)
{
    while (heap->held.granules > most) {
        uint32_t at = heap->held.oldest - 1;
        heap->held.oldest = heap->next[at];
        heap->held.granules -= granules_at(heap, at);
        merge(heap, at);
    }
    if (!heap->held.oldest)
        heap->held.newest = 0;
}

static void hold(struct pt_heap *heap, uint32_t at)
{
    heap->size[at] |= held;
    heap->next[at] = 0;
    if (heap->held.newest)
        heap->next[heap->held.newest - 1] = at + 1;
    else
        heap->held.oldest = at + 1;
    heap->held.newest = at + 1;
    heap->held.granules += granules_at(heap, at);
    let_go(heap, heap->granules / 4);
}

/* Room for a block with its red zone, or, where there is none, without: a heap that is large enough
 * for a program stays so. */
static uint32_t find_checked(struct pt_heap *heap, uint32_t *granules)
{
    uint32_t at = find(heap, *granules + RED_ZONE);
    if (!at) {
        let_go(heap, 0);
        at = find(heap, *granules + RED_ZONE);
    }
    if (!at)
        return find(heap, *granules);
    *granules += RED_ZONE;
    return at;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static uint64_t alloc_locked(struct pt_heap *heap, uint64_t bytes)
{
    uint32_t granules = (uint32_t)((bytes + GRANULE - 1) / GRANULE);
    granules = granules ? granules : 1;
    if (!heap->base && !make(heap))
        return 0;
    uint32_t at = is_checked(heap) ? find_checked(heap, &granules) : find(heap, granules);
    if (!at--)
        return 0;
    uint32_t whole = heap->size[at];
    extract(heap, at);
    if (whole > granules)
        insert(heap, at + granules, whole - granules);
    mark(heap, at, granules, used);
    heap->size[at] |= first;
    heap->next[at] = is_checked(heap) ? (uint32_t)(granules * (uint64_t)GRANULE - bytes) : 0;
    return (uintptr_t)heap->base + (uint64_t)at * GRANULE;
}

uint64_t pt_heap_alloc(struct pt_heap *heap, uint64_t bytes)
{
    if (bytes > heap->limit)
        return 0;
    pthread_mutex_lock(&heap->lock);
    uint64_t p = alloc_locked(heap, bytes);
    pthread_mutex_unlock(&heap->lock);
    if (p) {
        pt_mem_set_written(heap->mem, p, bytes, false);
        pt_history_add(heap->mem->history, p, bytes, true);
        pt_observe_memory(heap->mem->observers, PT_MEMORY_ALLOCATED, (void *)(uintptr_t)p, bytes);
    }
    return p;
}

static bool is_block(const struct pt_heap *heap, uint32_t at)
{
    return heap->size[at] & first && !(heap->size[at] & held);
}

static bool free_locked(struct pt_heap *heap, uint64_t address)
{
    uint64_t offset = address - (uintptr_t)heap->base;
    if (!heap->base || offset % GRANULE || offset / GRANULE >= heap->granules)
        return false;
    uint32_t at = (uint32_t)(offset / GRANULE);
    if (!is_block(heap, at))
        return false;
    atomic_fetch_add(&heap->mem->releases, 1);
    pt_history_end(heap->mem->history, address, true);
    pt_observe_memory(heap->mem->observers, PT_MEMORY_FREED, (void *)(uintptr_t)address,
                      (uint64_t)granules_at(heap, at) * GRANULE);
    if (is_checked(heap))
        hold(heap, at);
    else
        merge(heap, at);
    return true;
}

static bool find_locked(const struct pt_heap *heap, uint64_t address, uint64_t *block,
                        uint64_t *bytes)
{
    uint64_t offset = address - (uintptr_t)heap->base;
    if (!heap->base || offset / GRANULE >= heap->granules)
        return false;
    uint32_t at = (uint32_t)(offset / GRANULE);
    /* An extent's last granule is marked without `first`; the granules inside are not marked. */
    if (heap->size[at] && !(heap->size[at] & first))
        at -= heap->size[at] & used ? granules_at(heap, at) - 1 : 0;
    while (at && !heap->size[at])
        at--;
    if (!is_block(heap, at))
        return false;
    *block = (uintptr_t)heap->base + (uint64_t)at * GRANULE;
    *bytes = (uint64_t)granules_at(heap, at) * GRANULE - heap->next[at];
    return true;
}

bool pt_heap_find(struct pt_heap *heap, uint64_t address, uint64_t *block, uint64_t *bytes)
{
    pthread_mutex_lock(&heap->lock);
    bool found = find_locked(heap, address, block, bytes);
    pthread_mutex_unlock(&heap->lock);
    return found;
}

bool pt_heap_free(struct pt_heap *heap, uint64_t address)
{
    if (address == 0)
        return true;
    pthread_mutex_lock(&heap->lock);
    bool ok = free_locked(heap, address);
    pthread_mutex_unlock(&heap->lock);
    return ok;
}

/* ---- going back ------------------------------------------------------------------------------ */

bool pt_heap_save(struct pt_heap *heap, struct pt_heap_state *state)
{
    const struct pt_allocator *a = heap->mem->allocator;
    memset(state, 0, sizeof *state);
    pthread_mutex_lock(&heap->lock);
    state->was_made = heap->base != NULL;
    memcpy(state->free, heap->free, sizeof state->free);
    memcpy(state->some, heap->some, sizeof state->some);
    state->held = heap->held;
    if (state->was_made && (state->tables = a->resize(a->ud, NULL, heap->table_bytes)))
        memcpy(state->tables, heap->size, heap->table_bytes);
    pthread_mutex_unlock(&heap->lock);
    return !state->was_made || state->tables;
}

void pt_heap_restore(struct pt_heap *heap, const struct pt_heap_state *state)
{
    pthread_mutex_lock(&heap->lock);
    memcpy(heap->free, state->free, sizeof state->free);
    memcpy(heap->some, state->some, sizeof state->some);
    heap->held = state->held;
    if (state->was_made) {
        memcpy(heap->size, state->tables, heap->table_bytes);
    } else if (heap->base) {
        memset(heap->size, 0, heap->table_bytes);
        insert(heap, 0, heap->granules);
    }
    pthread_mutex_unlock(&heap->lock);
}

void pt_heap_drop(struct pt_heap *heap, struct pt_heap_state *state)
{
    const struct pt_allocator *a = heap->mem->allocator;
    if (state->tables)
        a->resize(a->ud, state->tables, 0);
    state->tables = NULL;
}
