/* Whether all that loading and reading an object looks at lies inside it: whoever made it, nothing
 * beyond it is read then. */
#ifndef PTERA_BACKEND_JIT_OBJECT_OBJECT_H
#define PTERA_BACKEND_JIT_OBJECT_OBJECT_H

#include "backend/exec.h"
#include "backend/native.h"

struct jit_object {
    uint8_t *bytes; /* malloc'ed ELF object */
    size_t size;
    uint32_t scratch_bytes; /* this and what follows: as in struct pt_native */
    uint32_t needs_warps, front_bytes, local_bytes, together;
};

enum { JIT_SECTIONS_MAX = 256 };

#define JIT_ENTRY "ptera_run" /* the function that native->run or native->resume is */
#define JIT_SYMBOL "ptera_sym_"
#define JIT_LANES "ptera_lanes_"
#define JIT_PRODUCT "ptera_product_"
#define JIT_FUNC "ptera_func_"

/* An ELF object whose parts lie inside it, as is true of what is read by the following. Places
 * inside sections are tested where they are used. */
bool jit_object_is_sound(const struct jit_object *object);

#endif
