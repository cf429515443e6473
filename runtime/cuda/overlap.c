/* Operations that may overlap. What is before what is kept as sets of operations' numbers: a
 * command has what it waited for knows, and the host what it waited for. All of the host's threads
 * are one here, since how they order each other is not seen: races go unseen so, and none is made
 * up. What kernels pass on to each other by releases, of each other or of cuStreamWriteValue, is
 * order as well.
 *
 * Two operations are compared when nothing runs any more that could order them.
 */
#include "runtime/cuda/overlap.h"

#include <stdio.h>
#include <string.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/host_store.h"
#include "runtime/cuda/log.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/op_footprint.h"
#include "runtime/cuda/range.h"
#include "runtime/engine.h"
#include "runtime/finding.h"
#include "runtime/footprint.h"
#include "runtime/history.h"
#include "runtime/job.h"
#include "runtime/mem.h"

enum { LATEST = PT_CU_BEFORE_LATEST, TOTAL_MOST = 256 << 20 /* bytes of all runs */ };

/* An operation that ran. */
struct record {
    uint64_t number; /* 0: none */
    uint64_t asked;  /* in the order in which the host asked for it */
    CUcontext ctx;
    ptera_kernel *kernel;   /* NULL: no kernel */
    struct pt_launch shape; /* its grid, block and cluster */
    const char *what;
    struct pt_history_call call;
    struct pt_cu_before before;
    struct pt_footprint footprint;
    bool is_done, is_compared;
    bool is_free; /* of memory that is gone then */
};

static struct record records[LATEST]; /* by number */
static uint64_t last_number, last_asked;
static struct pt_cu_before host;
static size_t n_open, n_running; /* commands that are not over; those that run */
static bool is_watched;
/* What the host stores is looked at since this was asked for, and, once it is over, its record. */
static uint64_t stored_during;
static struct record *stored_by;

void pt_cu_overlap_watch(void)
{
    is_watched = true;
}

bool pt_cu_overlap_is_watched(void)
{
    return is_watched;
}

/* Once: what comes then is not compared with all. */
static void say_forgotten(const char *why)
{
    static bool is_said;
    if (!is_said)
        pt_cu_log_print("ptera check race: %s: not all operations of streams are compared", why);
    is_said = true;
}

/* ---- records --------------------------------------------------------------------------------- */

static void drop(struct record *r)
{
    if (r == stored_by)
        pt_cu_host_store_drop();
    stored_by = r == stored_by ? NULL : stored_by;
    if (r->footprint.allocator)
        pt_footprint_free(&r->footprint);
    *r = (struct record){0};
}

/* What all that is to come knows needs not be remembered. */
static void drop_known(void)
{
    for (size_t i = 0; is_watched && !n_open && i < LATEST; i++)
        if (records[i].number && pt_cu_before_has(&host, records[i].number))
            drop(&records[i]);
}

/* Those under way are added to meanwhile. */
static uint64_t bytes_done(void)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < LATEST; i++)
        bytes += records[i].is_done ? records[i].footprint.bytes : 0;
    return bytes;
}

/* The oldest, where all of them take too much. */
static void drop_oldest(void)
{
    _Static_assert(LATEST == 1024 && TOTAL_MOST == 256 << 20, "as is said, and in docs/findings");
    for (uint64_t n = last_number > LATEST ? last_number - LATEST : 0;
         n < last_number && bytes_done() > TOTAL_MOST; n++)
        if (records[n % LATEST].is_done) {
            say_forgotten("what they accessed takes more than 256 MiB");
            drop(&records[n % LATEST]);
        }
}

static void add_kernel(struct record *r, struct pt_job *job)
{
    const struct pt_launch *l = &job->launch;
    r->kernel = job->kernel;
    r->shape.n_warps = l->n_warps;
    memcpy(r->shape.grid, l->grid, sizeof l->grid);
    memcpy(r->shape.block, l->block, sizeof l->block);
    memcpy(r->shape.cluster, l->cluster, sizeof l->cluster);
    job->footprint = &r->footprint;
}

