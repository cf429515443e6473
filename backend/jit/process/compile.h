/* What LLVM makes of a snapshot. */
#ifndef PTERA_BACKEND_JIT_PROCESS_COMPILE_H
#define PTERA_BACKEND_JIT_PROCESS_COMPILE_H

#include "backend/jit/object/object.h"
#include "backend/native.h"

/* `what` the n bytes of a snapshot become: of texts object->bytes alone is set. False with *result
 * set. */
bool jit_compile_snapshot(const uint8_t *snapshot, size_t n, enum pt_native_print what,
                          struct jit_object *object, struct pt_native_result *result);

#endif
