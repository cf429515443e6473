/* Surfaces: suld, sust, sured. PTX ISA 9.7.11. A handle is the address of a struct pt_surface;
 * where an access lies is in backend/semantics/surface.h. */
#include "backend/semantics/surface.h"
#include "backend/interp/access.h"
#include "backend/interp/image.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/interp/pick.h"
#include "backend/interp/reduce.h"
#include "backend/semantics/tensormap.h"

enum { ACCESS_BYTES = 16 };

struct image_access {
    /* slots; `layer` only of surfaces that have layers */
    uint32_t handle, layer, coordinate[PT_TEXTURE_AXES], value[PT_TEXTURE_CHANNELS];
    struct pt_surface_access where;
    uint32_t n, bytes;                       /* elements of the vector, and bytes of one */
    uint8_t slot_bytes[PT_TEXTURE_CHANNELS]; /* of a lane's element in the frame */
    bool is_trapping;                        /* .trap */
    bool is_formatted;                       /* .p */
    enum pt_reduce reduce;                   /* of sured */
    uint32_t element; /* an enum pt_element; that of sured.p is without a sign */
};

static const void *lane_of(const struct pt_frame *f, uint32_t slot, uint32_t lane, uint32_t bytes)
{
    return (const char *)f + slot + (size_t)lane * bytes;
}

static uint32_t word_of(const struct pt_frame *f, uint32_t slot, uint32_t lane)
{
    return *(const uint32_t *)lane_of(f, slot, lane, sizeof(uint32_t));
}

PT_ACCESS static __attribute__((noinline)) void read_surface(uint64_t handle, struct pt_surface *s)
{
    for (size_t at = 0; at < sizeof *s; at += 16)
        pt_copy16((char *)s + at, (const char *)(uintptr_t)handle + at);
}

/* Accesses lie at multiples of their size. */
PT_ACCESS_INLINE void move(void *to, const void *from, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        *(uint8_t *)to = *(const uint8_t *)from;
        break;
    case 2:
        *(uint16_t *)to = *(const uint16_t *)from;
        break;
    case 4:
        *(uint32_t *)to = *(const uint32_t *)from;
        break;
    case 8:
        *(uint64_t *)to = *(const uint64_t *)from;
        break;
    default:
        pt_copy16(to, from);
    }
}

PT_ACCESS static __attribute__((noinline)) void read_texel(uint64_t address, uint32_t bytes,
                                                           void *to)
{
    move(to, (const void *)(uintptr_t)address, bytes);
}

PT_ACCESS static __attribute__((noinline)) void write_texel(uint64_t address, uint32_t bytes,
                                                            const void *from)
{
    move((void *)(uintptr_t)address, from, bytes);
}

/* Makes `s` the surface of lane `i`. False after reporting. */
static bool find_surface(const struct pt_code *c, struct pt_frame *f, uint32_t i, uint64_t handle,
                         struct pt_surface *s)
{
    f->state->acting = 1u << i;
    if (handle % 16 == 0) {
        read_surface(handle, s);
        if (s->key == pt_surface_key(handle))
            return true;
    }
    pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << i, handle, "no surface has this handle");
    return false;
}

static uint64_t locate(const struct pt_frame *f, const struct image_access *k,
                       const struct pt_surface *s, uint32_t i)
{
    uint32_t coordinate[PT_TEXTURE_AXES] = {0};
    uint32_t layer = k->where.is_layered ? word_of(f, k->layer, i) : 0;
    for (uint32_t n = 0; n < k->where.axes; n++)
        coordinate[n] = word_of(f, k->coordinate[n], i);
    return pt_surface_locate(s, &k->where, coordinate, layer);
}

/* Of lane `i`: where it accesses, 0 for nowhere. False after reporting. */
static bool find_place(const struct pt_code *c, struct pt_frame *f, uint32_t i,
                       struct pt_surface *s, uint64_t *known, uint64_t *place)
{
    const struct image_access *k = c->ptr;
    uint64_t handle = *(const uint64_t *)lane_of(f, k->handle, i, sizeof handle);
    *place = 0;
    if (!handle)
        return true;
    if (handle != *known && !find_surface(c, f, i, handle, s))
        return false;
    *known = handle;
    *place = locate(f, k, s, i);
    if (!*place) {
        if (k->is_trapping)
            pt_fail(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << i, "outside the surface");
        return !k->is_trapping;
    }
    uint32_t bytes = k->where.bytes ? k->where.bytes : s->texel_bytes;
    if (*place % bytes) {
        pt_fail_at(c, f, PT_FAULT_MISALIGNED, 1u << i, *place, NULL);
        return false;
    }
    return true;
}

