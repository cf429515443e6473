/* Handlers made of functions over n lanes, of operations that are faster over a whole warp than
 * lane by lane. */
#ifndef PTERA_BACKEND_INTERP_WHOLE_H
#define PTERA_BACKEND_INTERP_WHOLE_H

#include "backend/interp/pick.h"

/* The handler of lanes_NAME, which has that many sources. */
#define PT_LANES_HANDLER(name, D, sources)                                             \
    PT_HANDLER(name)                                                                   \
    {                                                                                  \
        PT_ELT_##D *d = PT_SLOT(0, D), all[PT_WARP_SIZE] __attribute__((aligned(64))); \
        const uint32_t *lanes = f->lanes;                                              \
        bool is_full = f->mask == UINT32_MAX;                                          \
        lanes_##name(is_full ? d : all, PT_LANES_SLOTS_##sources, PT_WARP_SIZE);       \
        if (!is_full)                                                                  \
            PT_LANES                                                                   \
        d[i] = lanes[i] ? all[i] : d[i];                                               \
        return c + 1;                                                                  \
    }
#define PT_LANES_SLOTS_1 PT_SLOT(1, u32), NULL, NULL
#define PT_LANES_SLOTS_2 PT_SLOT(1, u32), PT_SLOT(2, u32), NULL
#define PT_LANES_SLOTS_3 PT_SLOT(1, u32), PT_SLOT(2, u32), PT_SLOT(3, u32)

#endif
