/* Compiled objects on disk. Nothing that goes wrong there is an error: the kernel is compiled
 * then. */
#ifndef PTERA_BACKEND_JIT_OBJECT_CACHE_H
#define PTERA_BACKEND_JIT_OBJECT_CACHE_H

#include "backend/jit/object/cache_key.h"
#include "backend/jit/object/object.h"
#include "backend/native.h"

/* An object that is whole, or false. */
bool jit_cache_read(const struct jit_key *key, struct jit_object *object);
void jit_cache_write(const struct jit_key *key, const struct jit_object *object);

#endif
