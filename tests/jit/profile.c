/* Profiles: what was hot in one run is there in the next before it is launched; whatever becomes of
 * the file is no error and changes nothing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/api/support.h"

enum { CTAS = 64, THREADS = 32, ROUNDS = 2000, RECORD_BYTES = 40 };

static const char text[] =
    HEADER ".visible .entry hot(.param .u64 to)\n{\n"
           "    .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p;\n"
           "    ld.param.u64 %rd1, [to];\n    mov.u32 %r1, 0;\n"
           "L:  add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p, %r1, 20000;\n    @%p bra L;\n"
           "    red.global.add.u32 [%rd1], 1;\n    ret;\n}\n";

static char folder[] = "/tmp/ptera-profile-XXXXXX", file[512];
static char logged[1024];

static void take_log(void *ud, ptera_severity severity, const char *line)
{
    (void)ud;
    (void)severity;
    snprintf(logged, sizeof logged, "%s", line);
}

struct host {
    ptera_engine *engine;
    ptera_module *module;
    uint32_t *to;
    unsigned sum;
};

static struct host new_host(void)
{
    struct host h = {0};
    ptera_options options;
    ptera_options_init(&options);
    options.threads = 2;
    options.log = take_log;
    logged[0] = 0;
    CHECK_INT(ptera_engine_create(&options, &h.engine), PTERA_OK);
    h.module = load(h.engine, text);
    h.to = new_buffer(h.engine, sizeof *h.to);
    return h;
}

static ptera_kernel_status status_of(const struct host *h)
{
    ptera_kernel_status status = {.size = sizeof status};
    CHECK_INT(ptera_kernel_info(kernel_of(h->module, "hot"), &status), PTERA_OK);
    return status;
}

static void launch(struct host *h, unsigned ctas)
{
    ptera_launch launch;
    ptera_launch_init(&launch);
    launch.backend = PTERA_BACKEND_AUTO;
    launch.grid[0] = ctas;
    launch.block[0] = THREADS;
    launch.parameters = (const void *[]){&h->to};
    launch.n_parameters = 1;
    CHECK_INT(ptera_kernel_launch(kernel_of(h->module, "hot"), &launch), PTERA_OK);
    h->sum += ctas * THREADS;
    CHECK_INT(*h->to, h->sum);
}

/* Launches until one is native: interpreted at first, in the middle of one natively. */
static void heat(struct host *h)
{
    for (int i = 0; i < ROUNDS && !status_of(h).native_launches; i++)
        launch(h, CTAS);
    CHECK(status_of(h).native_launches > 0);
}

/* The native versions that come by themselves. */
static unsigned expect(const struct host *h, unsigned ms)
{
    for (unsigned i = 0; i < ms && !status_of(h).versions; i++)
        usleep(1000);
    return status_of(h).versions;
}

static bool find_file(const char *suffix)
{
    bool is_found = false;
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (strstr(d->d_name, suffix)) {
            snprintf(file, sizeof file, "%s/%s", folder, d->d_name);
            is_found = true;
        }
    closedir(dir);
    return is_found;
}

static off_t size_of_file(void)
{
    struct stat st;
    CHECK_INT(stat(file, &st), 0);
    return st.st_size;
}

static void check_first(void)
{
    struct host h = new_host();
    CHECK_INT(expect(&h, 1), 0);
    CHECK(!*logged);
    heat(&h);
    ptera_engine_destroy(h.engine);
    CHECK(find_file(".prof"));
    CHECK_INT(size_of_file(), RECORD_BYTES);
}

/* Before its first launch, which has the whole grid at once. */
static void check_second(void)
{
    struct host h = new_host();
    CHECK_HAS(logged, "1 kernels were hot in an earlier run");
    CHECK_INT(expect(&h, 10000), 1);
    launch(&h, 1);
    CHECK_INT(status_of(&h).native_launches, 1);
    ptera_engine_destroy(h.engine);
    CHECK_INT(size_of_file(), RECORD_BYTES); /* it is known */
}

/* What the last run did not finish is begun at once. */
static void check_unfinished(void)
{
    CHECK(find_file(".obj"));
    CHECK_INT(unlink(file), 0);
    struct host h = new_host();
    CHECK_INT(expect(&h, 20000), 1);
    ptera_engine_destroy(h.engine);
    CHECK(find_file(".obj") && find_file(".prof"));
}

static void check_unload(void)
{
    for (int i = 0; i < 20; i++) {
        struct host h = new_host();
        usleep((useconds_t)i * 200);
        ptera_module_unload(h.module);
        ptera_engine_destroy(h.engine);
    }
}

static void write_file(const void *bytes, size_t n)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

/* A file that nothing is known from. */
static void check_ignored(void)
{
    struct host h = new_host();
    CHECK(!*logged);
    CHECK_INT(expect(&h, 20), 0);
    launch(&h, 1);
    ptera_engine_destroy(h.engine);
}

static void check_damaged(void)
{
    uint8_t record[RECORD_BYTES];
    int fd = open(file, O_RDONLY);
    CHECK(fd >= 0 && read(fd, record, sizeof record) == sizeof record);
    close(fd);
    for (size_t i = 0; i < sizeof record; i += 4) {
        record[i] ^= 0x10;
        write_file(record, sizeof record);
        record[i] ^= 0x10;
        check_ignored();
    }
    write_file(record, sizeof record - 1);
    check_ignored();
    struct host h = new_host(); /* what is cut off is cut away */
    heat(&h);
    ptera_engine_destroy(h.engine);
    CHECK_INT(size_of_file(), RECORD_BYTES);
    check_second();
}

static void check_strange(void)
{
    CHECK_INT(unlink(file), 0);
    CHECK_INT(mkdir(file, 0700), 0);
    check_ignored();
    CHECK_INT(rmdir(file), 0);
    CHECK_INT(mkfifo(file, 0600), 0);
    check_ignored();
    CHECK_INT(unlink(file), 0);
    CHECK_INT(symlink("/dev/zero", file), 0);
    check_ignored();
    CHECK_INT(unlink(file), 0);
    write_file("", 0);
    CHECK_INT(chmod(file, 0666), 0); /* others may write to it */
    check_ignored();
    CHECK_INT(unlink(file), 0);
}

/* A file that may not grow: no signal. */
static void check_limit(void)
{
    struct rlimit before, none;
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    struct host h = new_host();
    heat(&h);
    ptera_engine_destroy(h.engine);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK(find_file(".prof"));
    CHECK_INT(size_of_file(), 0);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    setenv("PTERA_CACHE", folder, 1);
    unsetenv("PTERA_ENGINE");
    check_first();
    check_second();
    check_unfinished();
    check_unload();
    check_damaged();
    check_strange();
    check_limit();
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
    return CHECK_DONE("profile");
}
