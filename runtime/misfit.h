/* Why a launch does not fit its kernel or its device. */
#ifndef PTERA_RUNTIME_MISFIT_H
#define PTERA_RUNTIME_MISFIT_H

#include "ptera.h"

struct pt_job;
struct pt_shape;

enum pt_misfit {
    PT_MISFIT_NONE,
    PT_MISFIT_BLOCK,            /* of no threads, or of more than any kernel may have */
    PT_MISFIT_GRID,             /* of no blocks, or of too many in one dimension */
    PT_MISFIT_THREADS,          /* of a block: more than .maxntid or .reqntid declares */
    PT_MISFIT_REQNTID,          /* another block than .reqntid demands */
    PT_MISFIT_REGISTERS,        /* not enough for the threads of a block */
    PT_MISFIT_SHARED,           /* more shared memory than a block has */
    PT_MISFIT_DYNAMIC,          /* more dynamic shared memory than the caller allows */
    PT_MISFIT_CLUSTER_MISSING,  /* .explicitcluster demands one */
    PT_MISFIT_CLUSTER_REQUIRED, /* another than .reqnctapercluster demands */
    PT_MISFIT_CLUSTER_NONE,     /* the device has none */
    PT_MISFIT_CLUSTER_SIZE,     /* more blocks than one may have */
    PT_MISFIT_CLUSTER_RANK,     /* more blocks than .maxclusterrank allows */
    PT_MISFIT_CLUSTER_GRID,     /* the grid is not a multiple of it */
    PT_MISFIT_RESIDENT /* more blocks of a cooperative launch than can be resident at once */
};

/* Makes it the launch's error. `shape` is what the launch comes to as far as it was judged. */
void pt_misfit_refuse(const struct pt_job *job, enum pt_misfit misfit, const ptera_launch *given,
                      const struct pt_shape *shape);

#endif
