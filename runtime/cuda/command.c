/* Work under way: commands that wait for each other, and the threads that run what waits for
 * nothing any more. Streams, events and graphs are all made of this. */
#include "runtime/cuda/command.h"

#include <stdlib.h>

#include "runtime/cuda/block.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/done.h"
#include "runtime/cuda/event_page.h"
#include "runtime/cuda/execute.h"
#include "runtime/cuda/listener.h"
#include "runtime/cuda/lock.h"
#include "runtime/cuda/op.h"
#include "runtime/cuda/range.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/thread.h"
#include "runtime/cuda/trace.h"
#include "runtime/cuda/track.h"
#include "runtime/cuda/trap.h"
#include "runtime/deadline.h"
#include "runtime/engine.h"
#include "runtime/job.h"
#include "runtime/observe.h"
#include "runtime/thread.h"

/* Kernels of different streams may wait for each other: so many run side by side at least (CUDA:
 * 128 on most devices). */
enum { RUNNERS_MAX = 256 };

static pthread_cond_t change =
    PTHREAD_COND_INITIALIZER; /* a command is done, or its caller's turn has come */
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER; /* something can run */
static struct pt_cu_command *ready;                      /* by priority */
static unsigned n_waiting, n_idle, n_runners;

/* ---- commands -------------------------------------------------------------------------------- */

/* What another context's memory is used by is that context's work, too: it is not freed before. A
 * kernel may use any, and fails where it is gone. */
static void count_owner(struct pt_cu_command *command, const struct pt_cu_range *range)
{
    if (!range || !range->ctx || range->ctx == command->ctx)
        return;
    for (unsigned i = 0; i < command->n_owners; i++)
        if (command->owners[i] == range->ctx)
            return;
    if (command->n_owners == sizeof command->owners / sizeof *command->owners)
        return; /* a batch of values in memory of many */
    command->owners[command->n_owners++] = range->ctx;
    range->ctx->pending++;
}

static void count_owners(struct pt_cu_command *command)
{
    const struct pt_cu_op *op = &command->op;
    unsigned n;
    const struct pt_cu_op *parts = pt_cu_op_parts(op, &n);
    switch (op->work) {
    case PT_CU_COPY:
        count_owner(command, pt_cu_range_find((uintptr_t)op->copy.from));
        count_owner(command, pt_cu_range_find((uintptr_t)op->copy.to));
        break;
    case PT_CU_SET:
        count_owner(command, pt_cu_range_find((uintptr_t)op->set.to));
        break;
    case PT_CU_WAIT_VALUE:
    case PT_CU_WRITE_VALUE:
    case PT_CU_BATCH:
        for (unsigned i = 0; i < n; i++)
            if (parts[i].work != PT_CU_EMPTY)
                count_owner(command, pt_cu_range_find((uintptr_t)parts[i].value.address));
        break;
    case PT_CU_FREE_POOLED:
        count_owner(command, op->free.range);
        break;
    default:
        break;
    }
}

struct pt_cu_command *pt_cu_command_new(CUcontext ctx, const struct pt_cu_op *op)
{
    struct pt_cu_command *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->ctx = ctx;
    c->op = *op;
    c->refs = 2; /* the caller's, and one until it is done */
    c->priority = op->work == PT_CU_KERNEL_LAUNCH ? op->launch.priority : 0;
    ctx->pending++;
    count_owners(c);
    pt_cu_overlap_new(c);
    if (pt_cu_trace_is_on() && op->work != PT_CU_EMPTY)
        c->arrow = pt_cu_trace_arrow();
    if (pt_cu_listener_is_on())
        c->correlation = pt_cu_listener_call();
    return c;
}

struct pt_cu_command *pt_cu_command_ref(struct pt_cu_command *command)
{
    command->refs++;
    return command;
}

void pt_cu_command_put(struct pt_cu_command *command)
{
    if (!command || --command->refs)
        return;
    pt_cu_track_put(command->track);
    free(command->dependents.of);
    free(command->early.of);
    free(command->primaries.of);
    free(command);
}

