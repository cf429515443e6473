/* NVTX: ranges, marks and names that programs give themselves, for the timeline. Ranges that a
 * thread pushes are slices among its calls; those that do not fit into each other there, since
 * libraries keep domains of their own, and those that are started and ended anywhere, are ranges
 * beside it. */
#include "runtime/cuda/nvtx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/lock.h"
#include "runtime/cuda/nvtx_names.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/trace.h"
#include "runtime/cuda/track.h"
#include "runtime/deadline.h"
#include "runtime/trace.h"

/* ---- events ---------------------------------------------------------------------------------- */

enum { VALUES = 5 };

/* What is recorded of a mark or a range. */
struct event {
    struct pt_nvtx_domain *domain;
    enum pt_trace_type payload; /* PT_TRACE_TEXT: none */
    uint64_t begun, values[VALUES];
    char *name;
};

#define FIELDS                                                                                \
    {"domain", PT_TRACE_TEXT}, {"category", PT_TRACE_TEXT}, {"category_number", PT_TRACE_ID}, \
    {                                                                                         \
        "colour", PT_TRACE_COLOUR                                                             \
    }
#define SHAPE(letter, type)                          \
    [type] = {.phase = letter,                       \
              .category = "nvtx",                    \
              .fields = {FIELDS, {"payload", type}}, \
              .n_values = VALUES}
#define SHAPES(letter)                                                    \
    {                                                                     \
        SHAPE(letter, PT_TRACE_UNSIGNED), SHAPE(letter, PT_TRACE_SIGNED), \
            SHAPE(letter, PT_TRACE_DOUBLE), SHAPE(letter, PT_TRACE_TEXT)  \
    }

static const struct pt_trace_shape slices[] = SHAPES('X'), marks[] = SHAPES('i'),
                                   begins[] = SHAPES('b');
static const struct pt_trace_shape end_shape = {.phase = 'e', .category = "nvtx"};

/* Programs may have been compiled with a shorter structure, whose fields stand where ours do. */
static bool read_attributes(const struct pt_nvtx_attributes *given, struct pt_nvtx_attributes *a)
{
    memset(a, 0, sizeof *a);
    if (!given || given->bytes < offsetof(struct pt_nvtx_attributes, category))
        return false;
    memcpy(a, given, given->bytes < sizeof *a ? given->bytes : sizeof *a);
    return true;
}

static const char *message_of(const struct pt_nvtx_attributes *a, char room[PT_NVTX_NAME_BYTES])
{
    const char *text = NULL;
    if (a->message_type == PT_NVTX_ASCII)
        text = a->message.ascii;
    else if (a->message_type == PT_NVTX_WIDE && a->message.wide)
        text = pt_cu_nvtx_names_narrow(a->message.wide, room);
    else if (a->message_type == PT_NVTX_REGISTERED)
        text = pt_cu_nvtx_names_of_string(a->message.registered);
    return text && *text ? text : "range";
}

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static enum pt_trace_type read_payload(const struct pt_nvtx_attributes *a, uint64_t *value)
{
    switch ((enum pt_nvtx_payload)a->payload_type) {
    case PT_NVTX_U64:
        *value = a->payload.u64;
        return PT_TRACE_UNSIGNED;
    case PT_NVTX_U32:
        *value = a->payload.u32;
        return PT_TRACE_UNSIGNED;
    case PT_NVTX_I64:
        *value = (uint64_t)a->payload.i64;
        return PT_TRACE_SIGNED;
    case PT_NVTX_I32:
        *value = (uint64_t)(int64_t)a->payload.i32;
        return PT_TRACE_SIGNED;
    case PT_NVTX_F64:
        *value = bits_of(a->payload.f64);
        return PT_TRACE_DOUBLE;
    case PT_NVTX_F32:
        *value = bits_of(a->payload.f32);
        return PT_TRACE_DOUBLE;
    default:
        *value = 0;
        return PT_TRACE_TEXT;
    }
}

