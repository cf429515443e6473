/* Launches under way, which ptera_engine_cancel ends. */
#ifndef PTERA_RUNTIME_CANCEL_H
#define PTERA_RUNTIME_CANCEL_H

#include "ptera.h"

struct pt_job;

/* From here on, until it has ended, the launch can be cancelled. */
void pt_cancel_begin(struct pt_job *job);
void pt_cancel_end(struct pt_job *job);
/* Stops it, unless something else has. */
void pt_cancel_job(struct pt_job *job);
void pt_cancel_running(ptera_engine *engine);

#endif
