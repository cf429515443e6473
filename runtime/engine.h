/* The objects behind the handles of ptera.h: engine, module, kernel. */
#ifndef PTERA_RUNTIME_ENGINE_H
#define PTERA_RUNTIME_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/exec.h"
#include "ptera.h"
#include "runtime/device.h"
#include "runtime/heap.h"
#include "runtime/host.h"
#include "runtime/mem.h"
#include "runtime/pool.h"
#include "runtime/print.h"
#include "runtime/queue.h"

enum { PT_ERROR_BYTES = 8192 };

/* What pt_services.replicas returns for an address that is not of multicast memory. */
extern const char pt_no_multicast[];

struct pt_slot;
struct pt_params;
struct pt_version;

/* The thread that compiles in the background, and what waits for it: under the engine's lock. */
struct pt_compiler {
    pthread_t thread;
    pthread_cond_t change; /* of the queue, of a version */
    struct pt_version *queue;
    bool is_started, closing;
    atomic_flag has_told_cache; /* that compiled kernels are not kept */
};

struct ptera_engine {
    struct pt_allocator allocator;
    const struct pt_engine *backend;
    const struct pt_device *device;
    ptera_backend tier; /* that runs launches which do not say */
    bool async_late;    /* all launches put asynchronous copies off */
    unsigned threads;
    size_t stack_bytes;
    bool fmad, allow_fork;
    double compile_seconds; /* this and what follows: struct pt_native_limits */
    uint64_t compile_bytes;
    bool compile_inside;
    unsigned forks; /* engine.c: when it was made */
    struct pt_mem mem;
    struct pt_printer printer;
    struct pt_heap heap;
    struct pt_pool pool;
    struct pt_queue queue;
    /* As pt_services.replicas; of whoever has mapped multicast memory, NULL: nobody. Set before the first launch. */
    const char *(*replicas)(uint64_t address, bool is_write, struct pt_replicas *replicas);
    void (*log)(void *ud, ptera_severity severity, const char *text); /* may be NULL */
    void *log_ud;
    atomic_uint_fast64_t grid_ids;

    pthread_mutex_t lock; /* of what follows */
    struct ptera_module *modules;
    struct pt_slot *slots;    /* that no launch uses */
    unsigned n_slots;         /* of them */
    struct pt_params *params; /* likewise */
    struct pt_compiler compiler;
    struct pt_version *versions; /* native code: native.h */
    unsigned n_versions;
    uint64_t uses;            /* clock of their last uses */
    uint64_t code_bytes;
    struct pt_host host;
    char error[PT_ERROR_BYTES];
};

struct ptera_kernel {
    ptera_module *module;
    uint32_t func;
    struct pt_image image;      /* with symbols of its own: .shared is laid out for each kernel */
    _Atomic(struct pt_program *) programs[PT_TEST_SETS]; /* by their tests; NULL until the first launch with those */
    struct pt_version *versions; /* under the engine's lock */
    atomic_uint_fast64_t interpreted_ns; /* so far, of all workers: how hot it is */
    atomic_uint_fast64_t native_launches, interpreted_launches, stepped;
    atomic_uint_fast64_t compile_ns; /* that native code has taken, and that nobody was told of yet */
    atomic_uint registers;     /* registers.c; 0: not counted yet */
    _Atomic(const char *) why; /* the last launch that asked for native code was interpreted; NULL: it was native */
};

/* A line of a kernel that the log has been told of. */
struct pt_told {
    uint32_t kernel, line; /* kernel: its function */
};

