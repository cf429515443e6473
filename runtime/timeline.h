/* What engines record in a timeline (trace.h): loading and compiling, and, of a timeline of their
 * own, launches. */
#ifndef PTERA_RUNTIME_TIMELINE_H
#define PTERA_RUNTIME_TIMELINE_H

#include "runtime/launch.h"
#include "runtime/trace.h"

/* Fields of a launch, and their values. */
#define PT_TIMELINE_LAUNCH                                                         \
    {"grid", PT_TRACE_SIZE}, {"block", PT_TRACE_SIZE}, {"cluster", PT_TRACE_SIZE}, \
        {"dynamic_shared_bytes", PT_TRACE_ID}, {"engine", PT_TRACE_TEXT},          \
    {                                                                              \
        "compile_ns", PT_TRACE_ID                                                  \
    }
enum { PT_TIMELINE_LAUNCH_VALUES = 12 };
/* Returns where they end. */
uint64_t *pt_timeline_put_launch(uint64_t *values, const ptera_launch *launch,
                                 const struct pt_launched *launched);

/* The time, if the engine records what it does; else 0. */
uint64_t pt_timeline_begin(const ptera_engine *engine);
/* Something of a category that began then is done; 0: nothing is recorded. */
void pt_timeline_end(ptera_engine *engine, const char *name, const struct pt_trace_shape *shape,
                     uint64_t begun);
extern const struct pt_trace_shape pt_timeline_load, pt_timeline_compile;
/* Likewise a launch. */
void pt_timeline_end_launch(const struct pt_job *job, const struct pt_launched *launched,
                            uint64_t begun);
/* The engine has a timeline of its own, in that file. */
ptera_result pt_timeline_open(ptera_engine *engine, const char *path);
void pt_timeline_close(ptera_engine *engine);

#endif
