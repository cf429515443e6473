/* multimem: loads that reduce all replicas of multicast memory, stores and reductions to each of
 * them. PTX ISA 9.7.9.14.
 *
 * The ISA leaves open in which order replicas are reduced: here it is the order in which the
 * devices were added. Elements are joined as bulk reductions join them, and sums of .f32 flush
 * subnormals as those of red in global memory do.
 */
#include "backend/interp/address.h"
#include "backend/interp/elements.h"
#include "backend/interp/fence.h"
#include "backend/interp/observe.h"
#include "backend/interp/operands.h"
#include "backend/interp/reduce.h"
#include "backend/semantics/float.h"
#include "backend/semantics/half.h"
#include "backend/semantics/tensormap.h"

struct multimem {
    struct pt_elements data;
    pt_join join;     /* NULL: a store */
    enum pt_half fmt; /* of sums in f32 */
};

/* What a lane accesses: `offset` bytes behind the start of each replica. */
struct place {
    const struct pt_replicas *replicas;
    uint64_t offset;
    uint32_t bytes;
};

static uint64_t replica(const struct place *p, uint32_t k)
{
    return p->replicas->at[k] + p->offset;
}

/* Accesses of 4, 8 or 16 bytes: each element, and each eight bytes, are whole. */
PT_ACCESS static void load(void *to, uint64_t from, uint32_t bytes)
{
    if (bytes == 4)
        *(uint32_t *)to = __atomic_load_n((const uint32_t *)(uintptr_t)from, __ATOMIC_RELAXED);
    else
        for (uint32_t at = 0; at < bytes; at += 8)
            *(uint64_t *)(void *)((char *)to + at) =
                __atomic_load_n((const uint64_t *)(uintptr_t)(from + at), __ATOMIC_RELAXED);
}

PT_ACCESS static void store(uint64_t to, const void *from, uint32_t bytes)
{
    if (bytes == 4)
        __atomic_store_n((uint32_t *)(uintptr_t)to, *(const uint32_t *)from, __ATOMIC_RELAXED);
    else
        for (uint32_t at = 0; at < bytes; at += 8)
            __atomic_store_n((uint64_t *)(uintptr_t)(to + at),
                             *(const uint64_t *)(const void *)((const char *)from + at),
                             __ATOMIC_RELAXED);
}

/* ---- what a lane does ------------------------------------------------------------------------ */

typedef void act(const struct multimem *m, struct pt_frame *f, uint32_t lane,
                 const struct place *p);

static void load_joined(const struct multimem *m, struct pt_frame *f, uint32_t lane,
                        const struct place *p)
{
    uint8_t joined[PT_ELEMENTS_BYTES] __attribute__((aligned(16)));
    load(joined, replica(p, 0), p->bytes);
    for (uint32_t k = 1; k < p->replicas->n; k++)
        m->join((uint64_t)(uintptr_t)joined, replica(p, k), p->bytes);
    pt_elements_scatter(&m->data, f, lane, joined);
}

/* .acc::f32: halves are summed in f32 and rounded once. */
static void load_summed(const struct multimem *m, struct pt_frame *f, uint32_t lane,
                        const struct place *p)
{
    enum { HALVES = PT_ELEMENTS_BYTES / 2 };
    uint16_t half[HALVES] __attribute__((aligned(16)));
    uint32_t sum[HALVES];
    for (uint32_t k = 0; k < p->replicas->n; k++) {
        load(half, replica(p, k), p->bytes);
        for (uint32_t j = 0; j < p->bytes / 2; j++) {
            uint32_t one = pt_half_to_f32(half[j], m->fmt);
            sum[j] = k ? pt_float_add(sum[j], one, PT_RN, false, false) : one;
        }
    }
    for (uint32_t j = 0; j < p->bytes / 2; j++)
        half[j] = (uint16_t)pt_half_from_f32(sum[j], m->fmt, PT_RN);
    pt_elements_scatter(&m->data, f, lane, (const uint8_t *)half);
}

static void store_each(const struct multimem *m, struct pt_frame *f, uint32_t lane,
                       const struct place *p)
{
    uint8_t data[PT_ELEMENTS_BYTES] __attribute__((aligned(16)));
    pt_elements_gather(&m->data, f, lane, data);
    for (uint32_t k = 0; k < p->replicas->n; k++)
        store(replica(p, k), data, p->bytes);
}

