/* Records on their way to the client: a queue, and the client's buffers, which it gives and takes
 * by functions of its own. These are called without any lock but that of the delivery, so that they
 * may call CUPTI; what they flush themselves is delivered by whoever is delivering. */
#include "runtime/cupti/buffer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/cupti/api.h"

enum {
    CHUNK_BYTES = 256 << 10,
    /* From so much on the client gets them without asking; so much waits at most. */
    MANY_BYTES = 1 << 20,
    MOST_BYTES = 64 << 20
};

struct chunk {
    struct chunk *next;
    size_t bytes;
    uint8_t records[CHUNK_BYTES];
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *queue, **queue_end = &queue, *last;
static size_t n_queued, n_dropped;
static pthread_cond_t wanted =
    PTHREAD_COND_INITIALIZER; /* with queue_lock: somebody is to deliver */
static bool has_thread;
static uint32_t period_ms; /* 0: none */

static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool is_delivering;
static _Atomic(CUpti_BuffersCallbackRequestFunc) request;
static _Atomic(CUpti_BuffersCallbackCompleteFunc) complete;

size_t pt_cupti_buffer_record_bytes(uint32_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return sizeof(CUpti_ActivityDevice);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return sizeof(CUpti_ActivityContext);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return sizeof(CUpti_ActivityOverhead);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP);
    case CUPTI_ACTIVITY_KIND_STREAM:
        return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return sizeof(CUpti_ActivityExternalCorrelation);
    default:
        return 0;
    }
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* Room for so much at the end of the queue, or NULL. */
static uint8_t *room_for(size_t bytes)
{
    if (!last || last->bytes + bytes > sizeof last->records) {
        struct chunk *chunk = n_queued < MOST_BYTES ? malloc(sizeof *chunk) : NULL;
        if (!chunk)
            return NULL;
        chunk->next = NULL;
        chunk->bytes = 0;
        *queue_end = chunk;
        queue_end = &chunk->next;
        last = chunk;
    }
    uint8_t *room = last->records + last->bytes;
    last->bytes += bytes;
    n_queued += bytes;
    return room;
}

static struct chunk *take_queue(void)
{
    pthread_mutex_lock(&queue_lock);
    struct chunk *all = queue;
    queue = last = NULL;
    queue_end = &queue;
    n_queued = 0;
    pthread_mutex_unlock(&queue_lock);
    return all;
}

static void drop_one(void)
{
    pthread_mutex_lock(&queue_lock);
    n_dropped++;
    pthread_mutex_unlock(&queue_lock);
}

/* ---- delivery -------------------------------------------------------------------------------- */

/* What the client has given: asked for as soon as there is a record, for some only fetch records
 * where they were asked for one. With `delivery`. */
static struct buffer {
    uint8_t *data;               /* NULL: none */
    size_t bytes, used, n, most; /* records; most: 0, as many as there is room for */
} buffer;
static atomic_bool has_buffer;

static void give_back(void)
{
    CUpti_BuffersCallbackCompleteFunc call = atomic_load(&complete);
    struct buffer full = buffer;
    buffer = (struct buffer){0};
    atomic_store(&has_buffer, false);
    if (full.data && call)
        call(NULL, 0, full.data, full.bytes, full.used);
}

/* False: the client gives none. */
static bool has_room(size_t bytes)
{
    CUpti_BuffersCallbackRequestFunc call = atomic_load(&request);
    if (buffer.data && buffer.bytes - buffer.used >= bytes &&
        (!buffer.most || buffer.n < buffer.most))
        return true;
    give_back();
    if (call)
        call(&buffer.data, &buffer.bytes, &buffer.most);
    atomic_store(&has_buffer, buffer.data != NULL);
    return buffer.data && buffer.bytes >= bytes;
}

static void deliver_chunk(const struct chunk *chunk)
{
    for (size_t at = 0, bytes; at < chunk->bytes; at += bytes) {
        const void *record = chunk->records + at;
        bytes = pt_cupti_buffer_record_bytes(((const CUpti_Activity *)record)->kind);
        if (!has_room(bytes)) {
            drop_one();
            continue;
        }
        memcpy(buffer.data + buffer.used, record, bytes);
        buffer.used += bytes;
        buffer.n++;
    }
}

