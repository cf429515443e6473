/* The host's end of a compiler process. */
#ifndef PTERA_BACKEND_JIT_PROCESS_CLIENT_H
#define PTERA_BACKEND_JIT_PROCESS_CLIENT_H

#include <sys/syscall.h>
#include <unistd.h>

#include "backend/jit/object/object.h"
#include "backend/native.h"

/* As jit_compile_snapshot, in a compiler process within the limits, or in this one where
 * limits->is_inside. From any number of threads at once. */
bool jit_client_compile(const uint8_t *snapshot, size_t n, enum pt_native_print what,
                        const struct pt_native_limits *limits, struct jit_object *object,
                        struct pt_native_result *result);

#endif
