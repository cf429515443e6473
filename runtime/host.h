/* Functions of the embedder that kernels call, as ptera_function_register describes them. */
#ifndef PTERA_RUNTIME_HOST_H
#define PTERA_RUNTIME_HOST_H

#include <ffi.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"
#include "ir/ir.h"

/* A C function type, by libffi. */
struct pt_signature {
    ffi_type *result;
    ffi_type **params;
    unsigned n_params;
};

/* Reads a signature into the arena (whose oom is set). False if it is none; *at is the place of
 * the error. */
bool pt_signature_parse(struct pt_arena *arena, const char *text, struct pt_signature *signature,
                        const char **at);

struct pt_host_function {
    const char *name, *text; /* the signature */
    void (*code)(void);
    struct pt_signature signature;
    ffi_cif cif;
    struct pt_host_function *next;
};

/* Those of an engine; under its lock, but a function once registered stays as it is. */
struct pt_host {
    struct pt_arena arena;
    struct pt_host_function *functions;
};

/* A function that a module declares and the embedder provides. */
struct pt_host_link {
    const struct pt_host_function *function;
    uint32_t *offsets; /* of the arguments, in the bytes that an engine gives */
    uint32_t result_bytes;
};

struct ptera_engine;
/* The function registered under a name, or NULL. */
const struct pt_host_function *pt_host_find(struct ptera_engine *engine, const char *name);

bool pt_host_is_integer(const ffi_type *type);

/* True if a function of the module has parameters and a result of these sizes, all parameters
 * and the result PT_DEVICE_BYTES at most; else `why` says what differs. */
bool pt_host_fits(const struct pt_module *module, uint32_t func,
                  const struct pt_signature *signature, char *why, size_t why_bytes);
/* True if calls of the declared function can be passed on; else `why` says what differs. */
bool pt_host_link(struct pt_module *module, uint32_t func, const struct pt_host_function *function,
                  struct pt_host_link *link, char *why, size_t why_bytes);
struct pt_job;
/* The thread of a launch that calls. */
struct pt_host_caller {
    const struct pt_job *job;
    uint32_t cta[3], thread[3];
};
/* Calls it. Returns what ptera_function_fail said in it, or NULL; valid until this thread calls
 * another. */
const char *pt_host_call(const struct pt_host_link *link, const struct pt_host_caller *caller,
                         const void *args, void *result);
/* Of the function that this thread is in; NULL: it is in none. */
const struct pt_host_caller *pt_host_caller_get(void);

#endif
