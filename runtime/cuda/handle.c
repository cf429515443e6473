/* Which handles are live: a set of addresses, so that a wild handle is an error and not a crash. */
#include "runtime/cuda/handle.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const void **set; /* open addressing; `gone` where one was taken out */
static size_t capacity, filled, live;
static const char gone_mark;
static const void *const gone = &gone_mark;
static atomic_uint_fast64_t last_id;

uint64_t pt_cu_handle_new_id(void)
{
    return ++last_id;
}

static size_t place_of(const void *handle)
{
    return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
}

static const void **find(const void *handle)
{
    if (!capacity || !handle)
        return NULL;
    for (size_t i = place_of(handle); set[i]; i = (i + 1) & (capacity - 1))
        if (set[i] == handle)
            return &set[i];
    return NULL;
}

static void insert(const void *handle)
{
    size_t i = place_of(handle);
    while (set[i])
        i = (i + 1) & (capacity - 1);
    set[i] = handle;
    filled++;
}

static bool make_room(void)
{
    if (filled + 1 < capacity / 2)
        return true;
    const void **old = set;
    size_t n = capacity, more = 256;
    while (more < live * 4)
        more *= 2;
    const void **fresh = calloc(more, sizeof *fresh);
    if (!fresh)
        return false;
    set = fresh;
    capacity = more;
    filled = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i] && old[i] != gone)
            insert(old[i]);
    free(old);
    return true;
}

void *pt_cu_handle_new(enum pt_cu_kind kind, size_t bytes)
{
    struct pt_cu_object *object = make_room() ? calloc(1, bytes) : NULL;
    if (!object)
        return NULL;
    object->kind = kind;
    object->id = pt_cu_handle_new_id();
    insert(object);
    live++;
    return object;
}

static void *(*note_of_call)(void);

void pt_cu_handle_watch(void *(*note)(void))
{
    note_of_call = note;
}

void pt_cu_handle_give(void *object)
{
    struct pt_cu_object *o = object;
    if (!o || !note_of_call)
        return;
    free(o->given);
    o->given = note_of_call();
}

const struct pt_cu_object *pt_cu_handle_next_given(size_t *index)
{
    while (*index < capacity) {
        const struct pt_cu_object *object = set[(*index)++];
        if (object && object != gone && object->given)
            return object;
    }
    return NULL;
}

void pt_cu_handle_delete(void *object)
{
    const void **place = find(object);
    if (!place)
        return;
    *place = gone;
    live--;
    free(((struct pt_cu_object *)object)->given);
    free(object);
}

bool pt_cu_handle_is(const void *handle, enum pt_cu_kind kind)
{
    const struct pt_cu_object *object = handle;
    return find(handle) && object->kind == kind;
}

bool pt_cu_handle_is_any(const void *handle)
{
    return find(handle);
}
