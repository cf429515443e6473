/* Launches: checked, prepared, run. */
#ifndef PTERA_RUNTIME_LAUNCH_H
#define PTERA_RUNTIME_LAUNCH_H

#include "runtime/job.h"
#include "runtime/shape.h"

/* A launch in two steps, for those who run it later. The first checks and copies all that was
 * given; the job is freed by running or dropping it. `given` is complete and its options are
 * valid. What the caller demands beyond device and kernel may be NULL, and so may `misfit`: why
 * PTERA_ERROR_INVALID_LAUNCH comes back, if that is for the launch's shape. */
ptera_result pt_launch_prepare(ptera_kernel *kernel, const ptera_launch *given,
                               const struct pt_shape_bounds *bounds, struct pt_job **job,
                               enum pt_misfit *misfit);
/* The same of a launch as callers of ptera.h fill it in, whatever version of it they have. */
ptera_result pt_launch_take(ptera_kernel *kernel, const ptera_launch *given, struct pt_job **job);
/* What is told of a launch that has run. */
struct pt_launched {
    bool was_native, was_interpreted; /* some of it, at least */
    bool is_brief;                    /* set by the caller: neither run_ns nor `why` is wanted */
    char why[256];                    /* it was interpreted */
    uint64_t run_ns;
    uint64_t compile_ns; /* that native code of the kernel has taken since it was last told */
};
/* `launched` may be NULL. */
ptera_result pt_launch_run(struct pt_job *job, struct pt_launched *launched);
void pt_launch_drop(struct pt_job *job);

#endif
