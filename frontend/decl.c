/* What declarations have in common: what stands before the names, names, dimensions. */
#include "frontend/decl.h"

#include "frontend/constexpr.h"

static const struct {
    const char *word;
    enum pt_space space;
} spaces[] = {
    {"reg", PT_SPACE_REG},       {"global", PT_SPACE_GLOBAL}, {"const", PT_SPACE_CONST},
    {"shared", PT_SPACE_SHARED}, {"local", PT_SPACE_LOCAL},   {"param", PT_SPACE_PARAM},
    {"tex", PT_SPACE_TEX},
};

static bool find_space(const struct pt_parser *p, enum pt_space *space)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (pt_token_is_dot(p, spaces[i].word)) {
            *space = spaces[i].space;
            return true;
        }
    }
    return false;
}

bool pt_decl_starts(const struct pt_parser *p)
{
    enum pt_space space;
    return pt_token_is_dot(p, "align") || find_space(p, &space);
}

static bool find_type(const struct pt_parser *p, enum pt_type *type)
{
    for (int i = 1; i < PT_TYPE_COUNT; i++) {
        if (pt_token_is_dot(p, pt_type_name((enum pt_type)i))) {
            *type = (enum pt_type)i;
            return true;
        }
    }
    return false;
}

/* .align N */
static bool read_align(struct pt_parser *p, uint32_t *align)
{
    pt_token_advance(p);
    struct pt_token at = p->tok;
    if (!pt_token_u32(p, align))
        return false;
    if (!*align || *align & (*align - 1))
        return pt_token_error(p, &at, "the alignment must be a power of two");
    return true;
}

/* .managed or .unified(a, b) */
static bool read_one_attribute(struct pt_parser *p, bool *is_managed)
{
    struct pt_token at = p->tok;
    if (pt_token_accept_dot(p, "managed")) {
        *is_managed = true;
        return pt_token_needs(p, &at, 40, 30, ".attribute(.managed)");
    }
    if (!pt_token_accept_dot(p, "unified"))
        return pt_token_unexpected(p, "'.managed' or '.unified'");
    if (!pt_token_needs(p, &at, 80, 90, ".attribute(.unified)") || !pt_token_expect(p, '('))
        return false;
    struct pt_const half;
    return pt_constexpr_parse(p, &half) && pt_token_expect(p, ',') &&
           pt_constexpr_parse(p, &half) && pt_token_expect(p, ')');
}

bool pt_decl_attribute(struct pt_parser *p, bool *is_managed)
{
    if (!pt_token_expect(p, '('))
        return false;
    do {
        if (!read_one_attribute(p, is_managed))
            return false;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ')');
}

static bool read_align_and_attributes(struct pt_parser *p, struct pt_decl *d)
{
    for (;;) {
        if (pt_token_is_dot(p, "align")) {
            if (!read_align(p, &d->align))
                return false;
        } else if (pt_token_accept_dot(p, "attribute")) {
            if (!pt_decl_attribute(p, &d->is_managed))
                return false;
        } else {
            return true;
        }
    }
}

/* [.vN] .type */
static bool read_type(struct pt_parser *p, struct pt_decl *d)
{
    struct pt_token at = p->tok;
    d->vec = 1;
    if (pt_token_accept_dot(p, "v2"))
        d->vec = 2;
    else if (pt_token_accept_dot(p, "v4"))
        d->vec = 4;
    d->type_tok = p->tok;
    if (!find_type(p, &d->type))
        return pt_token_unexpected(p, "a type");
    pt_token_advance(p);
    enum pt_type_class class = pt_type_class(d->type);
    if (class == PT_CLASS_N || class == PT_CLASS_I || d->type == PT_bf16 || d->type == PT_bf16x2 ||
        d->type == PT_f32x2)
        return pt_token_error(
            p, &d->type_tok, "'%.*s' is a type of instructions only; declare a .b type of its size",
            PT_TOKEN_ARGS(&d->type_tok));
    if (d->vec > 1 && (class == PT_CLASS_P || class == PT_CLASS_O))
        return pt_token_error(p, &at, "'%.*s' has no vectors", PT_TOKEN_ARGS(&d->type_tok));
    if (d->vec * pt_type_bits(d->type) > 128 && class != PT_CLASS_O)
        return pt_token_error(p, &at, "a vector variable has at most 128 bits");
    return true;
}

bool pt_decl_read_suffix(struct pt_parser *p, struct pt_decl *d)
{
    if (pt_token_is_dot(p, "align"))
        return read_align(p, &d->align);
    struct pt_token at = p->tok;
    if (!pt_token_accept_dot(p, "ptr"))
        return true;
    if (!pt_token_needs(p, &at, 22, 0, ".ptr"))
        return false;
    d->is_ptr = true;
    if (find_space(p, &d->ptr_space)) {
        if (d->ptr_space == PT_SPACE_REG || d->ptr_space == PT_SPACE_PARAM ||
            d->ptr_space == PT_SPACE_TEX)
            return pt_token_unexpected(p, "'.global', '.const', '.shared' or '.local'");
        pt_token_advance(p);
    }
    return !pt_token_is_dot(p, "align") || read_align(p, &d->ptr_align);
}

bool pt_decl_read(struct pt_parser *p, struct pt_decl *d)
{
    if (!read_align_and_attributes(p, d))
        return false;
    d->space_tok = p->tok;
    if (!find_space(p, &d->space))
        return pt_token_unexpected(p, "a state space");
    pt_token_advance(p);
    return read_align_and_attributes(p, d) && read_type(p, d);
}