static bool may_access(const struct pt_code *c, struct pt_frame *f, uint32_t i, uint64_t place,
                       uint32_t bytes, uint32_t use)
{
    uint64_t address[PT_WARP_SIZE] = {0};
    address[i] = place;
    return !pt_is_observed(f) || pt_observe_access(c, f, 1u << i, address, bytes, use, NULL);
}

PT_HANDLER(load)
{
    const struct image_access *k = c->ptr;
    uint8_t texel[PT_WARP_SIZE][ACCESS_BYTES] = {{0}};
    struct pt_surface s;
    uint64_t known = 0, place;
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!find_place(c, f, i, &s, &known, &place))
            return NULL;
        if (!place)
            continue;
        if (!may_access(c, f, i, place, k->where.bytes, PT_USE_READ))
            return NULL;
        f->state->acting = 1u << i;
        read_texel(place, k->where.bytes, texel[i]);
    }
    f->state->acting = 0;
    for (uint32_t n = 0; n < k->n; n++)
        for (uint32_t left = f->mask; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            uint64_t bits = 0;
            memcpy(&bits, texel[i] + n * k->bytes, k->bytes);
            memcpy((void *)lane_of(f, k->value[n], i, k->slot_bytes[n]), &bits, k->slot_bytes[n]);
        }
    return c + 1;
}

/* What lane `i` stores. */
static void gather(const struct pt_frame *f, const struct image_access *k,
                   const struct pt_surface *s, uint32_t i, uint32_t *texel)
{
    uint32_t words[PT_TEXTURE_CHANNELS] = {0};
    for (uint32_t n = 0; n < k->n; n++)
        memcpy(k->is_formatted ? (uint8_t *)&words[n] : (uint8_t *)texel + n * k->bytes,
               lane_of(f, k->value[n], i, k->slot_bytes[n]), k->bytes);
    if (k->is_formatted)
        pt_surface_convert(s, words, k->n, texel);
}

PT_HANDLER(store)
{
    const struct image_access *k = c->ptr;
    struct pt_surface s;
    uint64_t known = 0, place;
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), texel[ACCESS_BYTES / 4];
        if (!find_place(c, f, i, &s, &known, &place))
            return NULL;
        if (!place)
            continue;
        uint32_t bytes = k->is_formatted ? s.texel_bytes : k->where.bytes;
        if (!may_access(c, f, i, place, bytes, PT_USE_WRITE))
            return NULL;
        gather(f, k, &s, i, texel);
        f->state->acting = 1u << i;
        write_texel(place, bytes, texel);
    }
    f->state->acting = 0;
    return c + 1;
}

static uint32_t element_of(const struct image_access *k, const struct pt_surface *s)
{
    bool is_signed =
        s->texel == PT_TEXEL_S8 || s->texel == PT_TEXEL_S16 || s->texel == PT_TEXEL_S32;
    return !k->is_formatted || !is_signed                             ? k->element
           : k->element == PT_ELEMENT_U32                             ? PT_ELEMENT_S32
           : k->reduce == PT_REDUCE_MIN || k->reduce == PT_REDUCE_MAX ? PT_ELEMENT_S64
                                                                      : k->element;
}

PT_HANDLER(reduce)
{
    const struct image_access *k = c->ptr;
    struct pt_surface s;
    uint64_t known = 0, place;
    f->state->code = c;
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (!find_place(c, f, i, &s, &known, &place))
            return NULL;
        if (!place)
            continue;
        if (!may_access(c, f, i, place, k->bytes, PT_USE_WRITE | PT_USE_ATOMIC))
            return NULL;
        f->state->acting = 1u << i;
        pt_reduce_join(k->reduce, element_of(k, &s))(
            place, (uint64_t)(uintptr_t)lane_of(f, k->value[0], i, k->slot_bytes[0]), k->bytes);
    }
    f->state->acting = 0;
    return c + 1;
}

