/* Who is told of calls, of what comes of them, and of what is made and destroyed: libcupti, which
 * asks for it (vendor.h). */
#ifndef PTERA_CUDA_LISTENER_H
#define PTERA_CUDA_LISTENER_H

#include "runtime/cuda/driver.h"
#include "runtime/cuda/vendor.h"

/* Somebody has been told once, at least. */
static inline bool pt_cu_listener_is_on(void)
{
    return pt_cu_driver_is_watched(PT_CU_LISTENER);
}

/* NULL: nobody. */
const struct pt_cu_listener *pt_cu_listener_get(void);
void pt_cu_listener_set(const struct pt_cu_listener *listener);

/* The arguments of the call that the thread begins next: a structure that is there as long as the
 * call. */
void pt_cu_listener_give(const void *parameters);
/* The calling thread enters and leaves a call. Without the lock. */
void pt_cu_listener_enter(enum pt_cu_api api, const char *call);
void pt_cu_listener_leave(int result);
/* The number of the outermost call that the thread is in; 0: there is none. */
uint32_t pt_cu_listener_call(void);

/* Something has been made, or is about to be destroyed. With the lock. */
void pt_cu_listener_tell_resource(const struct pt_cu_resource *resource);
/* PT_CU_LISTENER_TELL(what, .stream = stream, ...) */
#define PT_CU_LISTENER_TELL(what_, ...)                                                           \
    do {                                                                                          \
        if (pt_cu_listener_is_on())                                                               \
            pt_cu_listener_tell_resource(&(struct pt_cu_resource){.what = (what_), __VA_ARGS__}); \
    } while (0)

#endif
