/* The compiler process. */
#ifndef PTERA_BACKEND_JIT_PROCESS_SERVER_H
#define PTERA_BACKEND_JIT_PROCESS_SERVER_H

#include <sys/syscall.h>
#include <unistd.h>

/* Pt_jit.serve. */
void jit_server_run(int socket, int host);

#endif
