/* Operations that may overlap: what neither streams nor events, graphs or waits order. While races
 * are checked, the latest of them are remembered with what they accessed; two of them that conflict
 * and of which neither is before the other are a finding. */
#ifndef PTERA_CUDA_OVERLAP_H
#define PTERA_CUDA_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "ptera.h"
#include "runtime/cuda/abi.h"
#include "runtime/cuda/before.h"

struct pt_cu_command;

/* A context's engine checks races: from now on. */
void pt_cu_overlap_watch(void);
bool pt_cu_overlap_is_watched(void);
/* A new command comes behind all that the host has waited for. */
void pt_cu_overlap_new(struct pt_cu_command *command);
/* It comes behind one that is over. */
void pt_cu_overlap_after(struct pt_cu_command *command, const struct pt_cu_command *earlier);
/* It is about to run; it has. */
void pt_cu_overlap_begin(struct pt_cu_command *command);
void pt_cu_overlap_end(struct pt_cu_command *command);
/* The host has waited for it, or been told that it is over. */
void pt_cu_overlap_waited(const struct pt_cu_command *command);
/* The host has waited for all that was under way in the context. */
void pt_cu_overlap_drained(CUcontext ctx);
/* Memory there is another allocation from now on. */
void pt_cu_overlap_allocated(uint64_t address, uint64_t bytes);
/* What is remembered of the context's kernels, or of one module's, is no more. */
void pt_cu_overlap_forget(CUcontext ctx, const ptera_module *module);

#endif