static void describe(struct event *e, struct pt_nvtx_domain *domain,
                     const struct pt_nvtx_attributes *a)
{
    e->domain = domain;
    e->begun = pt_now_ns();
    e->values[0] = (uintptr_t)pt_cu_nvtx_names_of_domain(domain);
    e->values[1] = a->category ? (uintptr_t)pt_cu_nvtx_names_of_category(domain, a->category) : 0;
    e->values[2] = a->category;
    e->values[3] = a->colour_type == PT_NVTX_ARGB ? a->colour : 0;
    e->payload = read_payload(a, &e->values[4]);
}

static void add(const struct pt_trace_shape *shape, const struct event *e, const char *name,
                uint64_t begin, uint64_t id)
{
    if (pt_cu_trace_is_on())
        pt_cu_trace_add(
            shape,
            &(struct pt_trace_event){
                .begin = begin, .end = pt_now_ns(), .id = id, .name = name, .values = e->values});
}

static void add_range(const struct event *e, uint64_t id)
{
    add(&begins[e->payload], e, e->name, e->begun, id);
    add(&end_shape, e, e->name, pt_now_ns(), id);
}

static void mark(struct pt_nvtx_domain *domain, const struct pt_nvtx_attributes *given)
{
    char room[PT_NVTX_NAME_BYTES];
    struct pt_nvtx_attributes a;
    struct event e = {0};
    if (!read_attributes(given, &a))
        return;
    describe(&e, domain, &a);
    add(&marks[e.payload], &e, message_of(&a, room), e.begun, 0);
}

/* ---- ranges of a thread ---------------------------------------------------------------------- */

enum { NO_RANGE = -1 };

struct stack {
    struct event *v;
    size_t n, cap;
};

static pthread_key_t stack_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Ranges that are open when the thread ends, end there. */
static void end_stack(void *ud)
{
    struct stack *s = ud;
    while (s->n) {
        struct event *e = &s->v[--s->n];
        add(&slices[e->payload], e, e->name, e->begun, 0);
        free(e->name);
    }
    free(s->v);
    free(s);
}

static void end_all(void);

static void make_key(void)
{
    pthread_key_create(&stack_key, end_stack);
    pt_cu_trace_at_close(end_all);
}

static struct stack *my_stack(void)
{
    struct stack *s = pthread_getspecific(stack_key);
    if (!s && (s = calloc(1, sizeof *s)))
        pthread_setspecific(stack_key, s);
    return s;
}

static bool has_room(struct stack *s)
{
    if (s->n < s->cap)
        return true;
    size_t cap = s->cap ? 2 * s->cap : 16;
    struct event *v = realloc(s->v, cap * sizeof *v);
    if (!v)
        return false;
    s->v = v;
    s->cap = cap;
    return true;
}

static int count_open(const struct stack *s, const struct pt_nvtx_domain *domain)
{
    int n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->v[i].domain == domain;
    return n;
}

/* The level of the range in its domain, as all of these return it. */
static int push(struct pt_nvtx_domain *domain, const struct pt_nvtx_attributes *given)
{
    char room[PT_NVTX_NAME_BYTES];
    struct pt_nvtx_attributes a;
    struct stack *s = my_stack();
    char *name = NULL;
    if (!s || !read_attributes(given, &a) || !has_room(s) || !(name = strdup(message_of(&a, room))))
        return NO_RANGE;
    struct event *e = &s->v[s->n++];
    describe(e, domain, &a);
    e->name = name;
    return count_open(s, domain) - 1;
}

static int pop(struct pt_nvtx_domain *domain)
{
    struct stack *s = my_stack();
    size_t i = s ? s->n : 0;
    while (i && s->v[i - 1].domain != domain)
        i--;
    if (!i)
        return NO_RANGE;
    struct event *e = &s->v[--i];
    if (i == s->n - 1)
        add(&slices[e->payload], e, e->name, e->begun, 0);
    else
        add_range(e, pt_cu_trace_number());
    free(e->name);
    memmove(e, e + 1, (--s->n - i) * sizeof *e);
    return count_open(s, domain);
}

/* ---- ranges of the process ------------------------------------------------------------------- */

