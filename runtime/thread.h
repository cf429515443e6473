/* Threads of the library, and what it asks of the program's. */
#ifndef PTERA_RUNTIME_THREAD_H
#define PTERA_RUNTIME_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread that takes no signals: they go to the program's own threads. Those that the
 * thread causes itself, as faults of kernels are, stay open. It has so much stack at least; 0:
 * as the program's threads have, but no less than kernels and the functions that they call may
 * take. */
bool pt_thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *ud), void *ud);

/* what reading, lowering, launching take of the stack at most */
enum { PT_STACK_WORK = 256 << 10 };
/* The calling thread has so much stack left. One that runs on a stack of the program's making, a
 * coroutine's, never has. */
bool pt_thread_has_stack(size_t bytes);
/* Runs run(ud) with so much stack: here, or else on a thread made for it, and waits. False if
 * there is no memory for that. */
bool pt_thread_call(size_t bytes, void (*run)(void *ud), void *ud);

/* While a thread writes where nobody may read any more: SIGPIPE does not come of it. */
struct pt_quiet {
    sigset_t before;
    bool was_pending;
};
void pt_thread_quiet(struct pt_quiet *quiet);
void pt_thread_unquiet(const struct pt_quiet *quiet);

#endif
