/* Names and scopes: one hash table of interned names, each with the stack of its meanings, so
 * that entering and leaving a scope costs only what was declared in it. */
#include "frontend/scope.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_SLOTS = 256, RANGE_DIGITS = 9 };

void pt_scope_init(struct pt_scopes *s, struct pt_arena *arena)
{
    memset(s, 0, sizeof *s);
    s->arena = arena;
    s->n_slots = FIRST_SLOTS;
    s->slots = pt_arena_alloc(arena, FIRST_SLOTS * sizeof *s->slots);
    (void)pt_vec_push(arena, &s->names);
    (void)pt_vec_push(arena, &s->bindings);
}

static uint32_t hash_text(const char *text, uint32_t len)
{
    uint64_t h = len;
    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)text[i]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) ^ (uint32_t)(h >> 15);
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *find_slot(const struct pt_scopes *s, const char *text, uint32_t len, uint32_t hash)
{
    for (uint32_t i = hash;; i++) {
        uint32_t *slot = &s->slots[i & (s->n_slots - 1)];
        const struct pt_name *n = &s->names.v[*slot];
        if (!*slot || (n->hash == hash && n->len == len && memcmp(n->text, text, len) == 0))
            return slot;
    }
}

static void grow_slots(struct pt_scopes *s)
{
    s->n_slots *= 2;
    s->slots = pt_arena_alloc(s->arena, (size_t)s->n_slots * sizeof *s->slots);
    for (uint32_t i = 1; i < s->names.n; i++)
        *find_slot(s, s->names.v[i].text, s->names.v[i].len, s->names.v[i].hash) = i;
}

uint32_t pt_scope_intern(struct pt_scopes *s, const char *text, uint32_t len)
{
    uint32_t hash = hash_text(text, len);
    uint32_t *slot = find_slot(s, text, len, hash);
    if (*slot)
        return *slot;
    uint32_t index = *slot = s->names.n;
    *pt_vec_push(s->arena, &s->names) =
        (struct pt_name){pt_arena_text(s->arena, text, len), len, hash, 0, 0};
    if (s->names.n > s->n_slots / 2)
        grow_slots(s);
    return index;
}

static struct pt_name *lookup(const struct pt_scopes *s, const char *text, uint32_t len)
{
    uint32_t slot = *find_slot(s, text, len, hash_text(text, len));
    return slot ? &s->names.v[slot] : NULL;
}

struct pt_binding *pt_scope_find(struct pt_scopes *s, const char *text, uint32_t len)
{
    struct pt_name *n = lookup(s, text, len);
    return n && n->binding ? &s->bindings.v[n->binding] : NULL;
}

/* Splits "%r12" into its prefix length and number. All digits at the end belong to the number,
 * and leading zeros do not matter: so NVIDIA's assembler reads it. False if there is no number,
 * or one no range can hold. */
static bool split_number(const char *text, uint32_t len, uint32_t *prefix, uint32_t *number)
{
    uint32_t n = len, v = 0;
    while (n > 1 && text[n - 1] >= '0' && text[n - 1] <= '9')
        n--;
    if (n == len || len - n > RANGE_DIGITS)
        return false;
    for (uint32_t i = n; i < len; i++)
        v = v * 10 + (uint32_t)(text[i] - '0');
    *prefix = n;
    *number = v;
    return true;
}

struct pt_binding *pt_scope_find_reg(struct pt_scopes *s, const char *text, uint32_t len,
                                     uint32_t *reg)
{
    uint32_t prefix, number;
    struct pt_name *n = lookup(s, text, len);
    struct pt_binding *b = n && n->binding ? &s->bindings.v[n->binding] : NULL;
    if (split_number(text, len, &prefix, &number)) {
        n = lookup(s, text, prefix);
        struct pt_binding *r = n && n->range ? &s->bindings.v[n->range] : NULL;
        while (r && number >= r->count)
            r = r->outer ? &s->bindings.v[r->outer] : NULL;
        if (r && (!b || r->depth > b->depth || b->kind == PT_NAME_LABEL)) {
            *reg = r->index + number;
            return r;
        }
    }
    if (!b || b->kind != PT_NAME_REG)
        return NULL;
    *reg = b->index;
    return b;
}

