/* A kernel apart from the engine that has it: all that compiling it depends on, as bytes. They are
 * what a compiler process is sent, what is compiled (so that nothing of the module is locked
 * meanwhile), and what the cache's key is the hash of.
 */
#ifndef PTERA_BACKEND_JIT_OBJECT_SNAPSHOT_H
#define PTERA_BACKEND_JIT_OBJECT_SNAPSHOT_H

#include "backend/native.h"

/* What pt_engine.lanes and pt_engine.product give for a form. */
struct jit_snapshot_form {
    struct pt_lanes lanes; /* without `fn`; no name: there is none */
    uint64_t kind;
    struct pt_product product; /* likewise */
};

struct jit_snapshot {
    /* its functions that the kernel may call; others have no body, where no address of theirs is
     * asked for */
    struct pt_module m;
    uint32_t kernel; /* index of the function */
    uint32_t tests;  /* of the program: enum pt_test */
    struct pt_native_options options;
    uint64_t *shared; /* by symbol: offsets of .shared variables in the CTA's window; others 0 */
    struct jit_snapshot_form *forms; /* by index */
    uint32_t **slots; /* pt_engine.slot by function and register, of functions with a body */
};

/* malloc'ed; NULL: no memory. The caller holds the module's lock. */
uint8_t *jit_snapshot_write(const struct pt_program *program,
                            const struct pt_native_options *options, size_t *bytes);

/* Back again, in `arena`, whose oom is set; the bytes may go. NULL: they are no snapshot. */
struct jit_snapshot *jit_snapshot_read(const uint8_t *bytes, size_t n, struct pt_arena *arena);

/* As pt_engine.lanes and pt_engine.product, of a form of s->m or of a copy of its forms; NULL:
 * there is none. */
const struct pt_lanes *jit_snapshot_lanes(const struct jit_snapshot *s, const struct pt_form *form,
                                          uint64_t *kind);
const struct pt_product *jit_snapshot_product(const struct jit_snapshot *s,
                                              const struct pt_form *form);

#endif
