/* Names and scopes of one module while it is parsed. */
#ifndef PTERA_FRONTEND_SCOPE_H
#define PTERA_FRONTEND_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"

enum pt_name_kind {
    PT_NAME_NONE,
    PT_NAME_REG,   /* index: register; count: components */
    PT_NAME_RANGE, /* %r<N>: index: first register; count: N */
    PT_NAME_SYM,
    PT_NAME_FUNC,
    PT_NAME_LABEL, /* index: label; is_pending until the label is met */
    PT_NAME_TABLE
};

/* What a name means from its declaration to the end of its scope. */
struct pt_binding {
    uint8_t kind;       /* enum pt_name_kind */
    uint8_t is_pending; /* a label used but not met yet */
    uint32_t depth;     /* of the scope: 0 the module, 1 parameters and body, 2… nested blocks */
    uint32_t index, count;
    uint32_t name;      /* the interned name */
    uint32_t outer;     /* binding it hides, or 0 */
    uint32_t line, col; /* of the declaration, or of the first use of a pending label */
};

/* An interned spelling. Ranges (x<4>) live beside the plain name x, as they do in NVIDIA's
 * assembler. */
struct pt_name {
    const char *text; /* NUL-terminated, in the arena */
    uint32_t len, hash;
    uint32_t binding, range; /* innermost bindings, or 0 */
};

struct pt_scopes {
    struct pt_arena *arena;
    PT_VEC(struct pt_name) names;       /* names.v[0] unused */
    PT_VEC(struct pt_binding) bindings; /* a stack; bindings.v[0] unused */
    PT_VEC(uint32_t) marks;             /* bindings.n at the start of each scope */
    uint32_t *slots;                    /* open addressing: indices into names */
    uint32_t n_slots;
    uint32_t depth;
};

void pt_scope_init(struct pt_scopes *s, struct pt_arena *arena);
/* The interned name of a spelling. */
uint32_t pt_scope_intern(struct pt_scopes *s, const char *text, uint32_t len);
/* The innermost binding of a plain name, or NULL. Valid until the next definition. */
struct pt_binding *pt_scope_find(struct pt_scopes *s, const char *text, uint32_t len);
/* The binding of a spelling such as %r12, and in *reg the register, if a register of that
 * spelling (plain or in a range) is the innermost meaning of the name. */
struct pt_binding *pt_scope_find_reg(struct pt_scopes *s, const char *text, uint32_t len,
                                     uint32_t *reg);
/* The binding of `name` in the current scope itself, or NULL. */
struct pt_binding *pt_scope_own(struct pt_scopes *s, uint32_t name);
/* Defines in the current scope; the caller has checked that there is none of that name. */
struct pt_binding *pt_scope_define(struct pt_scopes *s, uint32_t name, enum pt_name_kind kind,
                                   uint32_t index);
/* True if a range of `count` of that prefix would meet a name or a range of the current scope. */
bool pt_scope_range_clashes(struct pt_scopes *s, uint32_t prefix, uint32_t count);
/* True if the plain name is a member of a range of the current scope. */
bool pt_scope_in_own_range(struct pt_scopes *s, const char *text, uint32_t len);

void pt_scope_enter(struct pt_scopes *s);
/* Forgets the bindings of the current scope. visit sees each pending label in turn, with the
 * scope already left, and may define it outside; it may be NULL. */
void pt_scope_leave(struct pt_scopes *s, void (*visit)(void *ud, const struct pt_binding *pending),
                    void *ud);

#endif
