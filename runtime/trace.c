/* Events on their way from who records them to the file. There are few blocks, so memory is
 * bounded; one is handed on when it is full, or holds what is older than a second. */
#define _GNU_SOURCE /* gettid, pthread_getname_np, program_invocation_short_name */
#include "runtime/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "ir/arena.h"
#include "ir/bits.h"
#include "runtime/deadline.h"
#include "runtime/thread.h"
#include "runtime/trace_text.h"

enum { BLOCKS = 4, BLOCK_BYTES = 128 << 10, STACK_BYTES = 128 << 10, AHEAD_BYTES = 512 };
static const uint64_t patience_ns = 1000000000;

struct block {
    struct block *next;
    size_t n;
    uint64_t oldest;
    char v[BLOCK_BYTES];
};

struct pt_trace {
    struct pt_allocator allocator;
    void (*say)(void *ud, const char *path, const char *why, uint64_t lost);
    void *ud;
    unsigned serial; /* no other trace has it */
    uint32_t process;
    atomic_bool has_name; /* the process, in the file: it has an event there */
    pthread_mutex_t lock;
    pthread_cond_t wanted, room; /* a block is full; one is free */
    pthread_t writer;
    bool has_writer, is_closed, has_said;
    struct block *front; /* is being filled; NULL: none is free */
    struct block *free, *full, **full_end;
    struct pt_trace_file file;
    struct pt_trace_text text;
    struct block blocks[BLOCKS];
    char path[];
};

/* ---- writing --------------------------------------------------------------------------------- */

/* Without the lock, or when nobody else is there. */
static void write_block(struct pt_trace *t, const struct block *b)
{
    const struct pt_trace_record *r;
    for (size_t at = 0; at < b->n; at += r->bytes) {
        r = (const struct pt_trace_record *)(const void *)(b->v + at);
        pt_trace_text_put(&t->text, r);
    }
    pt_trace_text_flush(&t->text);
    if (t->file.lost && !t->has_said)
        t->say(t->ud, t->path, strerror(t->file.error), 0);
    t->has_said |= t->file.lost != 0;
}

static struct block *take_full(struct pt_trace *t)
{
    struct block *b = t->full;
    if (b)
        t->full = b->next;
    if (!t->full)
        t->full_end = &t->full;
    return b;
}

static void give_free(struct pt_trace *t, struct block *b)
{
    b->n = 0;
    b->next = t->free;
    t->free = b;
    pthread_cond_broadcast(&t->room);
}

