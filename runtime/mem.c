/* Address space and device memory. */
#define _GNU_SOURCE
#include "runtime/mem.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ir/bits.h"
#include "backend/shadow.h"
#include "runtime/history.h"
#include "runtime/observe.h"

/* One range holds many allocations; it costs address space only. Where that is scarce ranges are
 * small. */
static const size_t range_bytes = (size_t)64 << 30, small_range_bytes = (size_t)32 << 20;
static const size_t huge_bytes = (size_t)2 << 20;

/* Asked once: sysconf takes longer than what a launch does with the answer. */
size_t pt_mem_page(void)
{
    static atomic_size_t asked;
    size_t page = atomic_load_explicit(&asked, memory_order_relaxed);
    if (page)
        return page;
    page = (size_t)sysconf(_SC_PAGESIZE);
    atomic_store_explicit(&asked, page, memory_order_relaxed);
    return page;
}

size_t pt_mem_round(size_t bytes)
{
    return pt_round_up(bytes, pt_mem_page());
}

void *pt_mem_reserve(size_t bytes, size_t align)
{
    size_t page = pt_mem_page(), slack = align > page ? align : 0;
    if (bytes > SIZE_MAX - slack)
        return NULL;
    uint8_t *p =
        mmap(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (!slack)
        return p;
    size_t before = pt_round_up((uintptr_t)p, align) - (uintptr_t)p;
    if (before)
        munmap(p, before);
    if (slack > before)
        munmap(p + before + bytes, slack - before);
    return p + before;
}

/* A limit on address space (ulimit -v, as batch systems set it): the embedder needs what there
 * is. */
static bool is_scarce(void)
{
    struct rlimit most;
    return getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur < (rlim_t)1 << 40;
}

/* Where systems put nothing by themselves: above all that is not position-independent, below
 * what is. */
static const uintptr_t lone_first = (uintptr_t)1 << 36, lone_last = (uintptr_t)1 << 43;

static bool reserve_at(uintptr_t at, size_t bytes)
{
    void *p = mmap((void *)at, bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && p != (void *)at) { /* a system that does not know the flag */
        munmap(p, bytes);
        errno = EEXIST;
    }
    return p == (void *)at;
}

/* Nothing is mapped there: said of more than the limit allows, too. */
static bool is_free(uintptr_t at, size_t bytes)
{
    bool is_mapped = reserve_at(at, bytes);
    if (is_mapped)
        munmap((void *)at, bytes);
    return is_mapped || errno != EEXIST;
}

void *pt_mem_reserve_lone(size_t bytes, size_t span, size_t *reserved)
{
    void *all = is_scarce() ? NULL : pt_mem_reserve(span, span);
    *reserved = all ? span : bytes;
    for (uintptr_t at = lone_first; !all && at < lone_last; at += span) {
        if (is_free(at, span) && reserve_at(at, bytes))
            return (void *)at;
        if (errno != EEXIST)
            return NULL;
    }
    return all;
}

void pt_mem_unreserve(void *base, size_t bytes)
{
    if (base)
        munmap(base, bytes);
}

bool pt_mem_commit(void *base, size_t bytes)
{
    return mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0;
}

void pt_mem_decommit(void *base, size_t bytes)
{
    /* Mapping anew gives the memory back and lets the kernel merge the area with its neighbours. */
    mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

int pt_mem_file(size_t bytes)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < bytes)
        return -1;
    int fd = memfd_create("ptera", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- allocations ----------------------------------------------------------------------------- */

void pt_mem_init(struct pt_mem *mem, const struct pt_allocator *allocator, size_t limit,
                 bool (*reclaim)(void *ud), void *reclaim_ud)
{
    memset(mem, 0, sizeof *mem);
    mem->allocator = allocator;
    mem->limit = limit;
    mem->reclaim = reclaim;
    mem->reclaim_ud = reclaim_ud;
    pthread_mutex_init(&mem->lock, NULL);
}

void pt_mem_close(struct pt_mem *mem)
{
    for (size_t i = 0; i < mem->n_ranges; i++)
        pt_mem_unreserve(mem->ranges[i].base, mem->ranges[i].bytes);
    const struct pt_allocator *a = mem->allocator;
    if (mem->ranges)
        a->resize(a->ud, mem->ranges, 0);
    if (mem->records)
        a->resize(a->ud, mem->records, 0);
    pthread_mutex_destroy(&mem->lock);
}

/* Index of the first record whose pages begin at or behind `address`. */
static size_t find_record(const struct pt_mem *mem, uint64_t address)
{
    size_t low = 0, high = mem->n_records;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (mem->records[mid].first < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool grow_records(struct pt_mem *mem)
{
    if (mem->n_records < mem->cap_records)
        return true;
    const struct pt_allocator *a = mem->allocator;
    size_t cap = mem->cap_records ? mem->cap_records * 2 : 16;
    void *p = a->resize(a->ud, mem->records, cap * sizeof *mem->records);
    if (!p)
        return false;
    mem->records = p;
    mem->cap_records = cap;
    return true;
}

static struct pt_mem_range *add_range(struct pt_mem *mem, size_t need)
{
    const struct pt_allocator *a = mem->allocator;
    void *p = a->resize(a->ud, mem->ranges, (mem->n_ranges + 1) * sizeof *mem->ranges);
    if (!p)
        return NULL;
    mem->ranges = p;
    size_t wanted = is_scarce() ? small_range_bytes : range_bytes;
    struct pt_mem_range range = {.bytes = need > wanted ? need : wanted};
    range.base = pt_mem_reserve(range.bytes, pt_mem_page());
    if (!range.base && range.bytes > need) {
        range.bytes = need;
        range.base = pt_mem_reserve(need, pt_mem_page());
    }
    if (!range.base)
        return NULL;
    range.is_single = range.bytes == need;
    mem->ranges[mem->n_ranges] = range;
    return &mem->ranges[mem->n_ranges++];
}

/* Between allocations nothing is mapped: a page, and where memory is checked a wider zone. */
static size_t zone_bytes(const struct pt_mem *mem)
{
    enum { CHECKED = 64 << 10 };
    return mem->history ? pt_round_up(CHECKED, pt_mem_page()) : pt_mem_page();
}

/* Room for `bytes` with such a zone on both sides behind range->next, so that freed addresses are
 * reused late. */
static uint8_t *room_at_next(const struct pt_mem *mem, struct pt_mem_range *range, size_t bytes,
                             size_t align)
{
    size_t zone = zone_bytes(mem), left = range->bytes - range->next;
    size_t skip = pt_round_up((uintptr_t)range->base + range->next + zone, align) -
                  ((uintptr_t)range->base + range->next);
    if (bytes > left || skip + zone > left - bytes)
        return NULL;
    uint8_t *p = range->base + range->next + skip;
    range->next += skip + bytes;
    return p;
}

/* The first gap between allocations of the range that is large enough. */
static uint8_t *room_in_gaps(const struct pt_mem *mem, const struct pt_mem_range *range,
                             size_t bytes, size_t align)
{
    size_t zone = zone_bytes(mem);
    uint64_t at = (uintptr_t)range->base, end = at + range->bytes;
    for (size_t i = find_record(mem, at);; i++) {
        uint64_t stop =
            i < mem->n_records && mem->records[i].first < end ? mem->records[i].room_first : end;
        uint64_t p = pt_round_up(at + zone, align);
        if (p + zone <= stop && bytes <= stop - zone - p)
            return (uint8_t *)(uintptr_t)p;
        if (stop == end)
            return NULL;
        at = mem->records[i].room_last;
    }
}

static uint8_t *find_room(struct pt_mem *mem, size_t bytes, size_t align)
{
    for (size_t i = 0; i < mem->n_ranges; i++) {
        uint8_t *p = room_at_next(mem, &mem->ranges[i], bytes, align);
        if (!p)
            p = room_in_gaps(mem, &mem->ranges[i], bytes, align);
        if (p)
            return p;
    }
    struct pt_mem_range *range = add_range(mem, bytes + align + 2 * zone_bytes(mem));
    return range ? room_at_next(mem, range, bytes, align) : NULL;
}

/* There is room for it. */
static void insert_record(struct pt_mem *mem, struct pt_mem_record record)
{
    size_t i = find_record(mem, record.first);
    memmove(&mem->records[i + 1], &mem->records[i], (mem->n_records - i) * sizeof *mem->records);
    mem->n_records++;
    mem->records[i] = record;
}

static void remove_record(struct pt_mem *mem, struct pt_mem_record *r)
{
    size_t after = mem->n_records - (size_t)(r - mem->records) - 1;
    atomic_fetch_add(&mem->releases, 1);
    memmove(r, r + 1, after * sizeof *r);
    mem->n_records--;
}

/* Small allocations lie in the middle, so that there is something of their page on both sides. */
static size_t place_in_room(size_t pages, size_t room)
{
    return pages < huge_bytes ? (room - pages) / 2 & ~(pt_mem_page() - 1) : 0;
}

static void *alloc_locked(struct pt_mem *mem, size_t bytes, enum pt_mem_kind kind)
{
    size_t pages = pt_mem_round(bytes),
           room = mem->is_tolerant ? pt_round_up(pages, huge_bytes) : pages;
    if (!grow_records(mem))
        return NULL;
    uint8_t *p = find_room(mem, room, room >= huge_bytes ? huge_bytes : pt_mem_page());
    uint64_t room_first = (uintptr_t)p, first = room_first + place_in_room(pages, room);
    if (!p || !pt_mem_commit((void *)(uintptr_t)first, pages))
        return NULL;
    if (pages >= huge_bytes)
        madvise(p, pages, MADV_HUGEPAGE);
    uint64_t address = first + pages - pt_round_up(bytes, PT_MEM_ALIGN);
    insert_record(mem, (struct pt_mem_record){address, bytes, first, first + pages, room_first,
                                              room_first + room, kind, false});
    return (void *)(uintptr_t)address;
}

static bool is_allowed(const struct pt_mem *mem, size_t bytes)
{
    return !mem->limit || (mem->used <= mem->limit && bytes <= mem->limit - mem->used);
}

static void *try_alloc(struct pt_mem *mem, size_t bytes, enum pt_mem_kind kind)
{
    pthread_mutex_lock(&mem->lock);
    void *p = is_allowed(mem, bytes) ? alloc_locked(mem, bytes, kind) : NULL;
    mem->used += p ? bytes : 0;
    pthread_mutex_unlock(&mem->lock);
    return p;
}

void pt_mem_set_written(struct pt_mem *mem, uint64_t address, uint64_t bytes, bool is_written)
{
    struct pt_shadow *shadow = atomic_load_explicit(&mem->shadow, memory_order_acquire);
    if (shadow)
        pt_shadow_set(shadow, address, bytes, is_written ? PT_SHADOW_DEFINED : PT_SHADOW_UNWRITTEN);
}

static void tell_made(struct pt_mem *mem, void *p, size_t bytes)
{
    pt_mem_set_written(mem, (uintptr_t)p, bytes, true);
    pt_history_add(mem->history, (uintptr_t)p, bytes, false);
    pt_observe_memory(mem->observers, PT_MEMORY_ALLOCATED, p, bytes);
}

static void tell_freed(struct pt_mem *mem, const struct pt_mem_record *r)
{
    pt_history_end(mem->history, r->address, false);
    pt_observe_memory(mem->observers, PT_MEMORY_FREED, (void *)(uintptr_t)r->address, r->bytes);
}

void *pt_mem_alloc(struct pt_mem *mem, size_t bytes, enum pt_mem_kind kind)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    void *p = try_alloc(mem, bytes, kind);
    if (!p && mem->reclaim(mem->reclaim_ud))
        p = try_alloc(mem, bytes, kind);
    if (p && kind != PT_MEM_HEAP) /* which tells of its own blocks */
        tell_made(mem, p, bytes);
    return p;
}

static bool try_charge(struct pt_mem *mem, size_t bytes)
{
    pthread_mutex_lock(&mem->lock);
    bool ok = is_allowed(mem, bytes);
    mem->used += ok ? bytes : 0;
    pthread_mutex_unlock(&mem->lock);
    return ok;
}

bool pt_mem_charge(struct pt_mem *mem, size_t bytes)
{
    return try_charge(mem, bytes) || (mem->reclaim(mem->reclaim_ud) && try_charge(mem, bytes));
}

void pt_mem_refund(struct pt_mem *mem, size_t bytes)
{
    pthread_mutex_lock(&mem->lock);
    mem->used -= bytes;
    pthread_mutex_unlock(&mem->lock);
}

/* The record that begins at the pages of `address`, or NULL. */
static struct pt_mem_record *record_of(const struct pt_mem *mem, uint64_t address)
{
    size_t i = find_record(mem, address + 1);
    if (i == 0 || mem->records[i - 1].address != address)
        return NULL;
    return &mem->records[i - 1];
}

/* After an allocation at `address` has gone. */
static void drop_range(struct pt_mem *mem, uint64_t address)
{
    struct pt_mem_range *range = mem->ranges;
    while (address - (uintptr_t)range->base >= range->bytes)
        range++;
    size_t i = find_record(mem, (uintptr_t)range->base);
    bool is_empty =
        i == mem->n_records || mem->records[i].first - (uintptr_t)range->base >= range->bytes;
    if (!range->is_single || !is_empty)
        return;
    pt_mem_unreserve(range->base, range->bytes);
    *range = mem->ranges[--mem->n_ranges];
}

bool pt_mem_free(struct pt_mem *mem, void *address, enum pt_mem_kind kind)
{
    pthread_mutex_lock(&mem->lock);
    struct pt_mem_record *r = record_of(mem, (uintptr_t)address);
    bool found = r && r->kind == kind;
    if (found) {
        if (!r->is_kept && kind != PT_MEM_HEAP)
            tell_freed(mem, r);
        uint64_t first = r->room_first;
        mem->used -= r->bytes;
        pt_mem_decommit((void *)(uintptr_t)first, r->room_last - first);
        remove_record(mem, r);
        drop_range(mem, first);
    }
    pthread_mutex_unlock(&mem->lock);
    return found;
}

void pt_mem_keep(struct pt_mem *mem, uint64_t address)
{
    if (!mem->observers && !mem->history) /* nobody else asks whether it is kept */
        return;
    pthread_mutex_lock(&mem->lock);
    struct pt_mem_record *r = record_of(mem, address);
    if (r && !r->is_kept) {
        tell_freed(mem, r);
        r->is_kept = true;
    }
    pthread_mutex_unlock(&mem->lock);
}

uint64_t pt_mem_reuse(struct pt_mem *mem, uint64_t address, size_t bytes)
{
    pthread_mutex_lock(&mem->lock);
    struct pt_mem_record *r = record_of(mem, address);
    bool fits =
        r && r->kind != PT_MEM_HOST && pt_round_up(bytes, PT_MEM_ALIGN) <= r->last - r->first;
    uint64_t now = fits ? r->last - pt_round_up(bytes, PT_MEM_ALIGN) : 0;
    if (fits) {
        if (!r->is_kept)
            tell_freed(mem, r);
        mem->used += bytes - r->bytes;
        r->address = now;
        r->bytes = bytes;
        r->is_kept = false;
        tell_made(mem, (void *)(uintptr_t)now, bytes);
    }
    pthread_mutex_unlock(&mem->lock);
    return now;
}

static bool register_locked(struct pt_mem *mem, uint64_t address, size_t bytes, bool *overlaps)
{
    size_t i = find_record(mem, address);
    *overlaps = (i > 0 && mem->records[i - 1].last > address) ||
                (i < mem->n_records && mem->records[i].first - address < bytes);
    if (*overlaps || !grow_records(mem))
        return false;
    uint64_t end = address + bytes;
    insert_record(mem, (struct pt_mem_record){address, bytes, address, end, address, end,
                                              PT_MEM_HOST, false});
    return true;
}

bool pt_mem_register(struct pt_mem *mem, uint64_t address, size_t bytes, bool *overlaps)
{
    pthread_mutex_lock(&mem->lock);
    bool ok = register_locked(mem, address, bytes, overlaps);
    pthread_mutex_unlock(&mem->lock);
    return ok;
}

bool pt_mem_unregister(struct pt_mem *mem, uint64_t address)
{
    pthread_mutex_lock(&mem->lock);
    struct pt_mem_record *r = record_of(mem, address);
    bool found = r && r->kind == PT_MEM_HOST;
    if (found)
        remove_record(mem, r);
    pthread_mutex_unlock(&mem->lock);
    return found;
}

bool pt_mem_near(struct pt_mem *mem, uint64_t address, struct pt_mem_record *record)
{
    pthread_mutex_lock(&mem->lock);
    size_t i = find_record(mem, address + 1);
    const struct pt_mem_record *below = i ? &mem->records[i - 1] : NULL;
    const struct pt_mem_record *above = i < mem->n_records ? &mem->records[i] : NULL;
    const struct pt_mem_record *near = below ? below : above;
    if (below && above && address >= below->last && above->first - address < address - below->last)
        near = above;
    if (near)
        *record = *near;
    pthread_mutex_unlock(&mem->lock);
    return near != NULL;
}

void pt_mem_set_access(struct pt_mem *mem, uint64_t address, bool is_open)
{
    pthread_mutex_lock(&mem->lock);
    const struct pt_mem_record *r = record_of(mem, address);
    if (r)
        mprotect((void *)(uintptr_t)r->first, r->last - r->first,
                 is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
    pthread_mutex_unlock(&mem->lock);
}

/* ---- accesses outside that go on ------------------------------------------------------------- */

/* Whether the page is of an allocation's room, and not of the allocation. */
static bool is_around(const struct pt_mem *mem, uint64_t page)
{
    size_t i = find_record(mem, page + 1);
    const struct pt_mem_record *below = i ? &mem->records[i - 1] : NULL;
    const struct pt_mem_record *above = i < mem->n_records ? &mem->records[i] : NULL;
    bool is_behind = below && page >= below->last && page < below->room_last;
    return is_behind || (above && page >= above->room_first);
}

bool pt_mem_open(struct pt_mem *mem, uint64_t address)
{
    size_t bytes = pt_mem_page();
    uint64_t page = address & ~(uint64_t)(bytes - 1);
    if (!mem->is_tolerant)
        return false;
    pthread_mutex_lock(&mem->lock);
    bool is_open = is_around(mem, page) && pt_mem_commit((void *)(uintptr_t)page, bytes);
    unsigned n = atomic_load(&mem->n_opened);
    if (is_open && n < PT_MEM_OPENED) {
        mem->opened[n] = page;
        atomic_store(&mem->n_opened, n + 1);
    }
    pthread_mutex_unlock(&mem->lock);
    return is_open;
}

void pt_mem_shut(struct pt_mem *mem)
{
    if (!atomic_load(&mem->n_opened))
        return;
    pthread_mutex_lock(&mem->lock);
    for (unsigned i = 0; i < atomic_load(&mem->n_opened); i++)
        if (is_around(mem, mem->opened[i]))
            mprotect((void *)(uintptr_t)mem->opened[i], pt_mem_page(), PROT_NONE);
    atomic_store(&mem->n_opened, 0);
    pthread_mutex_unlock(&mem->lock);
}
