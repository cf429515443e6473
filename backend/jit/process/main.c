/* The program of a compiler process: main LIBRARY HOST, where LIBRARY is libptera-jit.so and HOST a
 * process id, with its socket open. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/jit/process/process.h"
#include "backend/native.h"

int main(int argc, char **argv)
{
    const struct pt_jit *(*get)(void);
    if (argc != 3) {
        fprintf(stderr, JIT_PROGRAM " is started by libptera-jit.so\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *entry = library ? dlsym(library, "ptera_jit") : NULL;
    if (!entry)
        return 1;
    memcpy(&get, &entry, sizeof get);
    get()->serve(JIT_SOCKET, atoi(argv[2]));
    _exit(0);
}