static void *write_all(void *ud)
{
    struct pt_trace *t = ud;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        struct block *b = take_full(t);
        if (!b && t->is_closed)
            break;
        if (!b) {
            pthread_cond_wait(&t->wanted, &t->lock);
            continue;
        }
        pthread_mutex_unlock(&t->lock);
        write_block(t, b);
        pthread_mutex_lock(&t->lock);
        give_free(t, b);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- blocks, under the lock ------------------------------------------------------------------ */

/* Where there is no thread for it, the caller writes. */
static void hand_on(struct pt_trace *t)
{
    struct block *b = t->front;
    t->front = NULL;
    if (!t->has_writer)
        t->has_writer = pt_thread_start(&t->writer, STACK_BYTES, write_all, t);
    if (!t->has_writer) {
        write_block(t, b);
        give_free(t, b);
        return;
    }
    b->next = NULL;
    *t->full_end = b;
    t->full_end = &b->next;
    pthread_cond_signal(&t->wanted);
}

/* A block with so much room; NULL: the trace is closed. */
static struct block *find_room(struct pt_trace *t, size_t bytes, uint64_t now)
{
    for (;;) {
        struct block *b = t->front;
        if (t->is_closed)
            return NULL;
        if (b && (!b->n || (b->n + bytes <= BLOCK_BYTES && now < b->oldest + patience_ns))) {
            b->oldest = b->n ? b->oldest : now;
            return b;
        }
        if (b)
            hand_on(t);
        else if (t->free) {
            t->front = t->free;
            t->free = t->free->next;
        } else
            pthread_cond_wait(&t->room, &t->lock);
    }
}

/* ---- the interface --------------------------------------------------------------------------- */

static atomic_uint n_traces;

struct pt_trace *
pt_trace_open(const char *path, const struct pt_allocator *allocator,
              void (*say)(void *ud, const char *path, const char *why, uint64_t lost), void *ud)
{
    size_t path_bytes = strlen(path) + 1;
    struct pt_trace *t = allocator->resize(allocator->ud, NULL, sizeof *t + path_bytes);
    if (!t)
        return NULL;
    memset(t, 0, offsetof(struct pt_trace, text));
    t->allocator = *allocator;
    t->say = say;
    t->ud = ud;
    t->serial = atomic_fetch_add(&n_traces, 1) + 1;
    t->process = (uint32_t)getpid();
    memcpy(t->path, path, path_bytes);
    if (!pt_trace_file_open(&t->file, t->path)) {
        allocator->resize(allocator->ud, t, 0);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wanted, NULL);
    pthread_cond_init(&t->room, NULL);
    t->text.file = &t->file;
    t->text.events = t->text.n = 0;
    t->full_end = &t->full;
    for (int i = 0; i < BLOCKS; i++)
        give_free(t, &t->blocks[i]);
    return t;
}

void pt_trace_add(struct pt_trace *t, const struct pt_trace_shape *shape,
                  const struct pt_trace_event *e)
{
    size_t name_bytes = strnlen(e->name, PT_TRACE_NAME_BYTES);
    size_t value_bytes = shape->n_values * sizeof *e->values;
    size_t bytes = pt_round_up(sizeof(struct pt_trace_record) + value_bytes + name_bytes, 8);
    pthread_mutex_lock(&t->lock);
    struct block *b = find_room(t, bytes, e->end);
    if (b) {
        struct pt_trace_record *r = (struct pt_trace_record *)(void *)(b->v + b->n);
        *r =
            (struct pt_trace_record){(uint32_t)bytes, (uint32_t)name_bytes, shape, e->begin, e->end,
                                     e->id,           e->process,           e->row};
        char *behind = (char *)(r + 1);
        if (value_bytes)
            memcpy(behind, e->values, value_bytes);
        memcpy(behind + value_bytes, e->name, name_bytes);
        b->n += bytes;
        /* The writer's processor has what comes next: it is fetched while the caller goes on. */
        for (size_t at = 0; at < AHEAD_BYTES && b->n + at < BLOCK_BYTES; at += 64)
            __builtin_prefetch(b->v + b->n + at, 1);
    }
    pthread_mutex_unlock(&t->lock);
}

void pt_trace_close(struct pt_trace *t)
{
    pthread_mutex_lock(&t->lock);
    bool was_closed = t->is_closed;
    struct block *last = was_closed ? NULL : t->front;
    t->front = NULL;
    t->is_closed = true;
    pthread_cond_broadcast(&t->wanted);
    pthread_cond_broadcast(&t->room);
    pthread_mutex_unlock(&t->lock);
    if (was_closed)
        return;
    if (t->has_writer)
        pthread_join(t->writer, NULL);
    if (last)
        write_block(t, last);
    if (!pt_trace_file_close(&t->file) || t->file.lost)
        t->say(t->ud, t->path, strerror(t->file.error), t->file.lost);
}

void pt_trace_free(struct pt_trace *t)
{
    struct pt_allocator allocator = t->allocator;
    allocator.resize(allocator.ud, t, 0);
}

void pt_trace_name(struct pt_trace *t, uint32_t process, uint32_t row, const char *name)
{
    static const struct pt_trace_shape shape = {.phase = 'M', .category = "thread_name"};
    pt_trace_add(
        t, &shape,
        &(struct pt_trace_event){.process = process, .row = row, .name = name, .end = pt_now_ns()});
}

void pt_trace_name_process(struct pt_trace *t, uint32_t process, const char *name)
{
    static const struct pt_trace_shape shape = {.phase = 'M', .category = "process_name"};
    pt_trace_add(t, &shape,
                 &(struct pt_trace_event){.process = process, .name = name, .end = pt_now_ns()});
}

uint32_t pt_trace_process(const struct pt_trace *t)
{
    return t->process;
}

/* A thread has its name in each trace that it comes to. */
uint32_t pt_trace_row(struct pt_trace *t)
{
    static _Thread_local struct {
        unsigned serial;
        uint32_t row;
    } self;
    char name[32] = "main thread";
    if (self.serial == t->serial)
        return self.row;
    if (!atomic_exchange(&t->has_name, true))
        pt_trace_name_process(t, t->process, program_invocation_short_name);
    self.serial = t->serial;
    self.row = (uint32_t)gettid();
    if (self.row != t->process)
        pthread_getname_np(pthread_self(), name, sizeof name);
    pt_trace_name(t, t->process, self.row, name);
    return self.row;
}
