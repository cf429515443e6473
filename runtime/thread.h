/* Threads of the library. */
#ifndef PTERA_RUNTIME_THREAD_H
#define PTERA_RUNTIME_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread that takes no signals: they go to the program's own threads. Faults of kernels are synchronous and stay
 * open. stack_bytes may be 0: as the program's threads have. */
bool pt_thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *ud), void *ud);

#endif
