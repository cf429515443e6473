/* The ranges of addresses that the driver knows, in a tree by address. */
#ifndef PTERA_CUDA_RANGE_H
#define PTERA_CUDA_RANGE_H

#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* A range of addresses that the driver knows. */
enum pt_cu_memory {
    PT_CU_DEVICE = 1,
    PT_CU_HOST,       /* pinned */
    PT_CU_REGISTERED, /* the program's own */
    PT_CU_MANAGED,
    PT_CU_VARIABLES, /* of a module */
    PT_CU_POOLED,    /* of a memory pool */
    PT_CU_TEXELS,    /* of an array */
    PT_CU_TEXTURE,   /* what a texture's handle leads to */
    PT_CU_SURFACE,   /* what a surface's handle leads to */
    PT_CU_MAPPED,    /* part of a reservation that has memory */
    PT_CU_IMPORTED,  /* opened by an IPC handle */
    PT_CU_EXTERNAL,  /* mapped of external memory */
    PT_CU_MULTICAST  /* as PT_CU_MAPPED, of a multicast object: for multimem instructions alone */
};

struct pt_cu_range {
    uint64_t first, bytes;
    enum pt_cu_memory memory;
    unsigned flags;
    CUcontext ctx; /* whose it is; NULL: its device's */
    CUdevice device;
    uint64_t id;
    /* PT_CU_DEVICE: a graph's block, or NULL; PT_CU_POOLED: the pool; PT_CU_MAPPED,
     * PT_CU_MULTICAST: what is mapped; PT_CU_IMPORTED: the imported pool, or NULL */
    void *owner;
    uint64_t offset; /* PT_CU_MAPPED, PT_CU_MULTICAST: in that */
    /* PT_CU_MAPPED, PT_CU_MULTICAST: CUmemAccess_flags, two bits a device, and the host's; `flags`:
     * the widest */
    uint64_t granted;
    unsigned granted_host;
    struct pt_cu_range *next, *doomed;
    /* managed memory: what was advised */
    bool is_read_mostly, sync_memops;
    bool is_going;  /* a command is to free it */
    bool is_shut;   /* its pages are inaccessible: trap.c */
    size_t charged; /* of its device's memory */
    /* PT_CU_POOLED: */
    const CUmemAccess_flags *access;         /* of the pool, by device; NULL: it is being made */
    bool (*keep)(struct pt_cu_range *range); /* the range is being freed; true: the pool keeps it */
    size_t room;                             /* bytes that the block can have */
    uint64_t freed_in;                       /* the stream that is to free it */
    unsigned frees;                          /* commands that are to free it */
    unsigned void_frees; /* so many of them were made void: it was given out again */
    CUmemLocation preferred, prefetched;
    uint64_t accessed_by; /* devices, bits; the host is bit 63 */
    uint64_t pages_before,
        pages_bytes;  /* PT_CU_IMPORTED, PT_CU_EXTERNAL: what was mapped around it */
    uint64_t inode;   /* PT_CU_IMPORTED: of the file */
    unsigned imports; /* PT_CU_IMPORTED, of a pool: so often */
    /* the file behind it: once an IPC handle was asked for, or of much managed memory; -1: none */
    int fd;
};

/* The range that holds `address`, or NULL. */
struct pt_cu_range *pt_cu_range_find(uint64_t address);
/* Of kernels' memory; managed memory counts as it. */
bool pt_cu_range_is_device(const void *address);
/* Whether all of it lies in one range that kernels may use. */
bool pt_cu_range_is_usable(uint64_t address, size_t bytes);
bool pt_cu_range_is_writable(uint64_t address, size_t bytes);
/* Whether kernels of a device may use it; `peers`: devices whose memory they may use, too, bits. */
bool pt_cu_range_is_reached(const struct pt_cu_range *range, CUdevice device, uint64_t peers,
                            bool writes);
/* The range that holds the address, unless it is that of a handle; without the driver's lock. */
bool pt_cu_range_find_foreign(uint64_t address, uint64_t *first, uint64_t *bytes);
/* Enters a range. NULL: no memory, or it overlaps with one. */
struct pt_cu_range *pt_cu_range_add(uint64_t first, uint64_t bytes, enum pt_cu_memory memory,
                                    CUcontext ctx);
void pt_cu_range_remove(struct pt_cu_range *range);
/* The same without making and freeing the record. */
bool pt_cu_range_enter(struct pt_cu_range *range);
void pt_cu_range_leave(struct pt_cu_range *range);
/* Calls visit for every range; it may remove the one it is given. */
void pt_cu_range_each(void (*visit)(struct pt_cu_range *range, void *ud), void *ud);

#endif