struct ptera_module {
    ptera_engine *engine;
    ptera_module *next, **link; /* in engine->modules */
    pthread_mutex_t lock;       /* of `ir` and the kernels' programs */
    struct pt_module ir;
    const char *name;
    char *text;                 /* a copy: diagnostics and faults show lines of it */
    size_t text_len;
    uint64_t *symbols;          /* addresses of .global and .const variables, by symbol */
    uint8_t *globals;
    struct pt_twin constants;
    uint64_t constants_bytes;
    uint8_t *funcs;             /* reserved addresses that stand for functions */
    size_t funcs_bytes;
    struct ptera_module *callers; /* closure.c: kernels that call this module's functions; NULL until they are wanted */
    struct pt_closure *closures;
    struct pt_host_link *host_links; /* by function; of those with is_host */
    ptera_kernel *kernels;
    uint32_t n_kernels;
    PT_VEC(const char *) diag_texts;
    PT_VEC(struct pt_told) told; /* accesses outside that went on */
};

/* engine.c: memory by the engine's allocator. pt_engine_alloc gives zeroed memory or NULL. */
void *pt_engine_alloc(ptera_engine *engine, size_t bytes);
void pt_engine_free(ptera_engine *engine, void *p);
/* api.c: structs of ptera.h, which begin with their size: a caller's may be of another version than ours. PT_INIT makes `size`
 * bytes of theirs what `from` is; PT_TAKE copies theirs over our defaults, false if it says what we do not know; PT_GIVE copies
 * ours to theirs. */
#define PT_INIT(to, size, from) pt_api_init((to), (size), &(from), sizeof(from))
void pt_api_init(void *to, size_t size, const void *from, size_t ours);
#define PT_TAKE(to, from) pt_api_take(&(to), sizeof(to), (from))
bool pt_api_take(void *to, size_t ours, const void *from);
#define PT_GIVE(to, from) pt_api_give((to), &(from), sizeof(from))
ptera_result pt_api_give(void *to, void *from, size_t ours);
/* True in a process that a fork made after the engine: nothing may be done with it. */
bool pt_engine_is_inherited(const ptera_engine *engine);
/* Sets the text of ptera_engine_error. */
__attribute__((format(printf, 2, 3))) void pt_engine_fail(ptera_engine *engine, const char *format,
                                                          ...);

/* What it is now, into PT_ERROR_BYTES. */
void pt_engine_error_copy(ptera_engine *engine, char *error);
/* Tells the embedder's log, if there is one. */
__attribute__((format(printf, 3, 4))) void pt_engine_log(ptera_engine *engine, ptera_severity severity, const char *format, ...);

/* module.c: compiles a kernel, if it is not yet, with a set of tests (enum pt_test). Errors are in the module's
 * diagnostics; the first is the engine's error text. */
ptera_result pt_module_compile(ptera_kernel *kernel, uint32_t tests, const struct pt_program **program);
void pt_module_free(ptera_module *module);
/* The function or kernel of a name, or PT_NONE. */
uint32_t pt_module_func(const ptera_module *module, const char *name);
/* fit.c: false, with an error, where a kernel has more static shared memory, or the module more constants (`bytes`, as they lie), than GPUs do.
 * Jump to the module's arena.oom. */
bool pt_fit_shared(ptera_module *module);
bool pt_fit_constants(ptera_module *module, uint64_t bytes);
/* A module whose text begins with that of `parent` and whose variables and functions, as far as they are there, are the
 * parent's own. NULL if there is no memory, or what was added is wrong. */
ptera_module *pt_module_extend(ptera_module *parent, const char *text, size_t bytes);
/* Makes the texts of diagnostics that have come in. Jumps to the module's arena.oom. */
void pt_module_format_diagnostics(ptera_module *module);
/* What the diagnostics amount to: invalid or unsupported PTX. */
ptera_result pt_module_diagnosed(const ptera_module *module);
/* The variable whose storage holds `address` or ends nearest before it, or PT_NONE. Takes no lock: addresses do not
 * change after loading. */
uint32_t pt_module_variable_near(const ptera_module *module, uint64_t address);

/* closure.c */
void pt_closure_free_all(ptera_module *module);

/* slot.c: frees the engine's slots that no launch uses; false: there were none. */
bool pt_slot_reclaim(void *engine);
/* params.c */
void pt_params_free_all(ptera_engine *engine);

#endif