/* What it accesses, but for what a kernel will. False: nothing. */
/* What the record says of it. NULL: there is nothing to say. */
static const char *name_of(const struct pt_cu_op *op)
{
    switch (op->work) {
    case PT_CU_COPY:
        return "the copy";
    case PT_CU_SET:
        return "the memset";
    case PT_CU_FREE_POOLED:
        return "the free";
    case PT_CU_WAIT_VALUE:
    case PT_CU_WRITE_VALUE:
    case PT_CU_BATCH:
        return "the stream";
    default:
        return NULL;
    }
}

static bool fill(struct record *r, struct pt_cu_op *op)
{
    if (op->work == PT_CU_KERNEL_LAUNCH) {
        add_kernel(r, op->launch.job);
        return true;
    }
    r->what = name_of(op);
    r->is_free = op->work == PT_CU_FREE_POOLED;
    if (r->what)
        pt_cu_op_footprint_add(op, &r->footprint);
    return r->what != NULL;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Memory that the program has: no thread's stack, no kernel's heap. */
static bool is_of_program(const struct record *r, uint64_t address)
{
    struct pt_mem_record m;
    return pt_cu_range_find(address) || (pt_mem_near(&r->ctx->engine->mem, address, &m) &&
                                         m.kind == PT_MEM_GLOBALS && address - m.address < m.bytes);
}

struct pair {
    const struct record *later, *earlier;
};

static void fill_party(struct pt_party *p, const struct record *r,
                       const struct pt_footprint_run *run, uint64_t address, char place[128])
{
    *p = (struct pt_party){.who = r->kernel ? PT_PARTY_THREAD : PT_PARTY_HOST,
                           .func = run->func,
                           .insn = run->insn,
                           .use = run->use,
                           .has_address = true,
                           .address = address};
    if (r->kernel) {
        uint64_t thread = run->thread + (run->per ? (address - run->first) / run->per : 0);
        pt_party_number(p, &r->shape, (uint32_t)(thread / PT_WARP_SIZE), thread % PT_WARP_SIZE);
        return;
    }
    snprintf(place, 128, "%s (%s)", r->what, r->call.name);
    p->place = place;
}

static void tell(const struct pair *pair, const struct pt_footprint_run *x,
                 const struct pt_footprint_run *y)
{
    const struct record *a = pair->later, *b = pair->earlier;
    uint64_t address = x->first > y->first ? x->first : y->first;
    char places[2][128], calls[2][1024], detail[2304];
    struct pt_finding f = {.kind = PT_FINDING_RACE_STREAM, .detail = detail};
    fill_party(&f.by, a, x, address, places[0]);
    fill_party(&f.other, b, y, address, places[1]);
    pt_history_describe(&a->call, "the first was asked for", calls[0], sizeof calls[0]);
    pt_history_describe(&b->call, "the second", calls[1], sizeof calls[1]);
    snprintf(detail, sizeof detail, "no stream, event or wait orders the two operations: %s, %s",
             calls[0], calls[1]);
    pt_finding_add_kernels(a->ctx->engine, &f, (ptera_kernel *const[]){a->kernel, b->kernel});
}

static bool meet(void *ud, const struct pt_footprint_run *x, const struct pt_footprint_run *y)
{
    const struct pair *pair = ud;
    const struct record *a = pair->later, *b = pair->earlier;
    uint64_t address = x->first > y->first ? x->first : y->first;
    enum pt_scope least =
        a->ctx->device == b->ctx->device && a->kernel && b->kernel ? PT_SCOPE_GPU : PT_SCOPE_SYS;
    bool is_conflict = (x->use | y->use) & PT_USE_WRITE && (x->scope < least || y->scope < least);
    if (!is_conflict || (!a->is_free && !b->is_free && !is_of_program(a, address)))
        return false;
    tell(pair, x, y);
    return true;
}

/* ---- the host's stores ----------------------------------------------------------------------- */

static void tell_stored(void *ud, const struct pt_footprint_run *run, uint64_t address)
{
    const struct record *r = ud;
    char call[1024], detail[1280];
    struct pt_finding f = {.kind = PT_FINDING_RACE_HOST, .detail = detail};
    fill_party(&f.by, r, run, address, NULL);
    f.other = (struct pt_party){PT_PARTY_HOST, .place = "a store of the host", .use = PT_USE_WRITE};
    pt_history_describe(&r->call, "the kernel was asked for", call, sizeof call);
    snprintf(detail, sizeof detail, "the host has not waited for the kernel before: %s", call);
    pt_finding_add_kernels(r->ctx->engine, &f, (ptera_kernel *const[2]){r->kernel});
}

/* The host goes on to what may be ordered behind the kernel. */
static void end_host_stores(void)
{
    pt_cu_host_store_end();
    if (stored_by)
        pt_cu_host_store_tell(tell_stored, stored_by);
}

static void over_host_stores(const struct pt_cu_command *command, struct record *r)
{
    if (command->asked != stored_during || command->failed != CUDA_SUCCESS)
        return;
    stored_by = r;
    pt_cu_host_store_over(&r->footprint);
    pt_cu_host_store_tell(tell_stored, r);
}

static void watch_host_stores(const struct pt_cu_command *command)
{
    if (n_open || command->op.work != PT_CU_KERNEL_LAUNCH)
        return;
    stored_during = command->asked;
    stored_by = NULL;
    pt_cu_host_store_watch();
}

static bool is_ordered(const struct record *a, const struct record *b)
{
    return pt_cu_before_has(&a->before, b->number) || pt_cu_before_has(&b->before, a->number);
}

/* The pair is of operations that are over and in no order. */
static bool is_pair(const struct record *a, const struct record *b)
{
    return a != b && b->number && b->is_done && !is_ordered(a, b);
}

/* Adds what releases of an operation, or acquires, order. */
static bool pass(struct record *r)
{
    bool has_passed = false;
    for (size_t i = 0; i < LATEST; i++) {
        struct record *s = &records[i];
        bool comes = is_pair(r, s) && pt_footprint_passes(&s->footprint, &r->footprint);
        bool goes = is_pair(r, s) && pt_footprint_passes(&r->footprint, &s->footprint);
        if (comes)
            pt_cu_before_add(&r->before, s->number);
        if (goes)
            pt_cu_before_add(&s->before, r->number);
        has_passed |= comes || goes;
    }
    return has_passed;
}

/* Adds what comes before what is known to be before. */
static bool close_record(struct record *r)
{
    bool is_new = false;
    for (size_t i = 0; i < LATEST; i++)
        if (records[i].number && r != &records[i] &&
            pt_cu_before_has(&r->before, records[i].number))
            is_new |= pt_cu_before_join(&r->before, &records[i].before);
    return is_new;
}

/* `all`: of those that were compared before as well. */
static void close_order(bool all)
{
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (size_t i = 0; i < LATEST; i++)
            if (records[i].number && (all || !records[i].is_compared))
                is_new |= close_record(&records[i]);
    }
}

