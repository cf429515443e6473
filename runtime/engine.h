/* The objects behind the handles of ptera.h: engine, module, kernel. */
#ifndef PTERA_RUNTIME_ENGINE_H
#define PTERA_RUNTIME_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/exec.h"
#include "ptera.h"
#include "runtime/version_queue.h"
#include "runtime/device.h"
#include "runtime/heap.h"
#include "runtime/host.h"
#include "runtime/mem.h"
#include "runtime/pool.h"
#include "runtime/print.h"
#include "runtime/profile.h"
#include "runtime/queue.h"
#include "runtime/twin.h"

enum { PT_ERROR_BYTES = 8192 };

/* What pt_services.replicas returns for an address that is not of multicast memory. */
extern const char pt_no_multicast[];

struct pt_slot;
struct pt_params;
struct pt_version;
struct pt_found;

/* The slots that a worker had last, of a few kernels, while no launch uses them: launches often
 * follow one another, and all workers want theirs at once. A cache line each. */
enum { PT_OWN = 64, PT_OWN_KERNELS = 4 };
struct pt_own {
    _Atomic(struct pt_slot *) slots[PT_OWN_KERNELS];
    char apart[32];
};

enum { PT_FINDING_PATTERN = 256 };

/* What checkers found: finding.c. */
struct pt_findings {
    pthread_mutex_t lock;
    struct pt_found **v; /* in the order in which they were found first */
    uint32_t n, room;
    uint64_t untold; /* what was not told apart any more */
    void (*tell)(void *ud, unsigned index);
    void *ud;
    bool tells_launches; /* of what it knows already, too, once in each launch */
    /* as ptera_options.check_kernels and what follows; the launches so far */
    char kernels[PT_FINDING_PATTERN];
    unsigned skip, most;
    atomic_uint n_launches;
};

/* What launches under several schedules are to do: as ptera_options has it. */
struct pt_order_options {
    pthread_mutex_t lock; /* of such launches: one at a time */
    unsigned schedules, depth;
    uint64_t seed;
    double tolerance;
    bool compares_text;
};

/* Where a launch's own failure is told, beside its engine's; NULL: nowhere. */
struct pt_own_error {
    char *text;
    size_t bytes;
};

struct pt_counted;

struct ptera_engine {
    struct pt_allocator allocator;
    const struct pt_engine *backend;
    const struct pt_device *device;
    ptera_backend tier; /* that runs launches which do not say */
    bool async_late;    /* all launches put asynchronous copies off */
    unsigned threads;
    atomic_uint busy;                    /* of them: workers of launches under way */
    atomic_uint_fast64_t interpreted_ns; /* that they have interpreted so far what may be native */
    size_t stack_bytes;
    bool fmad, allow_fork;
    double compile_seconds; /* this and what follows: struct pt_native_limits */
    uint64_t compile_bytes;
    bool compile_inside;
    unsigned forks;     /* pt_engine_forks, when it was made */
    uint32_t observers; /* that watch all launches, and memory: a set of enum pt_test */
    const struct pt_observer *memory_observers[PT_OBSERVERS_MOST + 1]; /* those for mem.observers */
    struct pt_mem mem;
    struct pt_printer printer;
    struct pt_heap heap;
    struct pt_pool pool;
    struct pt_queue queue;
    /* As pt_services.replicas; of whoever has mapped multicast memory, NULL: nobody. Set before
     * the first launch. */
    const char *(*replicas)(uint64_t address, bool is_write, struct pt_replicas *replicas);
    /* Memory that kernels may use and `mem` does not have, as other engines', and what programs
     * have mapped: the range that holds the address. NULL: there is none. Set before the first
     * launch. */
    bool (*find_foreign)(uint64_t address, uint64_t *first, uint64_t *bytes);
    void (*log)(void *ud, ptera_severity severity, const char *text); /* may be NULL */
    void *log_ud;
    struct pt_findings findings;
    struct pt_order_options order;
    pthread_mutex_t counted_lock; /* of: */
    struct pt_trace *trace;       /* timeline.h; NULL: none */
    bool owns_trace;
    const atomic_bool *uncounted; /* while it is set nothing is counted or recorded; may be NULL */
    struct pt_counted *counted;   /* counted.h */
    atomic_uint_fast64_t grid_ids;