bool pt_cu_command_add(struct pt_cu_commands *list, struct pt_cu_command *command)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        void *more = realloc(list->of, cap * sizeof(struct pt_cu_command *));
        if (!more)
            return false;
        list->of = more;
        list->cap = cap;
    }
    list->of[list->n++] = command;
    return true;
}

bool pt_cu_command_after(struct pt_cu_command *command, struct pt_cu_command *earlier)
{
    if (earlier && earlier->is_done)
        pt_cu_overlap_after(command, earlier);
    if (!earlier || earlier->is_done)
        return true;
    if (!pt_cu_command_add(&earlier->dependents, command))
        return false;
    command->unmet++;
    return true;
}

void pt_cu_command_after_all(struct pt_cu_command *command, struct pt_cu_commands *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (!pt_cu_command_after(command, list->of[i]))
            command->failed = CUDA_ERROR_OUT_OF_MEMORY;
        pt_cu_command_put(list->of[i]);
    }
    list->n = 0;
}

bool pt_cu_command_after_trigger(struct pt_cu_command *command, struct pt_cu_command *earlier)
{
    if (!earlier || earlier->is_done || earlier->op.work != PT_CU_KERNEL_LAUNCH)
        return pt_cu_command_after(command, earlier);
    if (!pt_cu_command_add(&command->primaries, earlier))
        return false;
    pt_cu_command_ref(earlier);
    if (earlier->is_triggered) {
        pt_cu_overlap_after(command, earlier);
        return true;
    }
    if (!pt_cu_command_add(&earlier->early, command))
        return false;
    command->unmet++;
    return true;
}

void pt_cu_command_cancel(struct pt_cu_command *command)
{
    pt_cu_op_drop(&command->op);
    command->op = (struct pt_cu_op){.work = PT_CU_EMPTY};
    command->more = NULL;
    command->by_caller = false;
}

/* ---- scheduling, under the lock -------------------------------------------------------------- */

static void enqueue(struct pt_cu_command *command)
{
    struct pt_cu_command **place = &ready;
    while (*place && (*place)->priority <= command->priority)
        place = &(*place)->next;
    command->next = *place;
    *place = command;
}

static void wake_callers(void)
{
    if (n_waiting)
        pthread_cond_broadcast(&change);
}

static void run(struct pt_cu_command *command, bool is_runner);

static void *runner_main(void *ud)
{
    (void)ud;
    pt_cu_lock_take();
    pt_cu_thread_get(); /* with a stack for kernels' faults */
    for (;;) {
        struct pt_cu_command *command = ready;
        if (command) {
            ready = command->next;
            run(command, true);
            continue;
        }
        n_idle++;
        pt_cu_lock_wait(&wanted);
        n_idle--;
    }
    return NULL;
}

static bool start_runner(void)
{
    pthread_t thread;
    bool is_started = pt_thread_start(&thread, 0, runner_main, NULL);
    if (is_started)
        pthread_detach(thread);
    n_runners += is_started;
    return is_started;
}

static size_t count_ready(void)
{
    size_t n = 0;
    for (const struct pt_cu_command *c = ready; c && n <= n_idle; c = c->next)
        n++;
    return n;
}

/* Somebody is to run what is in the queue. */
static void wake_runner(void)
{
    if (n_idle)
        pthread_cond_signal(&wanted);
    if (count_ready() > n_idle && n_runners < RUNNERS_MAX)
        start_runner();
}

/* A runner that is through with its command takes the next one itself: `has_taker`. */
static void make_ready(struct pt_cu_command *command, bool *has_taker)
{
    if (command->by_caller) {
        wake_callers();
        return;
    }
    enqueue(command);
    if (!*has_taker)
        wake_runner();
    *has_taker = false;
}

