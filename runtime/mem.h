/* Address space and device memory: reserved ranges, guarded allocations, memory mapped twice. */
#ifndef PTERA_RUNTIME_MEM_H
#define PTERA_RUNTIME_MEM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/arena.h"

enum { PT_MEM_ALIGN = 256 }; /* of device allocations, as on the hardware */

enum pt_mem_kind { PT_MEM_BUFFER, PT_MEM_GLOBALS, PT_MEM_HEAP, PT_MEM_HOST };

/* One allocation. It ends (rounded up to 256 bytes) where its last page ends; the page behind is
 * unmapped. Host memory that was registered is only recorded: it has no pages here. */
struct pt_mem_record {
    uint64_t address, bytes;        /* as asked for */
    uint64_t first, last;           /* its pages */
    uint64_t room_first, room_last; /* with the address space around them that nobody else gets */
    enum pt_mem_kind kind;
    bool is_kept; /* nobody uses it: pt_mem_keep */
};

enum { PT_MEM_OPENED = 256 };

struct pt_mem_range {
    uint8_t *base;
    size_t bytes, next; /* next: where the search for room goes on */
    bool is_single;     /* made for one allocation, and goes when there is none in it any more */
};

struct pt_history;
struct pt_shadow;
struct pt_observer;

struct pt_mem {
    const struct pt_allocator *allocator;
    pthread_mutex_t lock;
    struct pt_mem_range *ranges;
    size_t n_ranges;
    struct pt_mem_record *records; /* ascending */
    size_t n_records, cap_records;
    /* bytes of allocations, registered host memory apart, and of what is charged; limit 0: none */
    size_t limit, used;
    /* gives up what is kept for later; false: there is nothing. Takes the engine's lock */
    bool (*reclaim)(void *ud);
    void *reclaim_ud;
    /* Accesses outside an allocation, but in its 2 MiB pages, as GPUs have them, may go on: each
     * allocation has such pages for itself. */
    bool is_tolerant;
    uint64_t opened[PT_MEM_OPENED]; /* pages that pt_mem_open made usable; more stay open */
    atomic_uint n_opened;
    const struct pt_observer *const *observers; /* of memory, then NULL; NULL: nobody watches */
    _Atomic(struct pt_shadow *) shadow;         /* backend/shadow.h; NULL: nobody asks */
    struct pt_history *history;                 /* history.h; NULL: nobody asks */
    /* grows when memory is freed, also in the device heap, or unregistered */
    atomic_uint_fast64_t releases;
};

void pt_mem_init(struct pt_mem *mem, const struct pt_allocator *allocator, size_t limit,
                 bool (*reclaim)(void *ud), void *reclaim_ud);
void pt_mem_close(struct pt_mem *mem);
/* `bytes` (> 0) zeroed bytes between guard pages; NULL if there is no memory. */
void *pt_mem_alloc(struct pt_mem *mem, size_t bytes, enum pt_mem_kind kind);
/* Counts memory that is not allocated here against the limit. Returns false if that is too much. */
bool pt_mem_charge(struct pt_mem *mem, size_t bytes);
void pt_mem_refund(struct pt_mem *mem, size_t bytes);
/* Returns false if no allocation of that kind starts there. */
bool pt_mem_free(struct pt_mem *mem, void *address, enum pt_mem_kind kind);
/* Nobody uses an allocation any more; it is freed, or used again, later. */
void pt_mem_keep(struct pt_mem *mem, uint64_t address);
/* An allocation is used again, with the size `bytes`: its address in the same pages, or 0 if it
 * does not fit. */
uint64_t pt_mem_reuse(struct pt_mem *mem, uint64_t address, size_t bytes);
/* Records host memory as PT_MEM_HOST. *overlaps: it was refused because a recorded allocation
 * lies there. Returns false then, and if there is no memory. */
bool pt_mem_register(struct pt_mem *mem, uint64_t address, size_t bytes, bool *overlaps);
/* Forgets host memory. Returns false if none was registered from there. */
bool pt_mem_unregister(struct pt_mem *mem, uint64_t address);
/* Memory holds no values, or does: for the checker of that. */
void pt_mem_set_written(struct pt_mem *mem, uint64_t address, uint64_t bytes, bool is_written);
/* The allocation that holds `address` or else the one nearest to it. Returns false if there is
 * none. */
bool pt_mem_near(struct pt_mem *mem, uint64_t address, struct pt_mem_record *record);

/* Makes an allocation's pages accessible or not; what is in them stays. */
void pt_mem_set_access(struct pt_mem *mem, uint64_t address, bool is_open);
/* Where accesses may go on: makes the page of an address usable that lies in an allocation's 2
 * MiB pages and not in the allocation; false if it does not. Called by a signal handler whose
 * thread holds no lock. */
bool pt_mem_open(struct pt_mem *mem, uint64_t address);
/* Makes those pages inaccessible again; they keep what was stored. */
void pt_mem_shut(struct pt_mem *mem);

/* ---- address space --------------------------------------------------------------------------- */

size_t pt_mem_page(void);
size_t pt_mem_round(size_t bytes); /* up to whole pages */
/* Address space without memory, aligned to `align` (a power of two, at least a page); NULL if
 * there is none. */
void *pt_mem_reserve(size_t bytes, size_t align);
/* Likewise `bytes` bytes aligned to `span`, with nothing of anybody's behind them up to the next
 * multiple of `span`: all of that is reserved (*reserved bytes), unless address space is scarce. */
void *pt_mem_reserve_lone(size_t bytes, size_t span, size_t *reserved);
void pt_mem_unreserve(void *base, size_t bytes);
/* Makes pages of a reservation usable (zeroed at first). */
bool pt_mem_commit(void *base, size_t bytes);
/* Gives their memory back and makes them inaccessible. */
void pt_mem_decommit(void *base, size_t bytes);

/* A file in memory of that size, or -1: there is no memory, or the process's files are limited
 * (ulimit -f; to grow one more would end it by a signal). */
int pt_mem_file(size_t bytes);

#endif
