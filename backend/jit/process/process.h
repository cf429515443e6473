/* Compiling in another process: client.c in the host, server.c in the compiler process, whose
 * program is main.c.
 *
 * A compiler process is started when it is first needed, and kept for a while. The two share a
 * socket; the host sends a request, the compiler answers it, one at a time. Where the host gives up
 * it kills the compiler; where the compiler dies the kernel stays interpreted. It has none of the
 * host's open files. It is a child of the host, which takes its end in when it next needs one, or
 * at exit: grandchildren that outlive the host would stay as zombies in containers whose first
 * process takes in nobody. A host that waits for any child may see it; it ends by itself when it
 * has nothing to do, so that nobody waits for it for ever.
 */
#ifndef PTERA_BACKEND_JIT_PROCESS_PROCESS_H
#define PTERA_BACKEND_JIT_PROCESS_PROCESS_H

#include <sys/syscall.h>
#include <unistd.h>

#include "backend/jit/object/object.h"
#include "backend/native.h"

enum { JIT_SOCKET = 3 }; /* in the compiler process */

/* What goes through the socket, each with `bytes` bytes behind it: both ends are of one build. */
struct jit_question {
    uint64_t bytes, memory_bytes; /* the snapshot's; struct pt_native_limits */
    uint32_t what;                /* enum pt_native_print */
};
struct jit_answer {
    uint64_t bytes;           /* the object's or text's; 0 where there is none */
    struct jit_object object; /* but for `bytes` and `size` */
    struct pt_native_result result;
};

#define JIT_PROGRAM "ptera-compiler" /* beside libptera-jit.so */
#define JIT_NICE "nice"              /* its last argument: pt_native_limits.is_nice */

/* A descriptor of a process, which no other can be taken for when it has ended; -1: it is gone, or
 * the system has none. */
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
