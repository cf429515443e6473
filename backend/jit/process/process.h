/* .. */
#ifndef PTERA_BACKEND_JIT_PROCESS_PROCESS_H
#define PTERA_BACKEND_JIT_PROCESS_PROCESS_H

#include <sys/syscall.h>
#include <unistd.h>

#include "backend/jit/object/object.h"
#include "backend/native.h"

enum { JIT_SOCKET = 3, /* in the compiler process */ JIT_IDLE_MS = 2000 /* with nothing to do: it ends */ };

/* What goes through the socket, each with `bytes` bytes behind it: both ends are of one build. */
struct jit_question {
    uint64_t bytes, memory_bytes; /* the snapshot's; struct pt_native_limits */
    uint32_t what;                /* enum pt_native_print */
};
struct jit_answer {
    uint64_t bytes; /* the object's or text's; 0 where there is none */
    struct jit_object object; /* but for `bytes` and `size` */
    struct pt_native_result result;
};

#define JIT_PROGRAM "ptera-compiler" /* beside libptera-jit.so */

/* A descriptor of a process, which no other can be taken for when it has ended; -1: it is gone, or the system has none. */
static inline int jit_process_open(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

#endif
