/* The heap that kernels use with malloc and free. */
#ifndef PTERA_RUNTIME_HEAP_H
#define PTERA_RUNTIME_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/mem.h"

enum { PT_HEAP_CLASSES = 128 };

/* Extents of 16-byte granules, described outside the memory they describe, so that a kernel that
 * writes past its block cannot break the heap. */
struct pt_heap {
    struct pt_mem *mem;
    pthread_mutex_t lock;
    uint64_t limit; /* bytes */
    uint8_t *base;  /* NULL until first used */
    uint32_t granules;
    /* at an extent's first and last granule: its granules, with USED while it is a block */
    uint32_t *size;
    /* Free extents of a class, as granule + 1. Where memory is checked, next of a block has its
     * bytes that nobody asked for. */
    uint32_t *next, *prev;
    uint32_t free[PT_HEAP_CLASSES];
    uint64_t some[PT_HEAP_CLASSES / 64]; /* classes that have free extents */
    size_t table_bytes;
    struct pt_heap_held { /* where memory is checked: freed blocks that are not given out yet */
        uint32_t oldest, newest; /* as granule + 1; a list by next */
        uint32_t granules;
    } held;
};

/* The state of a heap. */
struct pt_heap_state {
    bool was_made;
    uint32_t free[PT_HEAP_CLASSES];
    uint64_t some[PT_HEAP_CLASSES / 64];
    uint32_t *tables; /* table_bytes of them */
    struct pt_heap_held held;
};

void pt_heap_init(struct pt_heap *heap, struct pt_mem *mem, uint64_t limit);
void pt_heap_close(struct pt_heap *heap);
/* The address of `bytes` bytes aligned to 16; 0 if there is no room. */
uint64_t pt_heap_alloc(struct pt_heap *heap, uint64_t bytes);
/* The block that holds `address`: its first byte and its bytes, where memory is checked as many as
 * were asked for, else a multiple of 16. Returns false if there is none. */
bool pt_heap_find(struct pt_heap *heap, uint64_t address, uint64_t *block, uint64_t *bytes);
/* Returns false if `address` is not 0 and no block starts there. */
bool pt_heap_free(struct pt_heap *heap, uint64_t address);

/* Keeps its state in *state. False: there is no memory. */
bool pt_heap_save(struct pt_heap *heap, struct pt_heap_state *state);
/* Makes it what it was; no launch uses it. What is in the blocks does not change. */
void pt_heap_restore(struct pt_heap *heap, const struct pt_heap_state *state);
void pt_heap_drop(struct pt_heap *heap, struct pt_heap_state *state);

#endif
