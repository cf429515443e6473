/* Telling of launches and copies, to who wants to know: lines of the log, and the table of `ptera
 * exec --summary`. */
#include "runtime/cuda/account.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cuda/lock.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/summary.h"
#include "runtime/deadline.h"

static struct pt_summary *summary; /* NULL: nobody wants one */

__attribute__((constructor)) static void open_summary(void)
{
    const char *path = getenv("PTERA_SUMMARY");
    struct stat st;
    int fd = path && *path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size == (off_t)sizeof *summary) {
        void *p = mmap(NULL, sizeof *summary, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        summary = p == MAP_FAILED ? NULL : p;
    }
    close(fd);
}

__attribute__((destructor)) static void close_summary(void)
{
    if (summary)
        munmap(summary, sizeof *summary);
    summary = NULL;
}

bool pt_cu_account_is_on(void)
{
    return summary || pt_cu_log_is_on(PT_CU_LOG_LAUNCH);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *name) /* FNV-1a; never 0 */
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

static struct pt_summary_kernel *row_of(const char *name)
{
    const uint64_t hash = hash_of(name), most = PT_SUMMARY_KERNELS - 1;
    for (uint64_t i = 0; i < most; i++) {
        struct pt_summary_kernel *k = &summary->kernels[(hash + i) % most];
        uint_fast64_t nobody = 0;
        if (atomic_compare_exchange_strong(&k->hash, &nobody, hash)) {
            snprintf(k->name, sizeof k->name, "%s", name);
            return k;
        }
        if (nobody == hash)
            return k;
    }
    return &summary->kernels[most];
}

static void note_least(atomic_uint_fast64_t *least, uint64_t value)
{
    uint_fast64_t now = atomic_load(least);
    while ((!now || value < now) && !atomic_compare_exchange_weak(least, &now, value))
        continue;
}

static void note_most(atomic_uint_fast64_t *most, uint64_t value)
{
    uint_fast64_t now = atomic_load(most);
    while (value > now && !atomic_compare_exchange_weak(most, &now, value))
        continue;
}

static void add_launch(struct pt_summary_kernel *k, const struct pt_launched *l,
                       ptera_result result)
{
    uint64_t ns = l->run_ns ? l->run_ns : 1;
    atomic_fetch_add(&k->ended, 1);
    atomic_fetch_add(&k->failed, result != PTERA_OK);
    atomic_fetch_add(&k->native, l->was_native && !l->was_interpreted);
    atomic_fetch_add(&k->mixed, l->was_native && l->was_interpreted);
    atomic_fetch_add(&k->ns, ns);
    atomic_fetch_add(&k->compile_ns, l->compile_ns);
    note_least(&k->ns_least, ns);
    note_most(&k->ns_most, ns);
}

/* "launch: kernel 'add', grid 4x1x1, …" */
static int describe(const struct pt_job *job, const char *name, char *text, size_t size)
{
    const struct pt_launch *l = &job->launch;
    return snprintf(text, size,
                    "kernel '%s', grid %ux%ux%u, block %ux%ux%u, cluster %ux%ux%u, %u bytes of "
                    "dynamic shared memory",
                    name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                    l->cluster[0], l->cluster[1], l->cluster[2], l->shared_dynamic);
}

static void log_launch(const char *what, const struct pt_launched *l, ptera_result result)
{
    char compiled[48] = "";
    const char *engine = !l->was_native       ? "interpreted"
                         : l->was_interpreted ? "interpreted at first, then native"
                                              : "native";
    if (l->compile_ns)
        snprintf(compiled, sizeof compiled, ", compiled in %.3f ms", (double)l->compile_ns * 1e-6);
    pt_cu_log_print("launch: %s: %s%s%s%s%s, ran for %.3f ms%s", what, engine, *l->why ? " (" : "",
                    l->why, *l->why ? ")" : "", compiled, (double)l->run_ns * 1e-6,
                    result == PTERA_OK ? "" : ", failed");
}

ptera_result pt_cu_account_launch(struct pt_job *job, struct pt_launched *told)
{
    char what[640];
    struct pt_launched launched = {0};
    const char *name = ptera_kernel_name(job->kernel);
    struct pt_summary_kernel *row = summary ? row_of(name) : NULL;
    describe(job, name, what, sizeof what);
    if (row)
        atomic_fetch_add(&row->begun, 1);
    ptera_result r = pt_launch_run(job, &launched);
    if (told)
        *told = launched;
    if (row)
        add_launch(row, &launched, r);
    if (pt_cu_log_is_on(PT_CU_LOG_LAUNCH))
        log_launch(what, &launched, r);
    return r;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static enum pt_summary_move kind_of(const struct pt_cu_copy *copy)
{
    pt_cu_lock_take();
    bool to = pt_cu_range_is_device(copy->to), from = pt_cu_range_is_device(copy->from);
    pt_cu_lock_release();
    return to     ? (from ? PT_SUMMARY_ON_DEVICE : PT_SUMMARY_TO_DEVICE)
           : from ? PT_SUMMARY_FROM_DEVICE
                  : PT_SUMMARY_ON_HOST;
}

void pt_cu_account_move(const struct pt_cu_op *op, void (*move)(const struct pt_cu_op *op))
{
    if (!summary) {
        move(op);
        return;
    }
    const struct pt_cu_copy *c = &op->copy;
    const struct pt_cu_set *s = &op->set;
    bool is_copy = op->work == PT_CU_COPY;
    enum pt_summary_move kind = is_copy ? kind_of(c) : PT_SUMMARY_SET;
    uint64_t bytes = is_copy ? (uint64_t)c->width * c->height * c->depth
                             : (uint64_t)s->width * s->element_bytes * s->height;
    uint64_t begun = pt_now_ns();
    move(op);
    atomic_fetch_add(&summary->moves[kind].ns, pt_now_ns() - begun);
    atomic_fetch_add(&summary->moves[kind].count, 1);
    atomic_fetch_add(&summary->moves[kind].bytes, bytes);
}
