/* A set-uid program does not take its compiler from whoever runs it. Root alone can make one:
 * skipped for others, and where the folder of temporary files or the library's does not let it run.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/support.h"

enum { NOBODY = 65534, NOT_SECURE = 77, CANNOT_RUN = 127 };
static const char theirs[] = "/nowhere/theirs.so";

/* Exit status: whether the library tried to open theirs. */
static int run_inside(void)
{
    ptera_info info = {.size = sizeof info};
    if (!getauxval(AT_SECURE))
        return NOT_SECURE;
    ptera_engine *engine = new_engine(1);
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    CHECK(!info.jit_error || !strstr(info.jit_error, theirs));
    ptera_engine_destroy(engine);
    return check_failed != 0;
}

static bool copy_as_setuid(const char *path)
{
    struct stat st;
    int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
    bool ok = from >= 0 && to >= 0 && fstat(from, &st) == 0;
    while (ok && st.st_size > 0) {
        ssize_t n = sendfile(to, from, NULL, (size_t)st.st_size);
        ok = n > 0;
        st.st_size -= n;
    }
    ok = ok && fchmod(to, 04755) == 0;
    close(from);
    close(to);
    return ok;
}

static int run_as_nobody(const char *path)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("PTERA_JIT_PATH", theirs, 1);
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execl(path, path, "inside", NULL);
        _exit(CANNOT_RUN);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/ptera-setuid-XXXXXX", path[64];
    (void)argv;
    if (argc > 1)
        return run_inside();
    int status = NOT_SECURE;
    if (geteuid() == 0 && mkdtemp(folder)) {
        snprintf(path, sizeof path, "%s/program", folder);
        chmod(folder, 0755);
        if (copy_as_setuid(path))
            status = run_as_nobody(path);
        unlink(path);
        rmdir(folder);
    }
    bool is_skipped = status == NOT_SECURE || status == CANNOT_RUN;
    printf("setuid: %d passed, %d failed, %d skipped\n", status == 0, status != 0 && !is_skipped,
           is_skipped);
    return status != 0 && !is_skipped;
}
