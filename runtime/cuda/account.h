/* Telling of launches and copies, to who wants to know: lines of the log, and the table of `ptera
 * exec --summary`. */
#ifndef PTERA_CUDA_ACCOUNT_H
#define PTERA_CUDA_ACCOUNT_H

#include <stdbool.h>

#include "ptera.h"
#include "runtime/cuda/abi.h"
#include "runtime/launch.h"

struct pt_cu_op;

/* Whether somebody wants to be told of launches and copies: PTERA_LOG=launch, `ptera exec
 * --summary`. */
bool pt_cu_account_is_on(void);
/* Runs a launch, and tells of it; `told`, too, if it is not NULL. */
ptera_result pt_cu_account_launch(struct pt_job *job, struct pt_launched *told);
/* Does what `move` does for a PT_CU_COPY or PT_CU_SET, and tells of it. */
void pt_cu_account_move(const struct pt_cu_op *op, void (*move)(const struct pt_cu_op *op));

#endif
