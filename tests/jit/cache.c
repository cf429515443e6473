/* Compiled kernels are kept on disk: found again by another engine, not when anything they depend on differs, never trusted when
 * they are not whole; and nothing that is wrong with the folder is an error. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/support.h"

#define COUNT(n) \
    HEADER ".visible .entry count(.param .u64 to)\n{\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [to];\n" \
           "    red.global.add.u32 [%rd1], " n ";\n    ret;\n}\n"

static char folder[] = "/tmp/ptera-cache-XXXXXX";

/* Compiles and runs in a new engine: true if it was native and right. */
static int runs(const char *text, unsigned threads, unsigned want)
{
    ptera_engine *engine = new_engine(1);
    ptera_kernel *kernel = kernel_of(load(engine, text), "count");
    uint32_t *to = new_buffer(engine, sizeof *to);
    ptera_launch launch;
    ptera_kernel_status status = {.size = sizeof status};
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_JIT;
    launch.block[0] = threads;
    launch.parameters = (const void *[]){&to};
    launch.n_parameters = 1;
    int ok = ptera_kernel_launch(kernel, &launch) == PTERA_OK && *to == want &&
             ptera_kernel_info(kernel, &status) == PTERA_OK && status.native_launches == 1;
    ptera_engine_destroy(engine);
    return ok;
}

/* The number of files; the name of the last one. */
static int list(char *name, size_t size)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (d->d_name[0] == '.')
            continue;
        snprintf(name, size, "%s/%s", folder, d->d_name);
        n++;
    }
    closedir(dir);
    return n;
}

static struct timespec time_of(const char *name)
{
    struct stat st;
    CHECK_INT(stat(name, &st), 0);
    return st.st_mtim;
}

static void check_hits(char *name, size_t size)
{
    const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK_INT(list(name, size), 1);
    CHECK_INT(utimensat(AT_FDCWD, name, old, 0), 0);
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK(time_of(name).tv_sec != old[0].tv_sec); /* it was used */
    CHECK_INT(list(name, size), 1);
}

static void change(const char *name, off_t at)
{
    char byte = 0;
    int fd = open(name, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 0x10;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static off_t size_of(const char *name)
{
    struct stat st;
    CHECK_INT(stat(name, &st), 0);
    return st.st_size;
}

/* A byte that differs anywhere, or a missing end, and the kernel is compiled again. */
static void check_damage(const char *name)
{
    off_t size = size_of(name);
    const off_t places[] = {0, 9, 17, 30, 64, 200, size / 2, size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        change(name, places[i]);
        CHECK(runs(COUNT("1"), 32, 32));
        CHECK_INT(size_of(name), size);
    }
    CHECK_INT(truncate(name, size / 2), 0);
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK_INT(size_of(name), size);
    CHECK_INT(truncate(name, 0), 0);
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK_INT(size_of(name), size);
}

/* In a process of its own, which looks for the folder anew. */
static void check_folder(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("PTERA_CACHE", path, 1);
        _exit(!runs(COUNT("5"), 32, 5 * 32));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    char name[4096], file[64];
    CHECK(mkdtemp(folder) != NULL);
    setenv("PTERA_CACHE", folder, 1);
    check_folder("/proc/no/such/folder");
    check_folder("");
    check_folder("no-absolute-path");
    CHECK(access("no-absolute-path", F_OK) != 0);
    snprintf(file, sizeof file, "%s/file", folder);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    check_folder(file);
    unlink(file);
    check_hits(name, sizeof name);
    check_damage(name);
    CHECK(runs(COUNT("2"), 32, 64)); /* another immediate */
    CHECK_INT(list(name, sizeof name), 2);
    CHECK(runs(COUNT("1"), 64, 64)); /* another shape */
    CHECK_INT(list(name, sizeof name), 3);
    CHECK(runs(COUNT("1") "// a comment\n", 32, 32));
    CHECK_INT(list(name, sizeof name), 3);
    while (list(name, sizeof name))
        CHECK_INT(unlink(name), 0);
    rmdir(folder);
    return CHECK_DONE("cache");
}
