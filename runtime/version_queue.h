/* Versions of kernels that wait for the background, whose threads make them while the interpreter
 * runs: what the cache has at once, what it has not when it is hot enough, the hottest first. */
#ifndef PTERA_RUNTIME_VERSION_QUEUE_H
#define PTERA_RUNTIME_VERSION_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

struct ptera_engine;
struct pt_version;

enum { PT_COMPILING_MOST = 4 /* kernels at once, of each priority */ };

/* Under the engine's lock. A thread more than may compile at once: what the cache has waits for no
 * compile. */
struct pt_version_queue {
    pthread_t threads[2 * PT_COMPILING_MOST + 1];
    unsigned n_threads, n_idle;
    unsigned n_compiling[2]; /* at usual priority, behind all others */
    pthread_cond_t change;   /* of the queue, of a version */
    struct pt_version *first;
    bool closing, is_polling; /* a thread looks by itself what gets hot */
};

void pt_version_queue_init(struct ptera_engine *engine);
/* Ends the threads; no version waits any more. */
void pt_version_queue_close(struct ptera_engine *engine);

/* All under the engine's lock. */

/* Starts a thread if none is idle and there may be one more. False: there is no thread at all. */
bool pt_version_queue_start(struct ptera_engine *engine);
void pt_version_queue_add(struct ptera_engine *engine, struct pt_version *version);
/* True if the version waited, and does no more. */
bool pt_version_queue_take(struct ptera_engine *engine, struct pt_version *version);
/* A launch of the version begins, which may wait; NULL: of none. */
void pt_version_queue_wake(struct ptera_engine *engine, const struct pt_version *version);

#endif
