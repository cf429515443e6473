/* Machine code as an object file: what a compile makes, what the cache keeps, what is loaded and run. Knows nothing of LLVM.
 *
 * Generated code refers to the outside by name: "ptera_sym_N" is the address of symbol N of the kernel's image,
 * "ptera_lanes_NAME" the interpreter's function NAME of backend/lanes.h, "ptera_product_NAME" likewise, everything else is in the list of loader.c.
 */
#ifndef PTERA_BACKEND_JIT_OBJECT_H
#define PTERA_BACKEND_JIT_OBJECT_H

#include "backend/exec.h"

#define JIT_ENTRY "ptera_run" /* the function that native->run or native->resume is */
#define JIT_SYMBOL "ptera_sym_"
#define JIT_LANES "ptera_lanes_"
#define JIT_PRODUCT "ptera_product_"
#define JIT_FUNC "ptera_func_"

struct jit_object {
    uint8_t *bytes; /* malloc'ed ELF object */
    size_t size;
    uint32_t scratch_bytes; /* this and what follows: as in struct pt_native */
    uint32_t needs_warps, front_bytes, local_bytes, together;
};

/* device_call.c: calls a device function of the runtime for one thread; false with *fault set, but for its place. Native code calls it
 * by this name. */
bool jit_device_function(struct pt_cta *cta, struct pt_fault *fault, uint32_t thread, uint32_t function,
                         const void *args, void *result);

enum { JIT_SECTIONS_MAX = 256 };

/* object.c: an ELF object whose parts lie inside it, as is true of what is read by the following. Places inside sections are tested where
 * they are used. */
bool jit_object_is_sound(const struct jit_object *object);

/* ---- loader.c -------------------------------------------------------------------------------------------- */

struct jit_code {
    uint8_t *base; /* the mapping */
    size_t bytes;
    uint8_t *text; /* machine code, at its start */
    size_t text_bytes;
    void *entry;
};

/* Maps the object's code and resolves what it refers to; the object's sections get their addresses. On failure *why is a static text, or NULL: no memory. */
bool jit_load(struct jit_object *object, const struct pt_program *program, struct jit_code *code,
              const char **why);
void jit_unload(struct jit_code *code);

/* ---- line_table.c -------------------------------------------------------------------------------------- */

/* Places of the code in ascending order; each holds up to the next. */
struct jit_place {
    uint32_t offset; /* from the start of the text */
    uint32_t func, insn; /* func is PT_NONE where the place is unknown */
};
struct jit_places {
    struct jit_place *v; /* malloc'ed */
    uint32_t n;
};

/* Reads the line table that debug_info.c had LLVM write, of an object that was loaded. Without one, or with no memory, there are no places. */
void jit_places_read(const struct jit_object *object, struct jit_places *places);

#endif
