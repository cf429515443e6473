/* Compiled kernels are kept on disk: found again by another engine, not when anything they depend
 * on differs, never trusted when they are not whole, of another kernel, or others may write to
 * them; and nothing that is wrong with the folder is an error. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/api/support.h"

#define COUNT(n)                                            \
    HEADER                                                  \
    ".visible .entry count(.param .u64 to)\n{\n"            \
    "    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [to];\n" \
    "    red.global.add.u32 [%rd1], " n ";\n    ret;\n}\n"

static char folder[] = "/tmp/ptera-cache-XXXXXX";

/* Of files: a full disk, after so many bytes. */
static long room = -1;

__attribute__((visibility("default"))) ssize_t write(int fd, const void *from, size_t n)
{
    if (room < 0 || fd <= STDERR_FILENO)
        return syscall(SYS_write, fd, from, n);
    if (!room) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t put = syscall(SYS_write, fd, from, n < (size_t)room ? n : (size_t)room);
    room -= put > 0 ? put : 0;
    return put;
}

static char logged[1024];

static void take_log(void *ud, ptera_severity severity, const char *line)
{
    (void)ud;
    snprintf(logged, sizeof logged, "%d %s", severity, line);
}

/* Compiles and runs in a new engine: true if it was native and right. */
static int runs(const char *text, unsigned threads, unsigned want)
{
    ptera_options options;
    ptera_engine *engine = NULL;
    ptera_options_init(&options);
    options.threads = 1;
    options.log = take_log;
    CHECK_INT(ptera_engine_create(&options, &engine), PTERA_OK);
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

/* In a process of its own, which looks for the folder anew: what `check` says is 0. */
static void check_apart(int (*check)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(check());
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

static int runs_there(void)
{
    return !runs(COUNT("5"), 32, 5 * 32);
}

static void check_folder(const char *path)
{
    setenv("PTERA_CACHE", path, 1);
    check_apart(runs_there);
    setenv("PTERA_CACHE", folder, 1);
}

/* The folder by CUDA's variables: `files` are in it afterwards. */
static void check_variable(const char *name, const char *value, int files)
{
    char last[4096];
    setenv("CUDA_CACHE_PATH", folder, 1);
    unsetenv("PTERA_CACHE");
    setenv(name, value, 1);
    check_apart(runs_there);
    CHECK_INT(list(last, sizeof last), files);
    unsetenv(name);
    unsetenv("CUDA_CACHE_PATH");
    setenv("PTERA_CACHE", folder, 1);
}

/* ---- of another kernel ----------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 20];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_TRUNC | O_CREAT, 0600);
    ssize_t n = read(in, bytes, sizeof bytes);
    CHECK(n > 0 && write(out, bytes, (size_t)n) == n);
    close(in);
    close(out);
}

/* Kernel 1's object under the name of kernel 2's: kernel 2 is compiled again. `first` is the name
 * of the former, the only file. */
static void check_swap(const char *first)
{
    char kept[128], second[4096];
    snprintf(kept, sizeof kept, "%s.kept", folder);
    CHECK_INT(rename(first, kept), 0);
    CHECK(runs(COUNT("2"), 32, 64));
    CHECK_INT(list(second, sizeof second), 1);
    copy_file(kept, second);
    CHECK(runs(COUNT("2"), 32, 64));
    CHECK_INT(unlink(second), 0);
    CHECK_INT(rename(kept, first), 0);
}

/* ---- things that are no files of this user's alone ------------------------------------------- */

static mode_t mode_of(const char *name)
{
    struct stat st;
    CHECK_INT(lstat(name, &st), 0);
    return st.st_mode;
}

/* `name` is something else: the kernel runs, and afterwards a good entry is there, and nothing
 * more. */
static void check_replaced(const char *name)
{
    char found[4096];
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK(S_ISREG(mode_of(name)) && !(mode_of(name) & 022));
    CHECK_INT(list(found, sizeof found), 1);
    CHECK_TEXT(found, name);
}

static void check_odd(const char *name)
{
    char kept[128], inside[4096 + 8], found[4096];
    snprintf(kept, sizeof kept, "%s.kept", folder);
    CHECK_INT(rename(name, kept), 0);
    CHECK_INT(mkfifo(name, 0600), 0);
    check_replaced(name);
    CHECK(unlink(name) == 0 && symlink(kept, name) == 0);
    check_replaced(name);
    CHECK(unlink(name) == 0 && symlink("/dev/zero", name) == 0);
    check_replaced(name);
    CHECK(S_ISREG(mode_of(kept)));
    CHECK_INT(unlink(kept), 0);
    CHECK_INT(chmod(name, 0622), 0);
    check_replaced(name);
    CHECK(unlink(name) == 0 && mkdir(name, 0700) == 0);
    snprintf(inside, sizeof inside, "%s/file", name);
    close(open(inside, O_CREAT | O_WRONLY, 0600));
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK_INT(list(found, sizeof found), 1); /* the folder, and no part of an object */
    CHECK(unlink(inside) == 0 && rmdir(name) == 0);
    check_replaced(name);
    if (geteuid() == 0) {
        CHECK_INT(chown(name, 1, 1), 0);
        check_replaced(name);
    }
}

/* ---- a folder of others ---------------------------------------------------------------------- */

static int is_refused(const char *why)
{
    char found[4096];
    ptera_engine *engine = new_engine(1);
    ptera_info info = {.size = sizeof info};
    CHECK_INT(ptera_engine_info(engine, &info), PTERA_OK);
    CHECK(!info.cache);
    CHECK_HAS(info.cache_error, why);
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK_HAS(logged, "1 compiled kernels are not kept in ");
    CHECK_HAS(logged, why);
    CHECK_INT(list(found, sizeof found), 0);
    ptera_engine_destroy(engine);
    return check_failed != 0;
}

static int refuses_writable(void)
{
    return is_refused(": other users may write to it");
}

static int refuses_others(void)
{
    return is_refused(": it belongs to another user");
}

static void check_owner(void)
{
    CHECK_INT(chmod(folder, 0770), 0);
    check_apart(refuses_writable);
    CHECK_INT(chmod(folder, 01777), 0);
    check_apart(refuses_writable);
    CHECK_INT(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        CHECK_INT(chown(folder, 1, 1), 0);
        check_apart(refuses_others);
        CHECK_INT(chown(folder, 0, 0), 0);
    }
}

/* While the process runs: neither read nor written any more. `name` is the only file. */
static void check_becomes_writable(const char *name)
{
    char found[4096];
    CHECK_INT(chmod(folder, 0777), 0);
    struct timespec before = time_of(name);
    CHECK(runs(COUNT("1"), 32, 32));
    CHECK(runs(COUNT("3"), 32, 96));
    CHECK_INT(list(found, sizeof found), 1);
    CHECK(before.tv_sec == time_of(name).tv_sec && before.tv_nsec == time_of(name).tv_nsec);
    CHECK_INT(chmod(folder, 0700), 0);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* A file under a name as the cache gives them, so many seconds old. */
static void put_file(char digit, const char *end, off_t bytes, time_t age)
{
    char name[4096];
    int n = snprintf(name, sizeof name, "%s/", folder);
    memset(name + n, digit, 64);
    snprintf(name + n + 64, sizeof name - (size_t)n - 64, ".obj%s", end);
    const struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0 && futimens(fd, times) == 0);
    close(fd);
}

static int has_file(char digit, const char *end)
{
    char name[4096];
    int n = snprintf(name, sizeof name, "%s/", folder);
    memset(name + n, digit, 64);
    snprintf(name + n + 64, sizeof name - (size_t)n - 64, ".obj%s", end);
    return access(name, F_OK) == 0;
}

static void empty_folder(void)
{
    char name[4096];
    while (list(name, sizeof name))
        CHECK_INT(remove(name), 0);
}

/* A process trims at its first write. */
static void check_trim(void)
{
    char other[128];
    snprintf(other, sizeof other, "%s/other.obj", folder);
    put_file('0', ".abcdef", 1, 7200);
    put_file('1', ".12345678", 1, 60);
    check_apart(runs_there);
    CHECK(!has_file('0', ".abcdef") && has_file('1', ".12345678"));
    empty_folder();
    put_file('2', "", 100 << 20, 300);
    put_file('3', ".abcdef", 100 << 20, 200);
    put_file('4', "", 100 << 20, 100);
    put_file('5', "", 1, 1000);
    int fd = open(other, O_CREAT | O_WRONLY, 0600); /* none of the cache's */
    CHECK(fd >= 0 && ftruncate(fd, 1 << 30) == 0);
    close(fd);
    snprintf(other, sizeof other, "%s/%064d.obj", folder, 6);
    CHECK_INT(mkfifo(other, 0600), 0);
    snprintf(other, sizeof other, "%s/%064d.obj", folder, 7);
    CHECK_INT(mkdir(other, 0700), 0);
    check_apart(runs_there);
    CHECK(!has_file('5', "") && !has_file('2', "") && !has_file('3', ".abcdef") &&
          has_file('4', ""));
    snprintf(other, sizeof other, "%s/other.obj", folder);
    CHECK_INT(access(other, F_OK), 0);
    empty_folder();
}

static int runs_with_small_files(void)
{
    const struct rlimit least = {512, 512};
    return setrlimit(RLIMIT_FSIZE, &least) || runs_there();
}

/* The kernel runs, and nothing is left. */
static void check_no_room(void)
{
    char name[4096];
    const long rooms[] = {0, 20, 100, 2000};
    check_apart(runs_with_small_files);
    CHECK_INT(list(name, sizeof name), 0);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        room = rooms[i];
        CHECK(runs(COUNT("5"), 32, 5 * 32));
        CHECK_INT(room, 0);
        CHECK_INT(list(name, sizeof name), 0);
    }
    room = -1;
    CHECK_INT(chmod(folder, 0500), 0);
    CHECK(runs(COUNT("5"), 32, 5 * 32));
    CHECK_INT(chmod(folder, 0700), 0);
    empty_folder();
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
    check_variable("CUDA_CACHE_DISABLE", "1", 0);
    check_variable("CUDA_CACHE_MAXSIZE", "0", 0);
    check_variable("PTERA_CACHE", "", 0);
    check_variable("CUDA_CACHE_DISABLE", "0", 1);
    empty_folder();
    check_owner();
    check_trim();
    check_no_room();
    check_hits(name, sizeof name);
    check_damage(name);
    check_swap(name);
    check_odd(name);
    check_becomes_writable(name);
    CHECK(runs(COUNT("2"), 32, 64)); /* another immediate */
    CHECK_INT(list(name, sizeof name), 2);
    CHECK(runs(COUNT("1"), 64, 64)); /* another shape */
    CHECK_INT(list(name, sizeof name), 3);
    CHECK(runs(COUNT("1") "// a comment\n", 32, 32));
    CHECK_INT(list(name, sizeof name), 3);
    empty_folder();
    rmdir(folder);
    return CHECK_DONE("cache");
}
