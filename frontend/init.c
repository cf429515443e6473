/* Initialisers of variables: values, addresses, nested braces; and the attributes of textures. */
#include "frontend/init.h"

#include <string.h>

#include "frontend/constexpr.h"

struct init {
    struct pt_symbol *sym;
    const uint64_t *dims; /* with the vector's components as the last */
    uint32_t n_dims;
    uint32_t unit; /* bytes of an element */
    PT_VEC(uint8_t) bytes;
};

/* Room for `unit` bytes at `offset`, or NULL after an error. */
static uint8_t *room(struct pt_parser *p, struct init *in, const struct pt_token *at,
                     uint64_t offset)
{
    uint64_t end = offset + in->unit;
    if (end > in->bytes.n) {
        uint64_t more = end - in->bytes.n;
        if (more > p->init_left) {
            pt_token_error(p, at, "the initial value is too large");
            return NULL;
        }
        p->init_left -= more;
        (void)pt_vec_extend(&p->m->arena, &in->bytes, (uint32_t)more);
    }
    return in->bytes.v + offset;
}

static bool is_float_type(enum pt_type type)
{
    return type == PT_f32 || type == PT_f64;
}

static void put_float(uint8_t *at, const struct init *in, double d)
{
    float f = (float)d;
    if (in->sym->type == PT_f32 || in->unit < 8)
        memcpy(at, &f, in->unit < 4 ? in->unit : 4);
    else
        memcpy(at, &d, 8);
}

static bool check_type(struct pt_parser *p, const struct pt_token *at, const struct pt_symbol *sym,
                       const struct pt_const *v)
{
    enum pt_type_class class = pt_type_class(sym->type);
    bool is_float = v->type == PT_f32 || v->type == PT_f64;
    if (class == PT_CLASS_H || (class == PT_CLASS_F && !is_float_type(sym->type)))
        return pt_token_error(p, at,
                              "a variable of type .%s cannot have an initial value; use .b%u",
                              pt_type_name(sym->type), pt_type_bits(sym->type));
    if (is_float && class != PT_CLASS_F && class != PT_CLASS_B)
        return pt_token_error(p, at, "a floating-point value does not fit .%s",
                              pt_type_name(sym->type));
    if (!is_float && class == PT_CLASS_F)
        return pt_token_error(p, at, "an integer value does not fit .%s", pt_type_name(sym->type));
    return true;
}

