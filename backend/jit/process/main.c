/* The program of a compiler process: main LIBRARY HOST [nice], where LIBRARY is libptera-jit.so and
 * HOST a process id, with its socket open. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/jit/process/process.h"
#include "backend/native.h"

/* Behind all others: a session, which it has of its own, may count as one in the scheduler. */
static void be_nice(void)
{
    static const char least[] = "19";
    setpriority(PRIO_PROCESS, 0, 19);
    int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, least, sizeof least - 1);
    close(fd);
}

int main(int argc, char **argv)
{
    const struct pt_jit *(*get)(void);
    bool is_nice = argc == 4 && !strcmp(argv[3], JIT_NICE);
    if (argc != 3 && !is_nice) {
        fprintf(stderr, JIT_PROGRAM " is started by libptera-jit.so\n");
        return 2;
    }
    if (is_nice)
        be_nice();
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *entry = library ? dlsym(library, "ptera_jit") : NULL;
    if (!entry)
        return 1;
    memcpy(&get, &entry, sizeof get);
    get()->serve(JIT_SOCKET, atoi(argv[2]));
    _exit(0);
}
