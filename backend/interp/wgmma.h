/* Which elements of a wgmma's product hold no value. */
#ifndef PTERA_BACKEND_INTERP_WGMMA_H
#define PTERA_BACKEND_INTERP_WGMMA_H

#include "backend/interp/async.h"

struct pt_wgmma_lost {
    uint64_t rows;       /* of A in shared memory, of the warp's 16 */
    uint64_t columns[4]; /* of B */
    bool adds;           /* D is a term */
    bool is_packed;      /* two columns in a register of D */
};

#define pt_wgmma_lose PT_LEVEL_NAME(pt_wgmma_lose)
/* The rows of A and columns of B, as the operation finds them when it is issued, that have a byte
 * without a value; undefined(ud, address): which of the 16 bytes there have none. */
void pt_wgmma_lose(const struct pt_async_op *op, uint16_t (*undefined)(void *ud, uint64_t address),
                   void *ud, struct pt_wgmma_lost *lost);

#endif
