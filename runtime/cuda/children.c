#include "runtime/cuda/children.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/command.h"
#include "runtime/cuda/context_list.h"
#include "runtime/cuda/overlap.h"
#include "runtime/engine.h"

enum item_kind { OPERATION, RECORD, WAIT };

struct item {
    enum item_kind kind;
    struct pt_cu_child_place place;
    struct pt_cu_op op;
    uint64_t event;
    struct pt_cu_command *command; /* a record's: what the event stands for; NULL: for nothing */
};

struct errors {
    uint64_t block, thread;
    int error;
};

struct children {
    struct item *items; /* as they were asked for */
    size_t n, cap, next_tail;
    struct pt_cu_prepared *prepared;
    size_t n_prepared, cap_prepared;
    struct errors *errors;
    size_t n_errors, cap_errors;
    bool have_begun;
};

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool run_children(struct pt_cu_command *parent);

static struct children *children_of(struct pt_cu_command *parent)
{
    struct children *c = parent->more_ud;
    if (c || !(c = calloc(1, sizeof *c)))
        return c;
    parent->more_ud = c;
    parent->more = run_children;
    return c;
}

/* Room for one more. */
static bool grow(void **of, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return true;
    size_t more = *cap ? *cap * 2 : 16;
    void *grown = realloc(*of, more * bytes);
    if (!grown)
        return false;
    *of = grown;
    *cap = more;
    return true;
}

static bool add(struct pt_cu_command *parent, const struct item *item)
{
    struct children *c = children_of(parent);
    if (!c || !grow((void **)&c->items, c->n, &c->cap, sizeof *c->items))
        return false;
    c->items[c->n] = *item;
    struct pt_cu_child_place *p = &c->items[c->n++].place;
    if (p->stream == PT_CU_CHILD_LEGACY)
        p->stream = PT_CU_CHILD_BLOCK;
    if (p->stream != PT_CU_CHILD_THREAD)
        p->thread = 0;
    if (p->stream >= PT_CU_CHILD_STREAMS)
        p->block = 0;
    return true;
}

bool pt_cu_children_add(struct pt_cu_command *parent, const struct pt_cu_child_place *place,
                        const struct pt_cu_op *op)
{
    return add(parent, &(struct item){.kind = OPERATION, .place = *place, .op = *op});
}

bool pt_cu_children_record(struct pt_cu_command *parent, const struct pt_cu_child_place *place,
                           uint64_t event)
{
    return add(parent, &(struct item){.kind = RECORD, .place = *place, .event = event});
}

bool pt_cu_children_wait(struct pt_cu_command *parent, const struct pt_cu_child_place *place,
                         uint64_t event)
{
    return add(parent, &(struct item){.kind = WAIT, .place = *place, .event = event});
}

bool pt_cu_children_prepare(struct pt_cu_command *parent, const struct pt_cu_prepared *launch)
{
    struct children *c = children_of(parent);
    if (!c || !grow((void **)&c->prepared, c->n_prepared, &c->cap_prepared, sizeof *c->prepared))
        return false;
    c->prepared[c->n_prepared++] = *launch;
    return true;
}

bool pt_cu_children_take(struct pt_cu_command *parent, uint64_t parameters,
                         struct pt_cu_prepared *launch)
{
    struct children *c = parent->more_ud;
    size_t i = c ? c->n_prepared : 0;
    while (i && c->prepared[i - 1].parameters != parameters)
        i--;
    if (!i)
        return false;
    *launch = c->prepared[i - 1];
    c->prepared[i - 1] = c->prepared[--c->n_prepared];
    return true;
}

static struct errors *find_error(const struct pt_cu_command *parent, uint64_t block,
                                 uint64_t thread)
{
    const struct children *c = parent->more_ud;
    for (size_t i = c ? c->n_errors : 0; i; i--)
        if (c->errors[i - 1].block == block && c->errors[i - 1].thread == thread)
            return &c->errors[i - 1];
    return NULL;
}

int pt_cu_children_error(const struct pt_cu_command *parent, uint64_t block, uint64_t thread)
{
    const struct errors *e = find_error(parent, block, thread);
    return e ? e->error : 0;
}

bool pt_cu_children_set_error(struct pt_cu_command *parent, uint64_t block, uint64_t thread,
                              int error)
{
    struct errors *e = find_error(parent, block, thread);
    if (e || !error) {
        if (e)
            e->error = error;
        return true;
    }
    struct children *c = children_of(parent);
    if (!c || !grow((void **)&c->errors, c->n_errors, &c->cap_errors, sizeof *c->errors))
        return false;
    c->errors[c->n_errors++] = (struct errors){block, thread, error};
    return true;
}

/* ---- running it ------------------------------------------------------------------------------ */

