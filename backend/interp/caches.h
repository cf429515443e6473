/* The caches of a GPU that a launch is timed for: backend/timed.h. */
#ifndef PTERA_BACKEND_INTERP_CACHES_H
#define PTERA_BACKEND_INTERP_CACHES_H

#include "backend/interp/sectors.h"
#include "backend/timed.h"

/* Where what the lanes access was, of that which is farthest. */
enum pt_cache_level { PT_CACHE_L1, PT_CACHE_L2, PT_CACHE_DRAM };

#define pt_caches_access_global PT_LEVEL_NAME(pt_caches_access_global)
enum pt_cache_level pt_caches_access_global(const struct pt_event *e, uint32_t lanes,
                                            const struct pt_access *access);
/* The threads' words lie side by side, in memory of their own. */
#define pt_caches_access_local PT_LEVEL_NAME(pt_caches_access_local)
enum pt_cache_level pt_caches_access_local(const struct pt_event *e, uint32_t lanes,
                                           const struct pt_access *access);

#define pt_caches_access_texels PT_LEVEL_NAME(pt_caches_access_texels)
enum pt_cache_level pt_caches_access_texels(const struct pt_event *e,
                                            const struct pt_texels *texels);

/* How many of the lanes that have the first one's sector have the address that the most have;
 * *lanes loses them. */
#define pt_caches_take_sector PT_LEVEL_NAME(pt_caches_take_sector)
uint32_t pt_caches_take_sector(uint32_t *lanes, const uint64_t *address, uint64_t *sector);

#endif
