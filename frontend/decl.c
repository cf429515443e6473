/* Declarations: variables of every state space, parameters, registers. */
#include "frontend/decl.h"

#include <stdio.h>
#include <string.h>

#include "frontend/constexpr.h"
#include "frontend/init.h"
#include "frontend/link.h"
#include "ir/layout.h"

enum { MAX_DIMS = 16 };

/* What stands before the names of a declaration. */
struct prefix {
    enum pt_linkage linkage;
    enum pt_space space;
    enum pt_type type;
    uint8_t vec;
    bool is_managed, is_ptr, is_tex; /* is_tex: the .tex space of PTX 1.x */
    enum pt_space ptr_space;
    uint32_t align, ptr_align;
    struct pt_token space_tok, type_tok;
};

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

static bool read_align_and_attributes(struct pt_parser *p, struct prefix *d)
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
static bool read_type(struct pt_parser *p, struct prefix *d)
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

/* .ptr [.space] [.align N], and the .align that parameters may have here too. */
static bool read_parameter_suffix(struct pt_parser *p, struct prefix *d)
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

/* Everything before the names. */
static bool read_prefix(struct pt_parser *p, struct prefix *d)
{
    if (!read_align_and_attributes(p, d))
        return false;
    d->space_tok = p->tok;
    if (!find_space(p, &d->space))
        return pt_token_unexpected(p, "a state space");
    pt_token_advance(p);
    return read_align_and_attributes(p, d) && read_type(p, d);
}

static bool is_vector_or_packed(const struct prefix *d)
{
    return d->vec > 1 || pt_type_class(d->type) == PT_CLASS_H;
}

/* What NVIDIA's assembler asks of type and space, wherever the declaration stands. */
static bool check_prefix(struct pt_parser *p, const struct prefix *d)
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

static bool check_opaque(struct pt_parser *p, const struct prefix *d)
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

/* Space and linkage of a variable at module scope. */
static bool check_module_scope(struct pt_parser *p, const struct prefix *d)
{
    if (d->space == PT_SPACE_REG || d->space == PT_SPACE_LOCAL || d->space == PT_SPACE_PARAM)
        return pt_token_error(p, &d->space_tok, "'%.*s' variables must be declared in a function",
                              PT_TOKEN_ARGS(&d->space_tok));
    if (d->space == PT_SPACE_TEX) {
        if (d->type != PT_u32 && d->type != PT_u64)
            return pt_token_error(p, &d->type_tok, "a '.tex' variable must be .u32 or .u64");
        if (p->m->ptx >= 15)
            return pt_token_error(
                p, &d->space_tok,
                "'.tex' variables ended with .version 1.4; use '.global .texref'");
    }
    if (d->linkage == PT_LINK_COMMON && d->space != PT_SPACE_GLOBAL)
        return pt_token_error(p, &d->space_tok, "'.common' variables must be in '.global'");
    return true;
}

static bool is_blank(const struct pt_token *t)
{
    return t->kind == PT_TOK_NAME && t->len == 1 && *t->text == '_';
}

/* ---- registers ------------------------------------------------------------------------------- */

static bool take_registers(struct pt_parser *p, const struct pt_token *at, uint64_t count,
                           uint32_t *first)
{
    struct pt_func *f = pt_token_func(p);
    if (!f->regs.n)
        (void)pt_vec_push(&p->m->arena, &f->regs);
    if (count > PT_MAX_REGS || f->regs.n + count > PT_MAX_REGS ||
        p->n_regs + count > 4 * PT_MAX_REGS)
        return pt_token_error(p, at, "too many registers (at most %d in a function)", PT_MAX_REGS);
    *first = f->regs.n;
    p->n_regs += (uint32_t)count;
    if (count)
        (void)pt_vec_extend(&p->m->arena, &f->regs, (uint32_t)count);
    return true;
}

static void set_register(struct pt_parser *p, uint32_t reg, const char *name, uint32_t base,
                         enum pt_type type, bool is_range)
{
    struct pt_reg *r = &pt_token_func(p)->regs.v[reg];
    r->name = name;
    r->base = base;
    r->type = (uint8_t)type;
    r->is_range = is_range;
}

/* The components of a vector register are registers of their own: v.x v.y v.z v.w. */
static bool add_vector(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                       const struct prefix *d, uint32_t *first)
{
    if (!take_registers(p, at, d->vec, first))
        return false;
    const struct pt_name *n = &p->scopes.names.v[name];
    for (uint32_t i = 0; i < d->vec; i++) {
        char *text = pt_arena_alloc(&p->m->arena, n->len + 3);
        memcpy(text, n->text, n->len);
        text[n->len] = '.';
        text[n->len + 1] = "xyzw"[i];
        set_register(p, *first + i, text, *first + i, d->type, false);
    }
    return true;
}

