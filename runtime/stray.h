/* Accesses outside allocations that go on (PTERA_OOB=warn). */
#ifndef PTERA_RUNTIME_STRAY_H
#define PTERA_RUNTIME_STRAY_H

#include "runtime/worker.h"

/* For pt_fault_scope.tolerate, of a worker with strays. */
bool pt_stray_take(void *worker, uintptr_t pc, uint64_t address);
/* Tells the engine's log of the worker's strays: once for each kernel and line. */
void pt_stray_tell(struct pt_worker *worker);

#endif
