/* Signatures of C functions as text: "f64 (f64, {s32 u8[4]}, ptr)". */
#include "runtime/host.h"

#include <string.h>

enum { DEPTH_MAX = 16, ELEMENTS_MAX = 4096 };

struct reader {
    struct pt_arena *arena;
    const char *at;
};

static const struct {
    const char *name;
    ffi_type *type;
} types[] = {
    {"void", &ffi_type_void},  {"u8", &ffi_type_uint8},   {"s8", &ffi_type_sint8},
    {"u16", &ffi_type_uint16}, {"s16", &ffi_type_sint16}, {"u32", &ffi_type_uint32},
    {"s32", &ffi_type_sint32}, {"u64", &ffi_type_uint64}, {"s64", &ffi_type_sint64},
    {"f32", &ffi_type_float},  {"f64", &ffi_type_double}, {"ptr", &ffi_type_pointer},
};

static void skip_space(struct reader *r)
{
    r->at += strspn(r->at, " \t");
}

static bool accept(struct reader *r, char c)
{
    skip_space(r);
    bool is_there = *r->at == c;
    r->at += is_there;
    return is_there;
}

static ffi_type *read_type(struct reader *r, unsigned depth);

/* [N] behind a member: 1 if there is none, 0 if it is wrong. */
static unsigned read_count(struct reader *r)
{
    unsigned n = 0;
    if (!accept(r, '['))
        return 1;
    skip_space(r);
    while (*r->at >= '0' && *r->at <= '9' && n <= ELEMENTS_MAX)
        n = n * 10 + (unsigned)(*r->at++ - '0');
    return accept(r, ']') && n <= ELEMENTS_MAX ? n : 0;
}

/* The members of a struct; libffi has no arrays: an array is so many members. */
static ffi_type *read_struct(struct reader *r, unsigned depth)
{
    PT_VEC(ffi_type *) members = {0};
    while (!accept(r, '}')) {
        ffi_type *member = read_type(r, depth + 1);
        unsigned count = member && member != &ffi_type_void ? read_count(r) : 0;
        if (!count || members.n + count > ELEMENTS_MAX)
            return NULL;
        while (count-- > 0)
            *pt_vec_push(r->arena, &members) = member;
    }
    if (!members.n)
        return NULL;
    ffi_type *type = pt_arena_alloc(r->arena, sizeof *type);
    type->type = FFI_TYPE_STRUCT;
    (void)pt_vec_push(r->arena, &members); /* the NULL behind the last */
    type->elements = members.v;
    return type;
}

static ffi_type *read_type(struct reader *r, unsigned depth)
{
    if (depth > DEPTH_MAX)
        return NULL;
    if (accept(r, '{'))
        return read_struct(r, depth);
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) != n || memcmp(types[i].name, r->at, n) != 0)
            continue;
        r->at += n;
        return types[i].type;
    }
    return NULL;
}

static bool read_parameters(struct reader *r, struct pt_signature *signature)
{
    PT_VEC(ffi_type *) params = {0};
    if (accept(r, ')'))
        return true;
    do {
        ffi_type *type = read_type(r, 0);
        if (!type || type == &ffi_type_void)
            return false;
        *pt_vec_push(r->arena, &params) = type;
    } while (accept(r, ','));
    signature->params = params.v;
    signature->n_params = params.n;
    return accept(r, ')');
}

bool pt_signature_parse(struct pt_arena *arena, const char *text, struct pt_signature *signature,
                        const char **at)
{
    struct reader r = {arena, text};
    *signature = (struct pt_signature){0};
    signature->result = read_type(&r, 0);
    bool is_read = signature->result && accept(&r, '(') && read_parameters(&r, signature);
    skip_space(&r);
    *at = r.at;
    return is_read && !*r.at;
}
