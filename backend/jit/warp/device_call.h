/* Calls of device functions, which the runtime provides. */
#ifndef PTERA_BACKEND_JIT_WARP_DEVICE_CALL_H
#define PTERA_BACKEND_JIT_WARP_DEVICE_CALL_H

#include "backend/jit/jit.h"

/* A call of a device function of the runtime: false with unit->why set. */
bool jit_device_call_emit(const struct jit *j);

#endif
