/* Messages about errors: kept for programs that ask for them, handed to their callbacks. */
#ifndef PTERA_CUDA_ERROR_LOG_H
#define PTERA_CUDA_ERROR_LOG_H

#include <pthread.h>

#include "runtime/cuda/abi.h"

enum { PT_CU_ERROR_LOG_BYTES = 25600, PT_CU_ERROR_LOG_MOST = PT_CU_ERROR_LOG_BYTES / 32 };

struct CUlogsCallbackEntry_st {
    CUlogsCallback call;
    void *ud;
    struct CUlogsCallbackEntry_st *next;
};

/* Messages in the order in which they came, the oldest at `first`; an iterator is the number of a
 * message. */
extern struct pt_cu_error_log {
    pthread_mutex_t lock;
    char *lines[PT_CU_ERROR_LOG_MOST]; /* by number, modulo */
    unsigned first, end;
    size_t bytes;
    struct CUlogsCallbackEntry_st *callbacks;
} pt_cu_error_log;

/* A message about an error, for programs that ask for them. */
__attribute__((format(printf, 1, 2))) void pt_cu_error_log_add(const char *format, ...);
/* In a process that was forked: its lock may be held by a thread that is gone. */
void pt_cu_error_log_renew(void);

#endif