static void drop(struct pt_cu_command *parent)
{
    struct children *c = parent->more_ud;
    for (size_t i = 0; i < c->n; i++) {
        pt_cu_op_drop(&c->items[i].op);
        pt_cu_command_put(c->items[i].command);
    }
    for (size_t i = 0; i < c->n_prepared; i++)
        pt_heap_free(&parent->ctx->engine->heap, c->prepared[i].parameters);
    free(c->items);
    free(c->prepared);
    free(c->errors);
    free(c);
    parent->more_ud = NULL;
}

/* Which command is a stream's last: a table of streams, a power of two of them. */
struct lasts {
    struct last {
        struct pt_cu_child_place place;
        struct pt_cu_command *command; /* NULL: the entry is free */
    } *of;
    size_t mask;
};

static struct last *last_of(const struct lasts *lasts, const struct pt_cu_child_place *p)
{
    uint64_t hash = (p->block * 0x9e3779b97f4a7c15u ^ p->thread) * 0x9e3779b97f4a7c15u ^ p->stream;
    hash *= 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 32) & lasts->mask;
    while (lasts->of[i].command && memcmp(&lasts->of[i].place, p, sizeof *p) != 0)
        i = (i + 1) & lasts->mask;
    lasts->of[i].place = *p;
    return &lasts->of[i];
}

/* What the event stands for that the item waits for. */
static struct pt_cu_command *recorded(const struct children *c, const struct item *wait)
{
    for (const struct item *i = wait; i-- > c->items;)
        if (i->kind == RECORD && i->event == wait->event)
            return i->command;
    return NULL;
}

/* A command behind another one (NULL: none) and, for an item that waits, behind the event. */
static struct pt_cu_command *begin(struct pt_cu_command *parent, struct item *item,
                                   struct pt_cu_command *last)
{
    struct pt_cu_op op = {.work = PT_CU_EMPTY};
    struct pt_cu_command *command =
        pt_cu_command_new(parent->ctx, item->kind == OPERATION ? &item->op : &op);
    if (!command)
        return NULL;
    item->op = op; /* was taken over */
    command->stream = parent->stream;
    command->correlation = parent->correlation;
    command->priority = parent->priority;
    command->launch = parent->launch;
    pt_cu_overlap_after(command, parent);
    bool ok = pt_cu_command_after(parent, command) && pt_cu_command_after(command, last) &&
              (item->kind != WAIT || pt_cu_command_after(command, recorded(parent->more_ud, item)));
    if (!ok)
        pt_cu_command_cancel(command);
    pt_cu_command_start_apart(command);
    if (ok)
        return command;
    pt_cu_command_put(command);
    return NULL;
}

static bool begin_in_stream(struct pt_cu_command *parent, struct item *item, struct last *last)
{
    if (item->kind == RECORD) {
        item->command = last->command ? pt_cu_command_ref(last->command) : NULL;
        return true;
    }
    bool is_ordered = item->place.stream != PT_CU_CHILD_FREE;
    struct pt_cu_command *command = begin(parent, item, is_ordered ? last->command : NULL);
    if (!command)
        return false;
    pt_cu_command_put(last->command);
    last->command = command;
    return true;
}

/* All but the tails. */
static bool begin_all(struct pt_cu_command *parent, struct children *c)
{
    struct lasts lasts = {.mask = 15};
    while (lasts.mask < c->n * 2)
        lasts.mask = lasts.mask * 2 + 1;
    lasts.of = calloc(lasts.mask + 1, sizeof *lasts.of);
    bool ok = lasts.of;
    for (size_t i = 0; ok && i < c->n; i++)
        if (c->items[i].place.stream != PT_CU_CHILD_TAIL)
            ok = begin_in_stream(parent, &c->items[i], last_of(&lasts, &c->items[i].place));
    for (size_t i = 0; lasts.of && i <= lasts.mask; i++)
        pt_cu_command_put(lasts.of[i].command);
    free(lasts.of);
    return ok;
}

/* The next tail; false: there is none, or no memory. */
static bool begin_tail(struct pt_cu_command *parent, struct children *c)
{
    while (c->next_tail < c->n && c->items[c->next_tail].place.stream != PT_CU_CHILD_TAIL)
        c->next_tail++;
    if (c->next_tail == c->n)
        return false;
    struct pt_cu_command *command = begin(parent, &c->items[c->next_tail++], NULL);
    if (!command)
        parent->failed = CUDA_ERROR_OUT_OF_MEMORY;
    pt_cu_command_put(command);
    return command;
}

static bool run_children(struct pt_cu_command *parent)
{
    struct children *c = parent->more_ud;
    bool goes_on = parent->ctx->error == CUDA_SUCCESS && parent->failed == CUDA_SUCCESS;
    if (goes_on && !c->have_begun) {
        c->have_begun = true;
        if (!begin_all(parent, c)) {
            parent->failed = CUDA_ERROR_OUT_OF_MEMORY;
            goes_on = false;
        }
    } else if (goes_on) {
        goes_on = begin_tail(parent, c);
    }
    if (!goes_on)
        drop(parent);
    return goes_on;
}