static void compare_with_all(const struct record *r)
{
    for (size_t i = 0; i < LATEST; i++) {
        const struct record *s = &records[i];
        bool is_later = r->asked > s->asked;
        struct pair pair = {is_later ? r : s, is_later ? s : r};
        if (is_pair(r, s) && (s->is_compared || is_later))
            pt_footprint_meet(&pair.later->footprint, &pair.earlier->footprint, meet, &pair);
    }
}

static void compare_new(void)
{
    bool has_passed = false;
    for (size_t i = 0; i < LATEST; i++)
        if (records[i].is_done && !records[i].is_compared)
            has_passed |= pass(&records[i]);
    close_order(has_passed);
    for (size_t i = 0; i < LATEST; i++)
        if (records[i].is_done && !records[i].is_compared)
            compare_with_all(&records[i]);
    for (size_t i = 0; i < LATEST; i++)
        records[i].is_compared = records[i].is_done;
}

/* ---- commands -------------------------------------------------------------------------------- */

void pt_cu_overlap_new(struct pt_cu_command *command)
{
    if (!is_watched)
        return;
    command->before = host;
    command->is_watched = true;
    command->asked = ++last_asked;
    pt_history_now(&command->call);
    end_host_stores();
    watch_host_stores(command);
    n_open++;
}

