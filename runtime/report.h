/* Failures of kernels in words. */
#ifndef PTERA_RUNTIME_REPORT_H
#define PTERA_RUNTIME_REPORT_H

#include "runtime/worker.h"

/* The first failure of a launch stops it and is described in job->report. */
void pt_report_fault(struct pt_job *job, const struct pt_warp *warp);
/* Of native code that ran the CTA. */
void pt_report_native(struct pt_job *job, struct pt_cta *cta, const struct pt_fault *fault);
void pt_report_deadlock(struct pt_job *job, const struct pt_slot *slot);
/* Says where the cluster's warps were when the time was over, or the launch was cancelled. */
void pt_report_stop(struct pt_job *job, const struct pt_slot *slot);
/* A launch that has a schedule takes far more steps than it usually does. */
void pt_report_endless(struct pt_job *job, const struct pt_slot *slot);
/* Where the time was over while native code was at `place`. */
void pt_report_native_stop(struct pt_job *job, const struct pt_cta *cta,
                           const struct pt_fault *place);
/* A failure without a place. */
void pt_report_failure(struct pt_job *job, enum pt_fault_kind kind, const char *text);
/* An access outside its allocation that went on. */
void pt_report_stray(struct pt_job *job, const struct pt_stray *stray, char text[PT_ERROR_BYTES]);

#endif
