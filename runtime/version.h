/* Versions of kernels: native code by block shape, with the heat that says when it is worth making
 * one, and the making. */
#ifndef PTERA_RUNTIME_VERSION_H
#define PTERA_RUNTIME_VERSION_H

#include "backend/native.h"
#include "runtime/engine.h"

/* What a version is made for. */
struct pt_variant {
    ptera_kernel *kernel;
    uint32_t block[3]; /* 0, 0, 0: any */
    bool math_fast, has_cluster;
    uint32_t tests; /* enum pt_test: of its program */
};

/* A kernel compiled for a block shape, or the reason why it cannot be. */
struct pt_version {
    struct pt_version *next;   /* of the kernel */
    struct pt_version *all;    /* of the engine */
    struct pt_version *queued; /* next that waits for a thread of the background */
    bool is_queued;
    bool is_profiled;        /* it was hot in an earlier run, */
    uint64_t last_run_ns;    /* which interpreted a launch of it so long */
    atomic_flag is_recorded; /* in the profile */
    atomic_flag is_waited_for;
    atomic_bool is_missing;            /* it is not in the cache: */
    struct pt_native_request *request; /* from which it will be compiled */
    struct pt_variant made_for;
    unsigned users;
    uint64_t last_use;
    atomic_bool is_unwanted; /* its module goes: whoever compiles it stops */
    /* it was not made, and is in no list any more: its last user frees it */
    bool is_dropped;
    atomic_bool is_ready; /* what follows is known */
    struct pt_native *native;
    char *why; /* it is not native */
};

/* Who makes a version, and until when. */
struct pt_making {
    struct pt_version *version;
    const struct timespec *deadline; /* NULL: none */
    bool is_nice;                    /* pt_native_limits */
};

/* These four under the engine's lock, under which the lists change and are read. */

/* What is there for this shape, with a user more. Otherwise *variant becomes what is to be made: of
 * the shape's own while the kernel has few, or where none can serve all. */
struct pt_version *pt_version_choose(struct pt_variant *variant);
/* A version that is to be made: others wait for it. NULL: no memory. */
struct pt_version *pt_version_enter(const struct pt_variant *variant);
/* A user less. What was dropped goes with its last one. */
void pt_version_put(ptera_engine *engine, struct pt_version *version);
/* Nobody uses it. */
void pt_version_remove(ptera_engine *engine, struct pt_version *version);

/* For how long its kernel has been interpreted, in ns. */
uint64_t pt_version_heat(const struct pt_version *version);
/* Long enough to look for it in the cache. `is_idle`: nobody has to wait for that. */
bool pt_version_is_warm(const struct pt_version *version, bool is_idle);
/* The program has interpreted so much that compilers may take their part of the processors. */
bool pt_version_is_old(const struct pt_version *version);
/* Long enough to compile it where a worker is idle, or, if that is urgent, at usual priority. Of a
 * kernel whose program has been made. */
bool pt_version_is_hot(const struct pt_version *version, bool is_urgent);

/* Until the deadline, if there is one. Where nobody demands native code, no memory is a reason
 * not to try again. PT_NATIVE_MADE: the version is ready, with native code or with the reason why
 * there is none. */
enum pt_native_end pt_version_make(const struct pt_making *making, bool is_demanded);
/* True: the cache has it, and it is ready. */
bool pt_version_look_up(struct pt_version *version);

#endif