/* ---- selecting ------------------------------------------------------------------------------- */

static const struct pt_operand *element(struct pt_select *s, const struct pt_operand *o, uint32_t i)
{
    return o->kind == PT_OPND_VEC ? &s->func->operands.v[o->index + i] : o;
}

/* [a,c] */
static bool bind_place(struct pt_select *s, const struct pt_operand *o, struct image_access *k)
{
    const struct pt_operand *in = &s->func->operands.v[o->index];
    k->where.is_layered = PT_HAS(s, a1d) || PT_HAS(s, a2d);
    k->where.axes = PT_HAS(s, 1d) || PT_HAS(s, a1d) ? 1 : PT_HAS(s, 2d) || PT_HAS(s, a2d) ? 2 : 3;
    k->where.is_clamped = PT_HAS(s, clamp);
    k->is_trapping = PT_HAS(s, trap);
    if ((k->handle = pt_image_handle(s, in)) == UINT32_MAX)
        return false;
    if (k->where.is_layered &&
        (k->layer = pt_operands_source(s, element(s, in + 1, 0), 4)) == UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < k->where.axes; i++) {
        const struct pt_operand *x = element(s, in + 1, i + k->where.is_layered);
        if ((k->coordinate[i] = pt_operands_source(s, x, 4)) == UINT32_MAX)
            return false;
    }
    return true;
}

static bool bind_values(struct pt_select *s, const struct pt_operand *o, struct image_access *k,
                        bool is_dest)
{
    k->n = o->kind == PT_OPND_VEC ? (uint32_t)o->imm : 1;
    k->bytes = PT_BITS(s, 0) / 8;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct pt_operand *x = element(s, o, i);
        bool is_wide =
            is_dest && x->kind == PT_OPND_REG && pt_type_bits(s->func->regs.v[x->index].type) == 64;
        k->slot_bytes[i] = k->bytes == 8 || is_wide ? 8 : 4;
        k->value[i] = is_dest ? pt_operands_dest(s, x) : pt_operands_source(s, x, k->slot_bytes[i]);
        if (k->value[i] == UINT32_MAX)
            return false;
    }
    return true;
}

static struct image_access *new_access(struct pt_select *s)
{
    struct image_access *k = pt_operands_array(s, sizeof *k);
    s->code->ptr = k;
    return k;
}

pt_handler PT_DO(suld)(struct pt_select *s)
{
    struct image_access *k = new_access(s);
    if (!bind_values(s, &s->operands[0], k, true) || !bind_place(s, &s->operands[1], k))
        return NULL;
    k->where.bytes = k->n * k->bytes;
    k->where.unit = 1;
    return load;
}

pt_handler PT_DO(sust)(struct pt_select *s)
{
    struct image_access *k = new_access(s);
    if (!bind_place(s, &s->operands[0], k) || !bind_values(s, &s->operands[1], k, false))
        return NULL;
    k->where.bytes = k->n * k->bytes;
    k->where.unit = 1;
    return store;
}

pt_handler PT_DO(sust_p)(struct pt_select *s)
{
    struct image_access *k = new_access(s);
    k->is_formatted = true;
    return bind_place(s, &s->operands[0], k) && bind_values(s, &s->operands[1], k, false) ? store
                                                                                          : NULL;
}

static pt_handler select_reduce(struct pt_select *s, bool is_formatted)
{
    struct image_access *k = new_access(s);
    if (!bind_place(s, &s->operands[0], k) || !bind_values(s, &s->operands[1], k, false))
        return NULL;
    k->is_formatted = is_formatted;
    k->where.bytes = k->bytes;
    k->where.unit = is_formatted ? k->bytes : 1;
    k->reduce = pt_reduce_of(s->form);
    k->element = pt_reduce_element((enum pt_type)s->form->type[0]);
    return pt_reduce_join(k->reduce, k->element) ? reduce : pt_refuse(s, NULL);
}

#define SURED(id, is_formatted)                \
    pt_handler PT_DO(id)(struct pt_select * s) \
    {                                          \
        return select_reduce(s, is_formatted); \
    }
SURED(sured, false)
SURED(sured_b32, false)
SURED(sured_u64, false)
SURED(sured_p, true)
