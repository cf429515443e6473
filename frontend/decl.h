/* What declarations have in common: what stands before the names, names, dimensions. */
#ifndef PTERA_FRONTEND_DECL_H
#define PTERA_FRONTEND_DECL_H

#include "frontend/token.h"

/* What stands before the names of a declaration. */
struct pt_decl {
    enum pt_linkage linkage;
    enum pt_space space;
    enum pt_type type;
    uint8_t vec;
    bool is_managed, is_ptr, is_tex; /* is_tex: the .tex space of PTX 1.x */
    enum pt_space ptr_space;
    uint32_t align, ptr_align;
    struct pt_token space_tok, type_tok;
};

enum { PT_DECL_DIMS = 16 };

struct pt_decl_shape {
    uint64_t dims[PT_DECL_DIMS];
    uint32_t n;
};

/* Does the current token start a declaration? */
bool pt_decl_starts(const struct pt_parser *p);

/* The rest of .attribute( … ) */
bool pt_decl_attribute(struct pt_parser *p, bool *is_managed);

/* Everything before the names. */
bool pt_decl_read(struct pt_parser *p, struct pt_decl *d);

/* .ptr [.space] [.align N], and the .align that parameters may have here too. */
bool pt_decl_read_suffix(struct pt_parser *p, struct pt_decl *d);

/* What NVIDIA's assembler asks of type and space, wherever the declaration stands. */
bool pt_decl_check(struct pt_parser *p, const struct pt_decl *d);

/* What it asks of textures, samplers and surfaces. */
bool pt_decl_check_opaque(struct pt_parser *p, const struct pt_decl *d);

bool pt_decl_report_twice(struct pt_parser *p, const struct pt_token *at, uint32_t first_line);

/* Interns the name of a new declaration; false if the current scope has one. */
bool pt_decl_name(struct pt_parser *p, const struct pt_token *at, uint32_t *name);

/* Gives the name its meaning in the current scope. */
struct pt_binding *pt_decl_define(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                                  enum pt_name_kind kind, uint32_t index);

/* [N]… : only the first may be empty. */
bool pt_decl_read_dims(struct pt_parser *p, struct pt_decl_shape *s);

/* Size in bytes; 0 where a dimension is. False if it is too large. */
bool pt_decl_size(const struct pt_decl *d, const struct pt_decl_shape *s, uint64_t *size);

struct pt_symbol pt_decl_make_symbol(const struct pt_parser *p, const struct pt_token *at,
                                     const char *name, const struct pt_decl *d);
uint32_t pt_decl_add_symbol(struct pt_parser *p, const struct pt_symbol *sym);

static inline bool pt_decl_is_opaque(const struct pt_decl *d)
{
    return pt_type_class(d->type) == PT_CLASS_O;
}

/* _ */
static inline bool pt_decl_is_blank(const struct pt_token *t)
{
    return t->kind == PT_TOK_NAME && t->len == 1 && *t->text == '_';
}

#endif
