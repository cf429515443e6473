/* The one lock of the driver. */
#ifndef PTERA_CUDA_LOCK_H
#define PTERA_CUDA_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/cuda/abi.h"

/* For calls that leave the lock for a while. */
void pt_cu_lock_take(void);
void pt_cu_lock_release(void);
bool pt_cu_lock_try(void);
/* Waits for `change`; the lock is held again afterwards. */
void pt_cu_lock_wait(pthread_cond_t *change);
/* The caller, who has the lock, calls somebody who may call the driver: what the thread takes and
 * releases in between changes nothing. */
void pt_cu_lock_lend(void);
void pt_cu_lock_take_back(void);
/* In a process that was forked: it may be held by a thread that is gone. */
void pt_cu_lock_renew(void);

#endif
