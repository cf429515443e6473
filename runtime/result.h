/* Results: the one that a failure of a kernel is. */
#ifndef PTERA_RUNTIME_RESULT_H
#define PTERA_RUNTIME_RESULT_H

#include "backend/exec.h"
#include "ptera.h"

/* PTERA_OK where it is none. */
ptera_result pt_result_of_fault(enum pt_fault_kind kind);

#endif