static bool put_value(struct pt_parser *p, struct init *in, const struct pt_token *at,
                      const struct pt_const *v, uint64_t offset)
{
    if (!check_type(p, at, in->sym, v))
        return false;
    uint8_t *to = room(p, in, at, offset);
    if (!to)
        return false;
    if (v->type == PT_f64) {
        put_float(to, in, v->f);
    } else if (v->type == PT_f32 && in->sym->type == PT_f64) {
        uint32_t bits = (uint32_t)v->i;
        float f;
        memcpy(&f, &bits, sizeof f);
        put_float(to, in, f);
    } else {
        memcpy(to, &v->i, in->unit < 8 ? in->unit : 8);
        if (in->unit > 8 && v->type == PT_s64 && v->i < 0)
            memset(to + 8, 0xff, in->unit - 8);
    }
    return true;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static struct pt_reloc *add_reloc(struct pt_parser *p, struct init *in, const struct pt_token *at,
                                  uint64_t offset)
{
    if (!room(p, in, at, offset))
        return NULL;
    struct pt_reloc *r = pt_vec_push(&p->m->arena, &in->sym->relocs);
    *r = (struct pt_reloc){.offset = (uint32_t)offset, .bytes = (uint8_t)in->unit};
    return r;
}

/* The variable or function that the current name is, as a relocation; the name is taken. */
static struct pt_reloc *read_target(struct pt_parser *p, struct init *in, uint64_t offset)
{
    struct pt_token at = p->tok;
    const struct pt_binding *b =
        at.kind == PT_TOK_NAME ? pt_scope_find(&p->scopes, at.text, at.len) : NULL;
    if (at.kind != PT_TOK_NAME) {
        pt_token_unexpected(p, "the name of a variable or function");
        return NULL;
    }
    if (!b || (b->kind != PT_NAME_SYM && b->kind != PT_NAME_FUNC)) {
        pt_token_error(p, &at, "'%.*s' is not a declared variable or function", PT_TOKEN_ARGS(&at));
        return NULL;
    }
    const struct pt_symbol *s = b->kind == PT_NAME_SYM ? &p->m->symbols.v[b->index] : NULL;
    if (s && s->space != PT_SPACE_GLOBAL && s->space != PT_SPACE_CONST) {
        pt_token_error(
            p, &at, "an initial value can be the address of a '.global' or '.const' variable only");
        return NULL;
    }
    if (!pt_token_needs(p, &at, 21, s ? 0 : 20,
                        s ? "an address as initial value"
                          : "a function's address as initial value"))
        return NULL;
    struct pt_reloc *r = add_reloc(p, in, &at, offset);
    if (r) {
        r->is_func = b->kind == PT_NAME_FUNC;
        r->target = b->index;
        pt_token_advance(p);
    }
    return r;
}

static bool read_addend(struct pt_parser *p, struct pt_reloc *r)
{
    struct pt_const v;
    struct pt_token plus = p->tok;
    if (!pt_token_accept(p, '+'))
        return true;
    if (r->is_func)
        return pt_token_error(p, &plus, "nothing can be added to a function's address");
    struct pt_token at = p->tok;
    if (!pt_constexpr_parse(p, &v))
        return false;
    if (v.type != PT_s64 && v.type != PT_u64)
        return pt_token_error(p, &at, "an offset must be an integer");
    r->addend = v.i;
    return true;
}

static bool check_address_type(struct pt_parser *p, const struct pt_token *at,
                               const struct pt_symbol *sym)
{
    return sym->type == PT_u32 || sym->type == PT_u64 ||
           pt_token_error(p, at, "an address does not fit .%s; use .u64", pt_type_name(sym->type));
}

/* generic(NAME) */
static bool read_generic(struct pt_parser *p, struct init *in, uint64_t offset)
{
    struct pt_token at = p->tok;
    pt_token_advance(p);
    if (!check_address_type(p, &at, in->sym) || !pt_token_needs(p, &at, 31, 0, "generic()") ||
        !pt_token_expect(p, '('))
        return false;
    struct pt_token name = p->tok;
    struct pt_reloc *r = read_target(p, in, offset);
    if (!r)
        return false;
    if (r->is_func)
        return pt_token_error(p, &name, "generic() takes a variable");
    r->is_generic = 1;
    return pt_token_expect(p, ')') && read_addend(p, r);
}

static bool read_address(struct pt_parser *p, struct init *in, uint64_t offset)
{
    if (!check_address_type(p, &p->tok, in->sym))
        return false;
    struct pt_reloc *r = read_target(p, in, offset);
    return r && read_addend(p, r);
}

/* 0xff00(NAME): one byte of an address. The mask and the parenthesis have been read. */
static bool read_mask(struct pt_parser *p, struct init *in, const struct pt_token *mask,
                      uint64_t offset)
{
    unsigned shift = 0;
    while (shift < 64 && mask->value != (uint64_t)0xff << shift)
        shift += 8;
    if (shift == 64)
        return pt_token_error(p, mask, "mask '%.*s' must be 0xff, 0xff00, 0xff0000 and so on",
                              PT_TOKEN_ARGS(mask));
    if (in->sym->type != PT_u8)
        return pt_token_error(p, mask, "a byte of an address does not fit .%s; use .u8",
                              pt_type_name(in->sym->type));
    if (!pt_token_needs(p, mask, 71, 0, "mask()"))
        return false;
    struct pt_reloc *r = read_target(p, in, offset);
    if (!r)
        return false;
    r->shift = (uint8_t)shift;
    return pt_token_expect(p, ')');
}

/* ---- values and braces ----------------------------------------------------------------------- */

/* Is the current number a mask, that is, does a parenthesis follow? */
static bool is_mask(const struct pt_parser *p)
{
    if (p->tok.kind != PT_TOK_INT)
        return false;
    struct pt_token t = pt_token_peek(p);
    return t.kind == PT_TOK_PUNCT && t.punct == '(';
}

static bool read_scalar(struct pt_parser *p, struct init *in, uint64_t offset)
{
    struct pt_token at = p->tok;
    struct pt_const v;
    if (pt_token_is(p, '{'))
        return pt_token_error(p, &at, "too many braces in the initial value");
    if (is_mask(p)) {
        pt_token_advance(p);
        pt_token_advance(p);
        return read_mask(p, in, &at, offset);
    }
    if (at.kind == PT_TOK_NAME && at.len == 7 && memcmp(at.text, "generic", 7) == 0)
        return read_generic(p, in, offset);
    if (at.kind == PT_TOK_NAME && !pt_constexpr_starts(&p->tok))
        return read_address(p, in, offset);
    return pt_constexpr_parse(p, &v) && put_value(p, in, &at, &v, offset);
}

/* { element, … } of dimension `dim`, whose elements are `stride` units apart. *count: how many
 * there were. */
static bool read_braces(struct pt_parser *p, struct init *in, uint32_t dim, uint64_t offset,
                        uint64_t *count)
{
    uint64_t stride = in->unit;
    for (uint32_t i = dim + 1; i < in->n_dims; i++)
        stride *= in->dims[i];
    *count = 0;
    if (!pt_token_expect(p, '{'))
        return false;
    if (pt_token_accept(p, '}'))
        return true;
    do {
        uint64_t inner;
        if (in->dims[dim] && *count == in->dims[dim])
            return pt_token_error(p, &p->tok, "too many values (the dimension has %llu)",
                                  (unsigned long long)in->dims[dim]);
        uint64_t here = offset + *count * stride;
        if (!(dim + 1 < in->n_dims ? read_braces(p, in, dim + 1, here, &inner)
                                   : read_scalar(p, in, here)))
            return false;
        ++*count;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, '}');
}

bool pt_init_parse(struct pt_parser *p, struct pt_symbol *sym, uint64_t *dims, uint32_t n_dims)
{
    uint64_t all[32], count;
    memcpy(all, dims, n_dims * sizeof *dims);
    struct init in = {.sym = sym, .dims = all, .n_dims = n_dims, .unit = pt_type_bytes(sym->type)};
    if (sym->vec > 1)
        all[in.n_dims++] = sym->vec;
    if (in.n_dims == 0) {
        if (!read_scalar(p, &in, 0))
            return false;
    } else {
        if (!read_braces(p, &in, 0, 0, &count))
            return false;
        if (n_dims && !dims[0])
            dims[0] = count;
    }
    sym->init = in.bytes.v;
    sym->init_size = in.bytes.n;
    return true;
}

/* ---- textures, samplers, surfaces ------------------------------------------------------------ */

/* Which attribute belongs to which kind, and its first .version. */
enum { TEX = 1, SAMPLER = 2, SURF = 4 };
static const struct {
    const char *name;
    uint8_t kinds, ptx;
} attributes[] = {
    {"width", TEX | SURF, 15},
    {"height", TEX | SURF, 15},
    {"depth", TEX | SURF, 15},
    {"array_size", TEX | SURF, 15},
    {"num_mipmap_levels", TEX, 15},
    {"num_samples", TEX, 15},
    {"memory_layout", SURF, 15},
    {"channel_data_type", TEX | SURF, 21},
    {"channel_order", TEX | SURF, 21},
    {"normalized_coords", TEX, 15},
    {"force_unnormalized_coords", SAMPLER, 22},
    {"filter_mode", TEX | SAMPLER, 15},
    {"addr_mode_0", TEX | SAMPLER, 15},
    {"addr_mode_1", TEX | SAMPLER, 15},
    {"addr_mode_2", TEX | SAMPLER, 15},
};

static bool is_name(const struct pt_token *t, const char *name)
{
    return t->kind == PT_TOK_NAME && t->len == strlen(name) && memcmp(t->text, name, t->len) == 0;
}

/* The name of an attribute that fits the type. */
static bool read_attribute_name(struct pt_parser *p, enum pt_type type)
{
    unsigned kind = type == PT_texref ? TEX : type == PT_surfref ? SURF : SAMPLER;
    struct pt_token at = p->tok;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (!is_name(&at, attributes[i].name))
            continue;
        if (!(attributes[i].kinds & kind))
            return pt_token_error(p, &at, "'.%s' has no attribute '%s'", pt_type_name(type),
                                  attributes[i].name);
        pt_token_advance(p);
        return pt_token_needs(p, &at, attributes[i].ptx, 0, attributes[i].name);
    }
    return pt_token_unexpected(p, "the name of an attribute");
}

static bool read_attribute_value(struct pt_parser *p)
{
    static const char *const values[] = {"nearest",   "linear",        "wrap",           "mirror",
                                         "clamp_ogl", "clamp_to_edge", "clamp_to_border"};
    struct pt_const v;
    if (p->tok.kind != PT_TOK_NAME || pt_constexpr_starts(&p->tok))
        return pt_constexpr_parse(p, &v);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (pt_token_accept_name(p, values[i]))
            return true;
    return pt_token_unexpected(p, "the value of an attribute");
}

bool pt_init_opaque(struct pt_parser *p, enum pt_type type)
{
    if (!pt_token_expect(p, '{'))
        return false;
    if (pt_token_accept(p, '}'))
        return true;
    do {
        if (!read_attribute_name(p, type) || !pt_token_expect(p, '=') || !read_attribute_value(p))
            return false;
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, '}');
}
