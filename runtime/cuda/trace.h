/* The timeline that PTERA_TRACE asks for (runtime/trace.h): whether there is one, and the calls of
 * the host in it. */
#ifndef PTERA_CUDA_TRACE_H
#define PTERA_CUDA_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/cuda/driver.h"

struct pt_trace;
struct pt_trace_event;
struct pt_trace_shape;

static inline bool pt_cu_trace_is_on(void)
{
    return pt_cu_driver_is_watched(PT_CU_TIMELINE);
}
struct pt_trace *pt_cu_trace_get(void); /* NULL: there is none */

/* The calling thread enters and leaves a call of CUDA. Only the outermost of several calls is
 * recorded, not those that the runtime library makes of the driver. */
void pt_cu_trace_enter(void);
void pt_cu_trace_leave(const char *call, int result);
/* A number that no arrow and no range of any process in the file has. */
uint64_t pt_cu_trace_number(void);
/* Called before the timeline is closed. */
void pt_cu_trace_at_close(void (*call)(void));
/* A number for the arrows from the call that this thread is in to what it asks for. */
uint64_t pt_cu_trace_arrow(void);
/* Records an event, unless recording is stopped; of the calling thread, if it has no process. */
void pt_cu_trace_add(const struct pt_trace_shape *shape, struct pt_trace_event *event);
/* The number of a device among processes. Its rows are streams. */
uint32_t pt_cu_trace_device(int device);
void pt_cu_trace_name_device(int device, const char *name);
void pt_cu_trace_name_row(int device, uint32_t row, const char *name);
/* Of this process. */
void pt_cu_trace_name_thread(uint32_t thread, const char *name);

#endif