static bool add_register(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                         const struct prefix *d, uint32_t *reg)
{
    if (d->vec > 1)
        return add_vector(p, at, name, d, reg);
    if (!take_registers(p, at, 1, reg))
        return false;
    set_register(p, *reg, p->scopes.names.v[name].text, *reg, d->type, false);
    return true;
}

static bool report_twice(struct pt_parser *p, const struct pt_token *at, uint32_t first_line)
{
    return pt_token_error(p, at, "'%.*s' is already declared on %s", PT_TOKEN_ARGS(at),
                          pt_token_line(p, first_line));
}

/* Interns the name of a new declaration; false if the current scope has one. */
static bool new_name(struct pt_parser *p, const struct pt_token *at, uint32_t *name)
{
    *name = pt_scope_intern(&p->scopes, at->text, at->len);
    const struct pt_binding *old = pt_scope_own(&p->scopes, *name);
    if (old)
        return report_twice(p, at, old->line);
    if (p->scopes.depth && pt_scope_in_own_range(&p->scopes, at->text, at->len))
        return pt_token_error(p, at, "'%.*s' is already a member of a register range",
                              PT_TOKEN_ARGS(at));
    return true;
}

static struct pt_binding *define(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                                 enum pt_name_kind kind, uint32_t index)
{
    struct pt_binding *b = pt_scope_define(&p->scopes, name, kind, index);
    b->line = at->line;
    b->col = at->col;
    return b;
}

/* %v<N> of vectors: N plain vector registers. */
static bool add_vector_range(struct pt_parser *p, const struct pt_token *at, const struct prefix *d,
                             uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[128];
        uint32_t reg;
        int len = snprintf(text, sizeof text, "%.*s%u", PT_TOKEN_ARGS(at), i);
        uint32_t name = pt_scope_intern(&p->scopes, text, (uint32_t)len);
        const struct pt_binding *old = pt_scope_own(&p->scopes, name);
        if (old)
            return report_twice(p, at, old->line);
        if (!add_vector(p, at, name, d, &reg))
            return false;
        define(p, at, name, PT_NAME_REG, reg)->count = d->vec;
    }
    return true;
}

static bool add_range(struct pt_parser *p, const struct pt_token *at, const struct prefix *d,
                      uint32_t count)
{
    if (d->vec > 1)
        return add_vector_range(p, at, d, count);
    uint32_t prefix = pt_scope_intern(&p->scopes, at->text, at->len), first;
    if (count <= PT_MAX_REGS && pt_scope_range_clashes(&p->scopes, prefix, count))
        return pt_token_error(p, at, "a register of '%.*s<%u>' is already declared",
                              PT_TOKEN_ARGS(at), count);
    if (!take_registers(p, at, count, &first))
        return false;
    for (uint32_t i = 0; i < count; i++)
        set_register(p, first + i, i ? NULL : p->scopes.names.v[prefix].text, first, d->type, true);
    define(p, at, prefix, PT_NAME_RANGE, first)->count = count;
    return true;
}

/* name or name<N> of a .reg declaration. */
static bool read_register(struct pt_parser *p, const struct prefix *d)
{
    struct pt_token at = p->tok;
    uint32_t name, count, reg;
    pt_token_advance(p);
    if (pt_token_accept(p, '<'))
        return pt_token_u32(p, &count) && pt_token_expect(p, '>') && add_range(p, &at, d, count);
    if (pt_token_is(p, '['))
        return pt_token_error(p, &at, "a register cannot be an array");
    if (pt_token_is(p, '='))
        return pt_token_error(p, &p->tok, "a register cannot have an initial value");
    if (!new_name(p, &at, &name) || !add_register(p, &at, name, d, &reg))
        return false;
    define(p, &at, name, PT_NAME_REG, reg)->count = d->vec;
    return true;
}

/* ---- variables ------------------------------------------------------------------------------- */

struct shape {
    uint64_t dims[MAX_DIMS];
    uint32_t n;
};