struct range {
    struct range *next;
    uint64_t id;
    char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges; /* that are open */

static uint64_t start(struct pt_nvtx_domain *domain, const struct pt_nvtx_attributes *given)
{
    char room[PT_NVTX_NAME_BYTES];
    struct pt_nvtx_attributes a;
    struct event e = {0};
    if (!read_attributes(given, &a))
        return 0;
    const char *name = message_of(&a, room);
    struct range *r = malloc(sizeof *r + strlen(name) + 1);
    if (!r)
        return 0;
    strcpy(r->name, name);
    describe(&e, domain, &a);
    pthread_mutex_lock(&lock);
    r->id = pt_cu_trace_number();
    r->next = ranges;
    ranges = r;
    pthread_mutex_unlock(&lock);
    add(&begins[e.payload], &e, name, e.begun, r->id);
    return r->id;
}

static void end(uint64_t id)
{
    const struct event none = {0};
    struct range **at = &ranges, *r;
    pthread_mutex_lock(&lock);
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    r = *at;
    if (r)
        *at = r->next;
    pthread_mutex_unlock(&lock);
    if (r)
        add(&end_shape, &none, r->name, pt_now_ns(), r->id);
    free(r);
}

/* What is open when the program ends. */
static void end_all(void)
{
    const struct event none = {0};
    struct stack *s = pthread_getspecific(stack_key);
    if (s)
        end_stack(s);
    pthread_setspecific(stack_key, NULL);
    pthread_mutex_lock(&lock);
    for (const struct range *r = ranges; r; r = r->next)
        add(&end_shape, &none, r->name, pt_now_ns(), r->id);
    pthread_mutex_unlock(&lock);
}

/* ---- functions of NVTX ----------------------------------------------------------------------- */

static struct pt_nvtx_attributes ascii(const char *text)
{
    return (struct pt_nvtx_attributes){.bytes = sizeof(struct pt_nvtx_attributes),
                                       .message_type = PT_NVTX_ASCII,
                                       .message.ascii = text};
}

static struct pt_nvtx_attributes wide(const wchar_t *text)
{
    return (struct pt_nvtx_attributes){.bytes = sizeof(struct pt_nvtx_attributes),
                                       .message_type = PT_NVTX_WIDE,
                                       .message.wide = text};
}

/* Functions that have no domain: by attributes, and by a text alone. */
#define WITHOUT_DOMAIN(type, verb, give)                      \
    static type verb##_ex(const struct pt_nvtx_attributes *a) \
    {                                                         \
        give verb(NULL, a);                                   \
    }                                                         \
    static type verb##_a(const char *text)                    \
    {                                                         \
        struct pt_nvtx_attributes a = ascii(text);            \
        give verb(NULL, &a);                                  \
    }                                                         \
    static type verb##_w(const wchar_t *text)                 \
    {                                                         \
        struct pt_nvtx_attributes a = wide(text);             \
        give verb(NULL, &a);                                  \
    }
WITHOUT_DOMAIN(void, mark, )
WITHOUT_DOMAIN(uint64_t, start, return )
WITHOUT_DOMAIN(int, push, return )
#undef WITHOUT_DOMAIN

static void domain_end(struct pt_nvtx_domain *domain, uint64_t id)
{
    (void)domain;
    end(id);
}

static int pop_default(void)
{
    return pop(NULL);
}

static void name_category_a(uint32_t category, const char *name)
{
    pt_cu_nvtx_names_category(NULL, category, name);
}

static void domain_category_w(struct pt_nvtx_domain *domain, uint32_t category, const wchar_t *name)
{
    char room[PT_NVTX_NAME_BYTES];
    pt_cu_nvtx_names_category(domain, category, pt_cu_nvtx_names_narrow(name, room));
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
    domain_category_w(NULL, category, name);
}

static const struct pt_nvtx_string *register_w(struct pt_nvtx_domain *domain, const wchar_t *text)
{
    char room[PT_NVTX_NAME_BYTES];
    return pt_cu_nvtx_names_register(domain, pt_cu_nvtx_names_narrow(text, room));
}

static struct pt_nvtx_domain *domain_w(const wchar_t *name)
{
    char room[PT_NVTX_NAME_BYTES];
    return pt_cu_nvtx_names_domain(pt_cu_nvtx_names_narrow(name, room));
}

/* ---- names of what CUDA has ------------------------------------------------------------------ */

static void name_thread_w(uint32_t thread, const wchar_t *name)
{
    char room[PT_NVTX_NAME_BYTES];
    pt_cu_trace_name_thread(thread, pt_cu_nvtx_names_narrow(name, room));
}

static void name_device_w(int device, const wchar_t *name)
{
    char room[PT_NVTX_NAME_BYTES];
    pt_cu_trace_name_device(device, pt_cu_nvtx_names_narrow(name, room));
}

static void name_stream_a(CUstream given, const char *name)
{
    CUstream stream;
    pt_cu_lock_take();
    CUresult r = pt_cu_stream_find(CU_STREAM_LEGACY, given, &stream);
    if (r == CUDA_SUCCESS && stream->track)
        pt_cu_track_name(stream->track, name);
    pt_cu_lock_release();
}

static void name_stream_w(CUstream stream, const wchar_t *name)
{
    char room[PT_NVTX_NAME_BYTES];
    name_stream_a(stream, pt_cu_nvtx_names_narrow(name, room));
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* By module and number, as nvtx3's nvtxTypes.h has them; what is left out does nothing. */
static const struct {
    int module;
    unsigned number;
    pt_nvtx_function function;
} functions[] = {
#define F(module, number, function)                  \
    {                                                \
        module, number, (pt_nvtx_function)(function) \
    }
    F(PT_NVTX_CORE, 1, mark_ex),
    F(PT_NVTX_CORE, 2, mark_a),
    F(PT_NVTX_CORE, 3, mark_w),
    F(PT_NVTX_CORE, 4, start_ex),
    F(PT_NVTX_CORE, 5, start_a),
    F(PT_NVTX_CORE, 6, start_w),
    F(PT_NVTX_CORE, 7, end),
    F(PT_NVTX_CORE, 8, push_ex),
    F(PT_NVTX_CORE, 9, push_a),
    F(PT_NVTX_CORE, 10, push_w),
    F(PT_NVTX_CORE, 11, pop_default),
    F(PT_NVTX_CORE, 12, name_category_a),
    F(PT_NVTX_CORE, 13, name_category_w),
    F(PT_NVTX_CORE, 14, pt_cu_trace_name_thread),
    F(PT_NVTX_CORE, 15, name_thread_w),
    F(PT_NVTX_CORE2, 1, mark),
    F(PT_NVTX_CORE2, 2, start),
    F(PT_NVTX_CORE2, 3, domain_end),
    F(PT_NVTX_CORE2, 4, push),
    F(PT_NVTX_CORE2, 5, pop),
    F(PT_NVTX_CORE2, 8, pt_cu_nvtx_names_category),
    F(PT_NVTX_CORE2, 9, domain_category_w),
    F(PT_NVTX_CORE2, 10, pt_cu_nvtx_names_register),
    F(PT_NVTX_CORE2, 11, register_w),
    F(PT_NVTX_CORE2, 12, pt_cu_nvtx_names_domain),
    F(PT_NVTX_CORE2, 13, domain_w),
    F(PT_NVTX_CUDA, 1, pt_cu_trace_name_device),
    F(PT_NVTX_CUDA, 2, name_device_w),
    F(PT_NVTX_CUDA, 5, name_stream_a),
    F(PT_NVTX_CUDA, 6, name_stream_w),
    F(PT_NVTX_CUDART, 1, pt_cu_trace_name_device),
    F(PT_NVTX_CUDART, 2, name_device_w),
    F(PT_NVTX_CUDART, 3, name_stream_a),
    F(PT_NVTX_CUDART, 4, name_stream_w),
#undef F
};

/* Called by NVTX, of each library that has it. Returns 0 if there is no timeline. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
    const struct pt_nvtx_callbacks *callbacks = get_table(PT_NVTX_CALLBACKS);
    if (!pt_cu_trace_is_on() || !callbacks || callbacks->bytes < sizeof *callbacks)
        return 0;
    pthread_once(&once, make_key);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        pt_nvtx_function **table;
        unsigned n;
        if (callbacks->get(functions[i].module, &table, &n) && functions[i].number < n)
            *table[functions[i].number] = functions[i].function;
    }
    return 1;
}