void pt_cu_overlap_after(struct pt_cu_command *command, const struct pt_cu_command *earlier)
{
    if (command->is_watched)
        pt_cu_before_join_over(&command->before, &earlier->before);
}

/* The oldest is forgotten: what comes behind any of the others comes behind it, or counts so. */
static void make_way(const struct record *oldest)
{
    bool is_known = !oldest->number || pt_cu_before_has(&host, oldest->number);
    for (size_t i = 0; !is_known && i < LATEST; i++)
        if (records[i].number > oldest->number &&
            !pt_cu_before_has(&records[i].before, oldest->number))
            say_forgotten("more than 1024 are under way that nothing orders");
}

static bool is_on_device(const void *address)
{
    const struct pt_cu_range *range = pt_cu_range_find((uintptr_t)address);
    return range && (range->memory == PT_CU_DEVICE || range->memory == PT_CU_POOLED);
}

/* Calls that wait for nothing, by their documentation, where only the device's memory is used. */
static bool is_async_in_truth(const struct pt_cu_op *op)
{
    if (op->work == PT_CU_SET)
        return is_on_device(op->set.to);
    return op->work == PT_CU_COPY && is_on_device(op->copy.to) && is_on_device(op->copy.from);
}

void pt_cu_overlap_begin(struct pt_cu_command *command)
{
    if (!command->is_watched)
        return;
    struct record *r = &records[(last_number + 1) % LATEST];
    n_running++;
    command->is_unwaited = is_async_in_truth(&command->op);
    make_way(r);
    if (r->number && !r->is_done) /* it runs since so many came */
        return;
    drop(r);
    r->footprint.allocator = &command->ctx->engine->allocator;
    r->ctx = command->ctx;
    r->asked = command->asked;
    r->call = command->call;
    if (!fill(r, &command->op))
        return;
    r->number = command->before.own = ++last_number;
    r->before = command->before;
}

void pt_cu_overlap_end(struct pt_cu_command *command)
{
    if (!command->is_watched)
        return;
    const struct pt_cu_op *op = &command->op;
    struct record *r = &records[command->before.own % LATEST];
    n_running--;
    n_open--;
    if (command->before.own && r->number == command->before.own) {
        pt_footprint_sort(&r->footprint);
        r->is_done = true;
        over_host_stores(command, r);
        if (r->footprint.is_partial)
            say_forgotten("there is no room for all that one of them accessed");
    }
    if (op->work == PT_CU_HOST_CALL || op->work == PT_CU_CALLBACK)
        pt_cu_before_join_over(&host, &command->before);
    if (!n_running)
        compare_new();
    drop_oldest();
    drop_known();
}

/* ---- the host -------------------------------------------------------------------------------- */

void pt_cu_overlap_waited(const struct pt_cu_command *command)
{
    if (!command->is_watched || command->is_unwaited)
        return;
    end_host_stores();
    pt_cu_before_join_over(&host, &command->before);
    drop_known();
}

void pt_cu_overlap_drained(CUcontext ctx)
{
    end_host_stores();
    for (size_t i = 0; is_watched && i < LATEST; i++)
        if (records[i].is_done && records[i].ctx == ctx) {
            pt_cu_before_join(&host, &records[i].before);
            pt_cu_before_add(&host, records[i].number);
        }
    drop_known();
}

void pt_cu_overlap_allocated(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; is_watched && i < LATEST; i++)
        if (records[i].is_done)
            pt_footprint_cut(&records[i].footprint, address, bytes);
}

void pt_cu_overlap_forget(CUcontext ctx, const ptera_module *module)
{
    end_host_stores();
    for (size_t i = 0; is_watched && i < LATEST; i++) {
        const ptera_kernel *kernel = records[i].kernel;
        if (records[i].is_done && records[i].ctx == ctx &&
            (!module || (kernel && kernel->module == module)))
            drop(&records[i]);
    }
}
