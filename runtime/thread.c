/* Threads of the library. */
#define _GNU_SOURCE
#include "runtime/thread.h"

#include <stdint.h>
#include <time.h>

enum { STACK_LEAST = 1 << 20, STACK_CALL = 16 << 20 };

/* Blocked they would end the process, or are the business of whoever filters system calls. */
static void set_of_asynchronous(sigset_t *set)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(set);
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(set, synchronous[i]);
}

bool pt_thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *ud), void *ud)
{
    pthread_attr_t attributes;
    sigset_t blocked, before;
    size_t usual = 0;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_getstacksize(&attributes, &usual);
    if (!stack_bytes && usual < STACK_LEAST)
        stack_bytes = STACK_LEAST;
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    set_of_asynchronous(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(thread, &attributes, run, ud);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

/* ---- room on the stack ----------------------------------------------------------------------- */

/* Of the calling thread; high is 0 until it is known. */
static __thread struct {
    uintptr_t low, high;
} stack;

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = UINTPTR_MAX; /* where the system does not tell: enough */
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &bytes);
        pthread_attr_destroy(&attributes);
    }
    stack.low = (uintptr_t)low;
    stack.high = stack.low + bytes;
}

bool pt_thread_has_stack(size_t bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!stack.high)
        find_stack();
    return here < stack.high && here > stack.low && here - stack.low >= bytes;
}

struct call {
    void (*run)(void *ud);
    void *ud;
};

static void *call_main(void *ud)
{
    const struct call *call = ud;
    call->run(call->ud);
    return NULL;
}

bool pt_thread_call(size_t bytes, void (*run)(void *ud), void *ud)
{
    struct call call = {run, ud};
    pthread_t thread;
    if (pt_thread_has_stack(bytes)) {
        run(ud);
        return true;
    }
    if (!pt_thread_start(&thread, STACK_CALL, call_main, &call))
        return false;
    pthread_join(thread, NULL);
    return true;
}

/* ---- signals of writing ---------------------------------------------------------------------- */

static void set_of_pipe(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGPIPE);
}

void pt_thread_quiet(struct pt_quiet *quiet)
{
    sigset_t pipe, pending;
    set_of_pipe(&pipe);
    sigpending(&pending);
    quiet->was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &quiet->before);
}

void pt_thread_unquiet(const struct pt_quiet *quiet)
{
    sigset_t pipe, pending;
    set_of_pipe(&pipe);
    sigpending(&pending);
    if (!quiet->was_pending && sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}