/* [N]… : only the first may be empty. */
static bool read_dims(struct pt_parser *p, struct shape *s)
{
    while (pt_token_accept(p, '[')) {
        struct pt_token at = p->tok;
        uint64_t n = 0;
        if (s->n == MAX_DIMS)
            return pt_token_error(p, &at, "an array has at most %d dimensions", MAX_DIMS);
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

/* Size in bytes; 0 where a dimension is. False if it is too large. */
static bool size_of(const struct prefix *d, const struct shape *s, uint64_t *size)
{
    uint64_t n = (uint64_t)d->vec * pt_type_bytes(d->type);
    for (uint32_t i = 0; i < s->n; i++)
        if (__builtin_mul_overflow(n, s->dims[i], &n) || n > (uint64_t)1 << 47)
            return false;
    *size = n;
    return true;
}

static uint32_t natural_align(const struct prefix *d)
{
    uint32_t n = d->vec * pt_type_bytes(d->type);
    return n ? n : 1;
}

static struct pt_symbol make_symbol(const struct pt_parser *p, const struct pt_token *at,
                                    const char *name, const struct prefix *d)
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

static uint32_t add_symbol(struct pt_parser *p, const struct pt_symbol *sym)
{
    *pt_vec_push(&p->m->arena, &p->m->symbols) = *sym;
    return p->m->symbols.n - 1;
}

/* Two declarations of one module variable, of which at least one is .extern. */
static bool merge(struct pt_parser *p, const struct pt_token *at, struct pt_symbol *old,
                  const struct prefix *d, const struct pt_symbol *now)
{
    bool old_extern = old->linkage == PT_LINK_EXTERN, new_extern = d->linkage == PT_LINK_EXTERN;
    if (!old_extern && !new_extern)
        return report_twice(p, at, old->line);
    if ((old_extern && d->linkage == PT_LINK_LOCAL) ||
        (new_extern && old->linkage == PT_LINK_LOCAL))
        return pt_token_error(
            p, at, "'%.*s' is '.extern' in one declaration and has no linkage in the other",
            PT_TOKEN_ARGS(at));
    if (old->space != now->space || old->type != now->type || old->vec != now->vec ||
        old->is_array != now->is_array || (old->size && now->size && old->size != now->size))
        return pt_token_error(p, at, "'%.*s' was declared differently on %s", PT_TOKEN_ARGS(at),
                              pt_token_line(p, old->line));
    if (old->align < now->align)
        old->align = now->align;
    if (!new_extern)
        old->linkage = now->linkage;
    if (now->size) {
        old->size = now->size;
        old->is_unsized = 0;
    }
    if (!new_extern) {
        old->init = now->init;
        old->init_size = now->init_size;
        old->relocs.v = now->relocs.v;
        old->relocs.n = now->relocs.n;
        old->relocs.cap = now->relocs.cap;
    }
    return true;
}

static bool is_opaque(const struct prefix *d)
{
    return pt_type_class(d->type) == PT_CLASS_O;
}

/* = …, if it is there. */
static bool read_initialiser(struct pt_parser *p, const struct pt_token *at, const struct prefix *d,
                             struct shape *s, struct pt_symbol *sym)
{
    struct pt_token eq = p->tok;
    if (!pt_token_accept(p, '='))
        return true;
    if (d->space != PT_SPACE_GLOBAL && d->space != PT_SPACE_CONST)
        return pt_token_error(p, &eq, "a variable in '%.*s' cannot have an initial value",
                              PT_TOKEN_ARGS(&d->space_tok));
    if (d->linkage == PT_LINK_EXTERN)
        return pt_token_error(p, &eq, "'.extern' variable '%.*s' cannot have an initial value",
                              PT_TOKEN_ARGS(at));
    return is_opaque(d) ? pt_init_opaque(p, d->type) : pt_init_parse(p, sym, s->dims, s->n);
}

static bool finish_variable(struct pt_parser *p, const struct pt_token *at, const struct prefix *d,
                            struct shape *s, struct pt_symbol *sym)
{
    if (!read_initialiser(p, at, d, s, sym))
        return false;
    if (!size_of(d, s, &sym->size))
        return pt_token_error(p, at, "'%.*s' is too large", PT_TOKEN_ARGS(at));
    sym->is_unsized = s->n > 0 && !s->dims[0];
    if (sym->is_unsized && d->linkage != PT_LINK_EXTERN)
        return pt_token_error(p, at, "the number of elements of '%.*s' is missing",
                              PT_TOKEN_ARGS(at));
    return true;
}

static void add_variable(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                         const struct pt_symbol *sym)
{
    uint32_t index = add_symbol(p, sym);
    define(p, at, name, PT_NAME_SYM, index);
    if (p->func)
        *pt_vec_push(&p->m->arena, &pt_token_func(p)->locals) = index;
}

/* name<N>: N variables. */
static bool read_variables_of_range(struct pt_parser *p, const struct pt_token *at,
                                    const struct prefix *d)
{
    uint32_t count, name;
    struct shape s = {0};
    if (!pt_token_u32(p, &count) || !pt_token_expect(p, '>'))
        return false;
    if (count > PT_MAX_RANGED - p->n_ranged)
        return pt_token_error(p, at, "too many variables (at most %d in ranges)", PT_MAX_RANGED);
    p->n_ranged += count;
    for (uint32_t i = 0; i < count; i++) {
        char text[128];
        struct pt_token member = *at;
        member.len = (uint32_t)snprintf(text, sizeof text, "%.*s%u", PT_TOKEN_ARGS(at), i);
        member.text = text;
        if (!new_name(p, &member, &name))
            return false;
        struct pt_symbol sym = make_symbol(p, at, p->scopes.names.v[name].text, d);
        size_of(d, &s, &sym.size);
        add_variable(p, at, name, &sym);
    }
    return true;
}

/* name [dims] [= init]. The initialiser is read before the name is known: a variable's own
 * address cannot be in it. */
static bool read_variable(struct pt_parser *p, const struct prefix *d)
{
    struct pt_token at = p->tok;
    struct shape s = {0};
    uint32_t linked = PT_NONE;
    pt_token_advance(p);
    if (pt_token_accept(p, '<'))
        return read_variables_of_range(p, &at, d);
    if (!read_dims(p, &s))
        return false;
    uint32_t name = pt_scope_intern(&p->scopes, at.text, at.len);
    const struct pt_binding *b = pt_scope_own(&p->scopes, name);
    uint32_t old = b && !p->func && b->kind == PT_NAME_SYM ? b->index : 0;
    bool is_linked = !p->func && d->linkage != PT_LINK_LOCAL;
    if (!old && !new_name(p, &at, &name))
        return false;
    struct pt_symbol sym = make_symbol(p, &at, p->scopes.names.v[name].text, d);
    sym.is_array = s.n > 0;
    if (!finish_variable(p, &at, d, &s, &sym))
        return false;
    if (old && !pt_token_is_elsewhere(p, p->m->symbols.v[old].line))
        return merge(p, &at, &p->m->symbols.v[old], d, &sym);
    if (is_linked && !pt_link_variable(p, &at, &sym, &linked))
        return false;
    if (linked && !old)
        define(p, &at, name, PT_NAME_SYM, linked);
    if (!linked)
        add_variable(p, &at, name, &sym);
    return true;
}

bool pt_decl_variables(struct pt_parser *p, enum pt_linkage linkage,
                       const struct pt_token *linkage_tok)
{
    struct prefix d = {.linkage = linkage};
    if (!read_prefix(p, &d) || !check_prefix(p, &d) || !(p->func || check_module_scope(p, &d)))
        return false;
    if (p->func && linkage != PT_LINK_LOCAL)
        return pt_token_error(p, linkage_tok, "'%.*s' is not allowed in a function",
                              PT_TOKEN_ARGS(linkage_tok));
    if (p->func && (is_opaque(&d) || d.space == PT_SPACE_TEX))
        return pt_token_error(p, &d.type_tok,
                              "textures, samplers and surfaces cannot be declared in a function");
    if (!check_opaque(p, &d))
        return false;
    if (pt_token_accept(p, ';')) /* ".reg .u32;" declares nothing, and is accepted */
        return true;
    do {
        if (p->tok.kind != PT_TOK_NAME || is_blank(&p->tok) || pt_constexpr_starts(&p->tok))
            return pt_token_unexpected(p, "a name");
        if (!(d.space == PT_SPACE_REG ? read_register(p, &d) : read_variable(p, &d)))
            return false;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ';');
}

/* ---- parameters ------------------------------------------------------------------------------ */

struct list {
    uint32_t func;
    bool is_entry, is_result, is_prototype;
};

static bool check_parameter(struct pt_parser *p, const struct list *l, const struct prefix *d)
{
    const struct pt_func *f = &p->m->funcs.v[l->func];
    uint32_t before = l->is_result ? f->results.n : f->params.n;
    if (d->space != PT_SPACE_PARAM && d->space != PT_SPACE_REG)
        return pt_token_error(p, &d->space_tok, "a parameter must be in '.param' or '.reg'");
    if (l->is_entry && d->space == PT_SPACE_REG)
        return pt_token_error(p, &d->space_tok, "a kernel's parameter must be in '.param'");
    if (l->is_entry && !pt_token_needs(p, &d->space_tok, 14, 0, ".entry (.param)"))
        return false;
    if (!l->is_entry && d->space == PT_SPACE_PARAM &&
        !pt_token_needs(p, &d->space_tok, 20, 20, ".func (.param)"))
        return false;
    if (!l->is_entry && d->is_ptr)
        return pt_token_error(p, &d->space_tok, "'.ptr' describes parameters of kernels only");
    if (l->is_result && d->space == PT_SPACE_PARAM && before)
        return pt_token_error(p, &d->space_tok, "several results must be in '.reg'");
    if (!l->is_entry && pt_type_class(d->type) == PT_CLASS_O)
        return pt_token_error(p, &d->type_tok, "'%.*s' parameters belong to kernels only",
                              PT_TOKEN_ARGS(&d->type_tok));
    if (!l->is_result && before && p->m->symbols.v[f->params.v[before - 1]].is_unsized)
        return pt_token_error(p, &d->space_tok, "only the last parameter may have no size");
    return check_prefix(p, d) && check_opaque(p, d);
}

static bool check_array(struct pt_parser *p, const struct list *l, const struct pt_token *at,
                        const struct prefix *d, const struct shape *s)
{
    if (s->n && d->space == PT_SPACE_REG)
        return pt_token_error(p, at, "a register cannot be an array");
    if (s->n > 1)
        return pt_token_error(p, at, "a parameter array has one dimension");
    if (s->n && !s->dims[0]) {
        if (l->is_entry || l->is_result)
            return pt_token_error(p, at, "the size of '%.*s' is missing", PT_TOKEN_ARGS(at));
        return pt_token_needs(p, at, 51, 30, "a parameter without size");
    }
    return true;
}

static bool place(struct pt_parser *p, const struct list *l, const struct pt_token *at,
                  struct pt_symbol *sym)
{
    struct pt_func *f = &p->m->funcs.v[l->func];
    unsigned limit = p->m->sm < 20 ? 256 : p->m->ptx >= 81 && p->m->sm >= 70 ? 32764 : 4352;
    return !l->is_entry || pt_layout_parameter(f, sym, limit) ||
           pt_token_error(p, at, "the parameters of '%s' take more than %u bytes", f->name, limit);
}

static bool bind_parameter(struct pt_parser *p, const struct list *l, const struct pt_token *at,
                           const struct prefix *d, struct pt_symbol *sym)
{
    struct pt_func *f = &p->m->funcs.v[l->func];
    uint32_t name = pt_scope_intern(&p->scopes, at->text, at->len);
    if (is_blank(at) && !l->is_entry && !l->is_prototype)
        return pt_token_error(p, at, "a parameter must have a name");
    bool is_named = !is_blank(at) && !l->is_prototype;
    if (is_named && !new_name(p, at, &name))
        return false;
    sym->name = p->scopes.names.v[name].text;
    if (d->space == PT_SPACE_REG && !l->is_prototype && !add_register(p, at, name, d, &sym->reg))
        return false;
    uint32_t index = 0, n = sym->vec, first = sym->reg;
    sym->size /= n;
    sym->vec = 1;
    for (uint32_t i = 0; i < n; i++) { /* a vector, which only registers may be: its components */
        sym->reg = first + (first ? i : 0);
        index = add_symbol(p, sym);
        *(l->is_result ? pt_vec_push(&p->m->arena, &f->results)
                       : pt_vec_push(&p->m->arena, &f->params)) = index;
    }
    sym->reg = first;
    if (is_named && d->space == PT_SPACE_REG)
        define(p, at, name, PT_NAME_REG, sym->reg)->count = d->vec;
    else if (is_named)
        define(p, at, name, PT_NAME_SYM, index);
    return true;
}

static bool read_parameter(struct pt_parser *p, const struct list *l)
{
    struct prefix d = {0};
    struct shape s = {0};
    if (!read_prefix(p, &d) || !read_parameter_suffix(p, &d) || !check_parameter(p, l, &d))
        return false;
    struct pt_token at = p->tok;
    if (at.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "a name");
    pt_token_advance(p);
    if (!read_dims(p, &s) || !check_array(p, l, &at, &d, &s))
        return false;
    struct pt_symbol sym = make_symbol(p, &at, NULL, &d);
    sym.func = l->func;
    sym.is_array = s.n > 0;
    sym.is_unsized = s.n > 0 && !s.dims[0];
    if (!size_of(&d, &s, &sym.size))
        return pt_token_error(p, &at, "'%.*s' is too large", PT_TOKEN_ARGS(&at));
    return place(p, l, &at, &sym) && bind_parameter(p, l, &at, &d, &sym);
}

bool pt_decl_parameters(struct pt_parser *p, uint32_t func, bool is_result, bool is_prototype)
{
    struct list l = {func, p->m->funcs.v[func].is_entry, is_result, is_prototype};
    if (!pt_token_expect(p, '('))
        return false;
    if (pt_token_accept(p, ')'))
        return true;
    do {
        if (!read_parameter(p, &l))
            return false;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ')');
}