static void begin_delivery(void)
{
    pthread_mutex_lock(&delivery);
    is_delivering = true;
}

static void end_delivery(void)
{
    is_delivering = false;
    pthread_mutex_unlock(&delivery);
}

void pt_cupti_buffer_flush(void)
{
    if (is_delivering || !atomic_load(&request))
        return;
    begin_delivery();
    for (struct chunk *chunk, *next; (chunk = take_queue());)
        for (; chunk; chunk = next) {
            next = chunk->next;
            deliver_chunk(chunk);
            free(chunk);
        }
    give_back();
    end_delivery();
}

static void ask_for_buffer(void)
{
    begin_delivery();
    has_room(0);
    end_delivery();
}

/* Delivers when there is much, or when the time has come. Under queue_lock between deliveries. */
static void *deliver_always(void *ud)
{
    (void)ud;
    pthread_mutex_lock(&queue_lock);
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += period_ms / 1000;
        until.tv_nsec += period_ms % 1000 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (period_ms)
            pthread_cond_timedwait(&wanted, &queue_lock, &until);
        else if (n_queued < MANY_BYTES)
            pthread_cond_wait(&wanted, &queue_lock);
        pthread_mutex_unlock(&queue_lock);
        pt_cupti_buffer_flush();
        pthread_mutex_lock(&queue_lock);
    }
    return NULL;
}

/* Signals go to the program's own threads. With queue_lock. */
static void wake_thread(void)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_cond_signal(&wanted);
    if (has_thread)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_thread = pthread_create(&thread, NULL, deliver_always, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_thread)
        pthread_detach(thread);
}

void pt_cupti_buffer_add(const void *record)
{
    size_t bytes = pt_cupti_buffer_record_bytes(((const CUpti_Activity *)record)->kind);
    if (!atomic_load(&request))
        return;
    pthread_mutex_lock(&queue_lock);
    uint8_t *room = room_for(bytes);
    if (room)
        memcpy(room, record, bytes);
    else
        n_dropped++;
    if (n_queued >= MANY_BYTES)
        wake_thread();
    pthread_mutex_unlock(&queue_lock);
    if (!atomic_load_explicit(&has_buffer, memory_order_relaxed) && !is_delivering)
        ask_for_buffer();
}

/* Threads do not come along with a fork, and one of them may have held the locks. */
static void begin_anew(void)
{
    pthread_mutex_init(&queue_lock, NULL);
    pthread_mutex_init(&delivery, NULL);
    pthread_cond_init(&wanted, NULL);
    has_thread = is_delivering = false;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, begin_anew);
}

/* ---- entries --------------------------------------------------------------------------------- */

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    if (!requested || !completed)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    atomic_store(&complete, completed);
    atomic_store(&request, requested);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flags)
{
    (void)flags; /* a record is queued when it is complete */
    pt_cupti_buffer_flush();
    return CUPTI_SUCCESS;
}

/* Buffers are not of contexts and streams. */
CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flags)
{
    (void)context;
    (void)stream;
    return cuptiActivityFlushAll(flags);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
    pthread_mutex_lock(&queue_lock);
    period_ms = ms;
    if (ms)
        wake_thread();
    pthread_mutex_unlock(&queue_lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    if (!buffer || !record)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    uint8_t *next = buffer;
    if (*record) {
        size_t bytes = pt_cupti_buffer_record_bytes((*record)->kind);
        if (!bytes)
            return pt_cupti_error(CUPTI_ERROR_INVALID_KIND);
        next = (uint8_t *)*record + bytes;
    }
    if (next >= buffer + valid)
        return pt_cupti_error(CUPTI_ERROR_MAX_LIMIT_REACHED);
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

/* Since it was last asked. */
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    if (!dropped)
        return pt_cupti_error(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&queue_lock);
    *dropped = n_dropped;
    n_dropped = 0;
    pthread_mutex_unlock(&queue_lock);
    return CUPTI_SUCCESS;
}
