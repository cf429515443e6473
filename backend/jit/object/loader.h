/* Machine code of an object, in memory. */
#ifndef PTERA_BACKEND_JIT_OBJECT_LOADER_H
#define PTERA_BACKEND_JIT_OBJECT_LOADER_H

#include "backend/exec.h"
#include "backend/jit/object/object.h"

struct jit_loaded {
    uint8_t *base; /* the mapping */
    size_t bytes;
    uint8_t *text; /* machine code, at its start */
    size_t text_bytes;
    void *entry;
};

/* Maps the object's code and resolves what it refers to; the object's sections get their addresses.
 * On failure *why is a static text, or NULL: no memory. */
bool jit_loader_load(struct jit_object *object, const struct pt_program *program,
                     struct jit_loaded *code, const char **why);
void jit_loader_unload(struct jit_loaded *code);

#endif