static void release(struct pt_cu_command *command, struct pt_cu_commands *list, bool *has_taker)
{
    for (size_t i = 0; i < list->n; i++) {
        pt_cu_overlap_after(list->of[i], command);
        if (--list->of[i]->unmet == 0)
            make_ready(list->of[i], has_taker);
    }
    list->n = 0;
}

/* What a kernel did becomes the error of all contexts that the process has now, on whichever
 * device, as on GPUs. */
static void break_contexts(CUresult error)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        if (ctx->error == CUDA_SUCCESS)
            ctx->error = error;
}

static void finish(struct pt_cu_command *command, bool is_runner)
{
    CUcontext ctx = command->ctx;
    bool has_taker = is_runner;
    command->is_done = true;
    command->done_ns = pt_now_ns();
    ctx->pending--;
    if (command->failed != CUDA_SUCCESS)
        break_contexts(command->failed);
    if (command->op.work == PT_CU_FREE_POOLED)
        command->op.free.call(command->op.free.range);
    if (command->op.work == PT_CU_RECORD && command->op.record.shared)
        pt_cu_event_page_done(command->op.record.shared, command->op.record.number);
    for (unsigned i = 0; i < command->n_owners; i++)
        command->owners[i]->pending--;
    release(command, &command->early, &has_taker);
    release(command, &command->dependents, &has_taker);
    pt_cu_op_drop(&command->op);
    pt_cu_block_free_doomed(ctx);
    wake_callers();
    pt_cu_command_put(command);
}

static void begin_told(struct pt_cu_command *command, struct pt_cu_done *done)
{
    CUcontext ctx = command->ctx;
    done->what = PT_CU_DONE_NOTHING;
    if (!pt_cu_listener_get() || ctx->error != CUDA_SUCCESS)
        return;
    *done = (struct pt_cu_done){
        .correlation = command->correlation,
        .device = (uint64_t)ctx->device,
        .context = ctx->object.id,
        .stream =
            command->stream || !ctx->null_stream ? command->stream : ctx->null_stream->object.id,
        .graph = command->exec,
        .node = command->exec_node,
        .is_async = !command->by_caller,
    };
    pt_cu_done_begin(&command->op, done);
}

static void begin_traced(struct pt_cu_command *command, struct pt_cu_traced *traced)
{
    bool runs = command->ctx->error == CUDA_SUCCESS || command->op.work == PT_CU_CALLBACK;
    traced->arrow = command->arrow;
    traced->node = command->node;
    pt_cu_track_begin(runs ? command->track : NULL, &command->op, traced);
}

/* ---- kernels that depend on kernels ---------------------------------------------------------- */

/* The kernel lets those begin that depend on it. */
static void trigger(void *owner)
{
    struct pt_cu_command *command = owner;
    bool nobody = false;
    pt_cu_lock_take();
    command->is_triggered = true;
    release(command, &command->early, &nobody);
    pt_cu_lock_release();
}

static void await_primaries(void *owner)
{
    const struct pt_cu_command *command = owner;
    pt_cu_lock_take();
    for (size_t i = 0; i < command->primaries.n; i++)
        while (!command->primaries.of[i]->is_done) {
            n_waiting++;
            pt_cu_lock_wait(&change);
            n_waiting--;
        }
    pt_cu_lock_release();
}

/* It ends behind those that it depends on, whether it waited for them or not. False: they are not
 * done, and the last of them has it run again. */
static bool is_behind_primaries(struct pt_cu_command *command)
{
    command->unmet++;
    pt_cu_command_after_all(command, &command->primaries);
    return --command->unmet == 0;
}

static void give_job(struct pt_cu_command *command, struct pt_job *job)
{
    job->stream = command->stream;
    job->owner = command;
    job->run = command->launch ? command->launch->run : 0;
    job->environment.graph = command->graph;
    job->triggered = trigger;
    job->await = await_primaries;
}