static void join_each(const struct multimem *m, struct pt_frame *f, uint32_t lane,
                      const struct place *p)
{
    uint8_t data[PT_ELEMENTS_BYTES] __attribute__((aligned(16)));
    pt_elements_gather(&m->data, f, lane, data);
    for (uint32_t k = 0; k < p->replicas->n; k++)
        m->join(replica(p, k), (uint64_t)(uintptr_t)data, p->bytes);
}

/* A lane accesses each replica. */
static bool observe(const struct pt_code *c, struct pt_frame *f, uint32_t lane,
                    const struct place *p, bool is_write)
{
    const struct multimem *m = c->ptr;
    uint32_t use = !is_write ? PT_USE_READ : m->join ? PT_USE_WRITE | PT_USE_ATOMIC : PT_USE_WRITE;
    uint64_t a[PT_WARP_SIZE];
    for (uint32_t k = 0; k < p->replicas->n; k++) {
        a[lane] = replica(p, k);
        if (!pt_observe_access(c, f, 1u << lane, a, p->bytes, use, NULL))
            return false;
    }
    return true;
}

/* ---- all lanes ------------------------------------------------------------------------------- */

static const struct pt_code *each_lane(const struct pt_code *c, struct pt_frame *f, bool is_write,
                                       act *act)
{
    const struct multimem *m = c->ptr;
    const struct pt_services *services = f->cta->launch->services;
    struct pt_code at = pt_address_code(c);
    struct pt_replicas replicas = {.bytes = 0};
    struct place p = {.replicas = &replicas, .bytes = m->data.n * m->data.bytes};
    uint64_t a[PT_WARP_SIZE];
    uint32_t outside;
    f->state->code = c;
    if (pt_address_all(&at, f, pt_address_kind(c), a, &outside) & (p.bytes - 1))
        return pt_address_misaligned(c, f);
    for (uint32_t left = f->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        const char *bad = NULL;
        if (a[i] - replicas.first >= replicas.bytes)
            bad = services->replicas(f->state->warp, a[i], is_write, &replicas);
        if (bad)
            return pt_fail_at(c, f, PT_FAULT_ILLEGAL_ADDRESS, 1u << i, a[i], bad);
        p.offset = a[i] - replicas.first;
        if (pt_is_observed(f) && !observe(c, f, i, &p, is_write))
            return NULL;
        act(m, f, i, &p);
    }
    return c + 1;
}

PT_HANDLER(multimem_load)
{
    return each_lane(c, f, false, load_joined);
}

PT_HANDLER(multimem_load_f32)
{
    return each_lane(c, f, false, load_summed);
}

PT_HANDLER(multimem_store)
{
    return each_lane(c, f, true, store_each);
}

PT_HANDLER(multimem_join)
{
    return each_lane(c, f, true, join_each);
}

/* ---- selecting ------------------------------------------------------------------------------- */

static uint32_t element_of(enum pt_type type)
{
    switch (type) {
    case PT_f16x2:
        return PT_ELEMENT_F16;
    case PT_bf16x2:
        return PT_ELEMENT_BF16;
    case PT_f32:
        return PT_ELEMENT_F32_FTZ;
    default:
        return pt_reduce_element(type);
    }
}

/* The address is not tested as ordinary memory is. */
static pt_handler bind(struct pt_select *s, bool is_load, bool is_joined, pt_handler handler)
{
    struct multimem *m = pt_operands_array(s, sizeof *m);
    const struct pt_operand *data = &s->operands[!is_load], *mem = &s->operands[is_load];
    uint32_t element = element_of((enum pt_type)s->form->type[0]);
    m->join = is_joined ? pt_reduce_join(pt_reduce_of(s->form), element) : NULL;
    m->fmt = element == PT_ELEMENT_BF16 ? PT_BF16 : PT_F16;
    if (!pt_elements_bind(s, data, is_load, &m->data) ||
        !pt_address_bind(s, mem, m->data.n * m->data.bytes))
        return NULL;
    s->is_access = false;
    pt_address_set_vector(s, m);
    pt_fence_order(s);
    return handler;
}

pt_handler PT_DO(multimem_ld_reduce)(struct pt_select *s)
{
    return bind(s, true, true, PT_HAS(s, acc_f32) ? multimem_load_f32 : multimem_load);
}

pt_handler PT_DO(multimem_st)(struct pt_select *s)
{
    return bind(s, false, false, multimem_store);
}

pt_handler PT_DO(multimem_red)(struct pt_select *s)
{
    return bind(s, false, true, multimem_join);
}