    struct pt_own own[PT_OWN]; /* by worker */

    pthread_mutex_t running_lock; /* of: */
    struct pt_job *running;       /* cancel.h */

    pthread_mutex_t lock; /* of what follows */
    struct ptera_module *modules;
    struct pt_slot *slots;    /* that no launch uses, nor is some worker's own */
    unsigned n_slots;         /* of them */
    struct pt_params *params; /* likewise */
    struct pt_version_queue version_queue;
    atomic_flag has_told_cache;  /* that compiled kernels are not kept */
    struct pt_version *versions; /* native code: version.h */
    unsigned n_versions;
    uint64_t uses; /* clock of their last uses */
    uint64_t code_bytes;
    struct pt_host host;
    char error[PT_ERROR_BYTES];
};

struct ptera_kernel {
    ptera_module *module;
    uint32_t func;
    struct pt_image image; /* with symbols of its own: .shared is laid out for each kernel */
    _Atomic(struct pt_program *) programs; /* a list, one for each set of tests so far */
    struct pt_version *versions;           /* under the engine's lock */
    atomic_uint_fast64_t interpreted_ns;   /* so far, of all workers: how hot it is */
    atomic_uint_fast64_t running_since;    /* an interpreted launch of it; 0: there is none */
    atomic_uint_fast64_t native_launches, interpreted_launches, stepped;
    /* that native code has taken, and that nobody was told of yet */
    atomic_uint_fast64_t compile_ns;
    atomic_uint registers; /* registers.c; 0: not counted yet */
    /* the last launch that asked for native code was interpreted; NULL: it was native */
    _Atomic(const char *) why;
    _Atomic(const char *) invalid; /* the first error that was found when it was compiled */
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
    char *text; /* a copy: diagnostics and faults show lines of it */
    size_t text_len;
    uint64_t *symbols; /* addresses of .global and .const variables, by symbol */
    uint8_t *globals;
    struct pt_twin constants;
    uint64_t constants_bytes;
    uint8_t *funcs; /* reserved addresses that stand for functions */
    size_t funcs_bytes;
    struct ptera_module
        *callers; /* kernels that call this module's functions; NULL until they are wanted */
    struct pt_closure *closures;
    struct pt_host_link *host_links; /* by function; of those with is_host */
    ptera_kernel *kernels;
    uint32_t n_kernels;
    bool has_profile; /* what is hot is kept under this: */
    struct pt_profile_key profile;
    PT_VEC(const char *) diag_texts;
    PT_VEC(struct pt_told) told; /* accesses outside that went on */
};

/* Memory by the engine's allocator. pt_engine_alloc gives zeroed memory or NULL. */
void *pt_engine_alloc(ptera_engine *engine, size_t bytes);
void pt_engine_free(ptera_engine *engine, void *p);
/* How often this process and its ancestors were made by fork since the library came in. */
unsigned pt_engine_forks(void);
/* True in a process that a fork made after the engine: nothing may be done with it. */
bool pt_engine_is_inherited(const ptera_engine *engine);
/* Which memory holds values, from the first call on; NULL: no memory. */
struct pt_shadow *pt_engine_shadow(ptera_engine *engine);
/* Sets the text of ptera_engine_error. */
__attribute__((format(printf, 2, 3))) void pt_engine_fail(ptera_engine *engine, const char *format,
                                                          ...);
/* The same of a launch: also into what is its own, if it has any. */
__attribute__((format(printf, 3, 4))) void pt_engine_fail_launch(ptera_engine *engine,
                                                                 const struct pt_own_error *own,
                                                                 const char *format, ...);
/* Tells the embedder's log, if there is one. */
__attribute__((format(printf, 3, 4))) void
pt_engine_log(ptera_engine *engine, ptera_severity severity, const char *format, ...);

#endif
