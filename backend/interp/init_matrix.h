/* What no value is made of: matrices in shared memory, and asynchronous copies. */
#ifndef PTERA_BACKEND_INTERP_INIT_MATRIX_H
#define PTERA_BACKEND_INTERP_INIT_MATRIX_H

#include "backend/interp/async.h"
#include "backend/interp/undefined.h"
#include "backend/observer.h"
#include "backend/shadow.h"

enum { PT_MATRIX_ROW = 16 /* bytes of a row that ldmatrix reads, and that wgmma does at once */ };

#define pt_init_matrix_load PT_LEVEL_NAME(pt_init_matrix_load)
/* ldmatrix: its registers have no value where the rows have none. */
void pt_init_matrix_load(const struct pt_event *e, const struct pt_access *a,
                         struct pt_shadow *shadow);
#define pt_init_matrix_multiply PT_LEVEL_NAME(pt_init_matrix_multiply)
/* wgmma that is issued: elements of D whose row of A, column of B, or what is added to them, has
 * something without a value. */
void pt_init_matrix_multiply(const struct pt_event *e, const struct pt_async_op *op,
                             struct pt_shadow *shadow);
#define pt_init_matrix_copy PT_LEVEL_NAME(pt_init_matrix_copy)
/* An asynchronous copy that is issued, of bytes in a row: what has no value has none there. */
void pt_init_matrix_copy(const struct pt_async_op *op, struct pt_shadow *shadow);

#endif