struct pt_binding *pt_scope_own(struct pt_scopes *s, uint32_t name)
{
    uint32_t b = s->names.v[name].binding;
    return b && s->bindings.v[b].depth == s->depth ? &s->bindings.v[b] : NULL;
}

struct pt_binding *pt_scope_define(struct pt_scopes *s, uint32_t name, enum pt_name_kind kind,
                                   uint32_t index)
{
    struct pt_name *n = &s->names.v[name];
    uint32_t *head = kind == PT_NAME_RANGE ? &n->range : &n->binding;
    struct pt_binding *b = pt_vec_push(s->arena, &s->bindings);
    *b = (struct pt_binding){.kind = (uint8_t)kind,
                             .depth = s->depth,
                             .index = index,
                             .count = 1,
                             .name = name,
                             .outer = *head};
    *head = s->bindings.n - 1;
    return b;
}

bool pt_scope_in_own_range(struct pt_scopes *s, const char *text, uint32_t len)
{
    uint32_t prefix, number;
    if (!split_number(text, len, &prefix, &number))
        return false;
    const struct pt_name *n = lookup(s, text, prefix);
    const struct pt_binding *r = n && n->range ? &s->bindings.v[n->range] : NULL;
    return r && r->depth == s->depth && number < r->count;
}

/* A member of the range that is declared on its own in the current scope, asked name by name. */
static bool has_own_member(struct pt_scopes *s, const struct pt_name *prefix, uint32_t count)
{
    enum { LONGEST = 256 };
    char name[LONGEST + RANGE_DIGITS + 2];
    if (prefix->len > LONGEST)
        return false;
    memcpy(name, prefix->text, prefix->len);
    for (uint32_t i = 0; i < count; i++) {
        int digits = snprintf(name + prefix->len, RANGE_DIGITS + 2, "%u", i);
        const struct pt_binding *b = pt_scope_find(s, name, prefix->len + (uint32_t)digits);
        if (b && b->depth == s->depth && b->kind != PT_NAME_LABEL)
            return true;
    }
    return false;
}

static bool is_member(const struct pt_scopes *s, const struct pt_binding *b,
                      const struct pt_name *prefix, uint32_t count)
{
    const struct pt_name *n = &s->names.v[b->name];
    uint32_t len, number;
    return b->kind != PT_NAME_RANGE && b->kind != PT_NAME_LABEL &&
           split_number(n->text, n->len, &len, &number) && number < count && len == prefix->len &&
           memcmp(n->text, prefix->text, len) == 0;
}

bool pt_scope_range_clashes(struct pt_scopes *s, uint32_t prefix, uint32_t count)
{
    const struct pt_name *p = &s->names.v[prefix];
    if (p->range && s->bindings.v[p->range].depth == s->depth)
        return true;
    uint32_t first = s->marks.n ? s->marks.v[s->marks.n - 1] : 1;
    if (count < s->bindings.n - first)
        return has_own_member(s, p, count);
    for (uint32_t i = first; i < s->bindings.n; i++)
        if (is_member(s, &s->bindings.v[i], p, count))
            return true;
    return false;
}

void pt_scope_enter(struct pt_scopes *s)
{
    *pt_vec_push(s->arena, &s->marks) = s->bindings.n;
    s->depth++;
}

void pt_scope_leave(struct pt_scopes *s, void (*visit)(void *ud, const struct pt_binding *pending),
                    void *ud)
{
    uint32_t first = s->marks.v[--s->marks.n], end = s->bindings.n, kept = first;
    for (uint32_t i = end; i-- > first;) {
        struct pt_binding *b = &s->bindings.v[i];
        struct pt_name *n = &s->names.v[b->name];
        *(b->kind == PT_NAME_RANGE ? &n->range : &n->binding) = b->outer;
    }
    s->depth--;
    for (uint32_t i = first; i < end; i++)
        if (s->bindings.v[i].is_pending)
            s->bindings.v[kept++] = s->bindings.v[i];
    /* Each visit adds at most one binding, in a place whose old one has been read already. */
    s->bindings.n = first;
    for (uint32_t i = first; visit && i < kept; i++) {
        struct pt_binding pending = s->bindings.v[i];
        visit(ud, &pending);
    }
}
