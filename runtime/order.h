/* Launches whose result may depend on the order of threads: run under several schedules. */
#ifndef PTERA_RUNTIME_ORDER_H
#define PTERA_RUNTIME_ORDER_H

#include "runtime/job.h"

/* What the options say is possible. */
bool pt_order_may_be(const ptera_options *options);
void pt_order_init(ptera_engine *engine, const ptera_options *options);
/* As pt_run_job; then, from the memory that the launch found, once more for each schedule, whose
 * results are compared. Memory is in the end what the first run left. */
void pt_order_run(struct pt_job *job);

#endif