/* Its operation. */
static void execute(struct pt_cu_command *command)
{
    struct pt_cu_traced traced;
    struct pt_cu_done done;
    traced.track = NULL;
    done.what = PT_CU_DONE_NOTHING;
    CUresult error = command->ctx->error;
    bool reaches = pt_cu_op_touches_memory(&command->op);
    CUcontext reached = command->op.work == PT_CU_KERNEL_LAUNCH ? command->ctx : NULL;
    if (reaches)
        pt_cu_trap_reach(reached);
    const struct pt_observer *const *observers = command->ctx->engine->mem.observers;
    if (reached && command->op.launch.job)
        give_job(command, command->op.launch.job);
    pt_cu_overlap_begin(command);
    if (command->track)
        begin_traced(command, &traced);
    if (pt_cu_listener_is_on())
        begin_told(command, &done);
    pt_cu_lock_release();
    if (error == CUDA_SUCCESS)
        pt_cu_check_op(command->ctx, &command->op);
    if (error == CUDA_SUCCESS && observers)
        pt_cu_execute_observe(&command->op, observers);
    command->failed = pt_cu_execute_op(&command->op, error);
    if (traced.track)
        pt_cu_track_add(&traced, command->failed);
    if (done.what != PT_CU_DONE_NOTHING)
        pt_cu_done_end(&done);
    pt_cu_lock_take();
    if (traced.track)
        pt_cu_track_end(&traced);
    if (reaches)
        pt_cu_trap_unreach(reached);
    pt_cu_overlap_end(command);
}

static void run(struct pt_cu_command *command, bool is_runner)
{
    if (!command->has_run)
        execute(command);
    command->has_run = true;
    if (!is_behind_primaries(command)) {
        command->by_caller = false;
        return;
    }
    while (command->more) {
        command->unmet++; /* until all that is added is there */
        if (!command->more(command))
            command->more = NULL;
        if (--command->unmet) { /* the last of what was added has it run again, by anybody */
            command->by_caller = false;
            return;
        }
    }
    finish(command, is_runner);
}

void pt_cu_command_start_apart(struct pt_cu_command *command)
{
    bool nobody = false;
    if (!command->unmet)
        make_ready(command, &nobody);
}

/* If it is the caller's, that is in pt_cu_command_finish. */
void pt_cu_command_start(struct pt_cu_command *command)
{
    bool nobody = false;
    if (command->unmet || command->by_caller)
        return;
    bool may_wait = command->more || command->primaries.n;
    if (pt_cu_op_is_short(&command->op) && !may_wait)
        run(command, false);
    else
        make_ready(command, &nobody);
}

/* Where no thread can be had to run what is ready, those who wait do. */
static void wait_for_change(void)
{
    struct pt_cu_command *command = ready;
    if (command && !n_runners && !start_runner()) {
        ready = command->next;
        run(command, true);
        return;
    }
    n_waiting++;
    pt_cu_lock_wait(&change);
    n_waiting--;
}

CUresult pt_cu_command_finish(struct pt_cu_command *command)
{
    CUcontext ctx = command->ctx;
    while (command->by_caller && command->unmet)
        wait_for_change();
    if (command->by_caller)
        run(command, false);
    while (!command->is_done)
        wait_for_change();
    pt_cu_overlap_waited(command);
    return ctx->error;
}

CUresult pt_cu_command_drain(CUcontext ctx)
{
    while (ctx->pending)
        wait_for_change();
    pt_cu_overlap_drained(ctx);
    return ctx->error;
}

void pt_cu_command_step_out(CUcontext ctx)
{
    ctx->outside++;
    pt_cu_lock_release();
}

void pt_cu_command_step_in(CUcontext ctx)
{
    pt_cu_lock_take();
    if (--ctx->outside == 0)
        wake_callers();
}

void pt_cu_command_quiesce(CUcontext ctx)
{
    while (ctx->pending || ctx->outside)
        wait_for_change();
}

void pt_cu_command_drain_all(void)
{
    for (CUcontext ctx = pt_cu_context_list_next(NULL); ctx; ctx = pt_cu_context_list_next(ctx))
        pt_cu_command_drain(ctx);
}