static bool is_vector_or_packed(const struct pt_decl *d)
{
    return d->vec > 1 || pt_type_class(d->type) == PT_CLASS_H;
}

bool pt_decl_check(struct pt_parser *p, const struct pt_decl *d)
{
    const struct pt_token *at = &d->type_tok;
    if (d->type == PT_pred && d->space != PT_SPACE_REG)
        return pt_token_error(p, at, "a predicate must be in '.reg'");
    if (d->type == PT_b128 && !pt_token_needs(p, at, 83, 70, ".b128"))
        return false;
    if (d->type == PT_f16x2 && !pt_token_needs(p, at, 42, 53, ".f16x2"))
        return false;
    if (d->space == PT_SPACE_PARAM && is_vector_or_packed(d))
        return pt_token_error(p, at, "a parameter cannot be a vector or of packed type");
    if (d->is_managed && d->space != PT_SPACE_GLOBAL)
        return pt_token_error(p, &d->space_tok, "'.managed' variables must be in '.global'");
    return true;
}

bool pt_decl_check_opaque(struct pt_parser *p, const struct pt_decl *d)
{
    if (pt_type_class(d->type) != PT_CLASS_O)
        return true;
    if (d->space != PT_SPACE_GLOBAL && !(d->space == PT_SPACE_PARAM && p->func))
        return pt_token_error(
            p, &d->space_tok,
            "textures, samplers and surfaces must be in '.global' or kernel parameters");
    if (d->type == PT_samplerref && !p->m->texmode_independent)
        return pt_token_error(p, &d->type_tok,
                              "'.samplerref' needs .target option texmode_independent");
    return pt_token_needs(p, &d->type_tok, 15, 0, pt_type_name(d->type));
}

/* ---- names ----------------------------------------------------------------------------------- */

bool pt_decl_report_twice(struct pt_parser *p, const struct pt_token *at, uint32_t first_line)
{
    return pt_token_error(p, at, "'%.*s' is already declared on %s", PT_TOKEN_ARGS(at),
                          pt_token_line(p, first_line));
}

bool pt_decl_name(struct pt_parser *p, const struct pt_token *at, uint32_t *name)
{
    *name = pt_scope_intern(&p->scopes, at->text, at->len);
    const struct pt_binding *old = pt_scope_own(&p->scopes, *name);
    if (old)
        return pt_decl_report_twice(p, at, old->line);
    if (p->scopes.depth && pt_scope_in_own_range(&p->scopes, at->text, at->len))
        return pt_token_error(p, at, "'%.*s' is already a member of a register range",
                              PT_TOKEN_ARGS(at));
    return true;
}

struct pt_binding *pt_decl_define(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                                  enum pt_name_kind kind, uint32_t index)
{
    struct pt_binding *b = pt_scope_define(&p->scopes, name, kind, index);
    b->line = at->line;
    b->col = at->col;
    return b;
}

/* ---- symbols --------------------------------------------------------------------------------- */

bool pt_decl_read_dims(struct pt_parser *p, struct pt_decl_shape *s)
{
    while (pt_token_accept(p, '[')) {
        struct pt_token at = p->tok;
        uint64_t n = 0;
        if (s->n == PT_DECL_DIMS)
            return pt_token_error(p, &at, "an array has at most %d dimensions", PT_DECL_DIMS);
        if (!pt_token_is(p, ']')) {
            if (at.kind == PT_TOK_INT)
                n = at.value;
            else if (at.kind == PT_TOK_NAME && pt_constexpr_starts(&p->tok))
                n = 32;
            else
                return pt_token_unexpected(p, "the number of elements");
            pt_token_advance(p);
        } else if (s->n) {
            return pt_token_error(p, &at, "only the first dimension may be left out");
        }
        if (!pt_token_expect(p, ']'))
            return false;
        s->dims[s->n++] = n;
    }
    return true;
}

bool pt_decl_size(const struct pt_decl *d, const struct pt_decl_shape *s, uint64_t *size)
{
    uint64_t n = (uint64_t)d->vec * pt_type_bytes(d->type);
    for (uint32_t i = 0; i < s->n; i++)
        if (__builtin_mul_overflow(n, s->dims[i], &n) || n > (uint64_t)1 << 47)
            return false;
    *size = n;
    return true;
}

static uint32_t natural_align(const struct pt_decl *d)
{
    uint32_t n = d->vec * pt_type_bytes(d->type);
    return n ? n : 1;
}

struct pt_symbol pt_decl_make_symbol(const struct pt_parser *p, const struct pt_token *at,
                                     const char *name, const struct pt_decl *d)
{
    uint32_t natural = natural_align(d);
    return (struct pt_symbol){.name = name,
                              .space = (uint8_t)d->space,
                              .type = (uint8_t)d->type,
                              .linkage = (uint8_t)d->linkage,
                              .vec = d->vec,
                              .is_managed = d->is_managed,
                              .ptr_space = (uint8_t)d->ptr_space,
                              .ptr_align = d->ptr_align,
                              .align = d->align > natural ? d->align : natural,
                              .func = p->func,
                              .line = at->line};
}

uint32_t pt_decl_add_symbol(struct pt_parser *p, const struct pt_symbol *sym)
{
    *pt_vec_push(&p->m->arena, &p->m->symbols) = *sym;
    return p->m->symbols.n - 1;
}
