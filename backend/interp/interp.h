/* The interpreter: decoded code, the frame handlers work on, and the macros that stamp handlers.
 *
 * Every file of backend/interp but engine.c is compiled once for each CPU level; PT_LEVEL (v2, v3,
 * v4, aarch64) is appended to the few names that are not static.
 *
 * How an instruction becomes code. Each row of isa.def has a *selector*, PT_DO(id). The decoder
 * calls it for each instruction; it binds the operands to frame slots with pt_bind and returns the
 * handler for the form's types and modifiers, or pt_refuse(...):
 *
 *     PT_FN2(add_u32, u32, u32, u32, a + b)
 *     PT_FN2(add_u64, u64, u64, u64, a + b)
 *     pt_handler PT_DO(add_int)(struct pt_select *s)
 *     {
 *         if (pt_type_bits(s->form->type[0]) == 64)
 *             return pt_bind(s, "lll") ? add_u64 : NULL;
 *         return pt_bind(s, "www") ? add_u32 : NULL;
 *     }
 *
 * How registers lie in the frame. One slot a register: 32 elements of 4 bytes for everything up to
 * 32 bits (values of 8 and 16 bits zero-extended), of 8 bytes for 64 bits, of 16 for b128; a
 * predicate is one 32-bit mask. What an earlier CTA or another register left in a slot is never
 * seen: lowering writes zero to registers that may be read before they are written
 * (frontend/lower.c). A destination may be the very slot of a source (same width) but never
 * overlaps one partly; an instruction with several destinations must read all sources before it
 * writes. Only lanes of frame->mask are written.
 */
#ifndef PTERA_BACKEND_INTERP_INTERP_H
#define PTERA_BACKEND_INTERP_INTERP_H

#include <string.h>

#include "backend/exec.h"

#ifndef PT_LEVEL
#error "compile with -DPT_LEVEL=v2, v3, v4 or aarch64"
#endif
#define PT_PASTE_(a, b) a##_##b
#define PT_PASTE(a, b) PT_PASTE_(a, b)
#define PT_LEVEL_NAME(name) PT_PASTE(name, PT_LEVEL)
#define PT_DO(id) PT_LEVEL_NAME(pt_do_##id)

struct pt_code;
struct pt_frame;
struct pt_state;

/* Runs one instruction for the lanes of f->mask. Returns the next code, or NULL to leave the
 * inner loop (state->frame and state->code, or state->run, then say what comes). */
typedef const struct pt_code *(*pt_handler)(const struct pt_code *c, struct pt_frame *f);

enum { PT_OPERANDS = 6 };

struct pt_code {
    pt_handler fn;
    uint32_t o[PT_OPERANDS]; /* operands in the order written: byte offsets in the frame */
    union {
        uint64_t imm; /* memory: the constant part of the address */
        const uint32_t *ops;
        const void *ptr;
    };
    uint32_t insn; /* index into the function's insns: places for faults */
    uint16_t aux;  /* what the selector wants */
    uint8_t neg;   /* bit k: predicate operand k is negated */
    uint8_t n;     /* operands */
};
_Static_assert(sizeof(struct pt_code) == 48, "code is compact");

/* An activation: its masks here, its registers and constants behind. state.h says what belongs to
 * whom. */
struct pt_frame {
    uint32_t lanes[PT_WARP_SIZE]; /* all ones for the lanes of `mask`, else 0 */
    uint32_t mask;                /* lanes that run now */
    uint32_t lowest; /* lowest-numbered eligible block where other lanes of this activation wait */
    uint32_t budget; /* back edges until the next poll of launch->stop */
    uint32_t carry;  /* CC.CF of each lane */
    uint8_t *shared; /* generic address of shared address 0 */
    const uint8_t *params; /* the kernel's parameter block */
    uint8_t *local0;       /* local window of lane 0 */
    uint64_t local_stride; /* from lane to lane */
    struct pt_state *state;
    struct pt_cta *cta;
    const struct pt_body *body;
    uint32_t *wait; /* lanes waiting at each block */
    uint64_t *eligible, *parked,
        /* bit sets of blocks with waiting lanes that may run; wait for others; or run when no
         * others can */
        *aside;
    struct pt_frame *caller;             /* NULL: the kernel's own */
    struct pt_frame *deeper, *shallower; /* list of activations, deepest first; the free list */
    const struct pt_code *call;          /* the call that made it */
    uint32_t depth;
    uint32_t live;               /* lanes in this activation or in one it called */
    uint32_t base[PT_WARP_SIZE]; /* start of the local variables in each thread's window */
    uint32_t top[PT_WARP_SIZE];  /* end of them: the stack pointer that alloca moves */
    struct pt_undefined *undefined; /* PT_TEST_init: what registers hold no value; NULL: none */
};

/* ---- selecting ------------------------------------------------------------------------------- */

struct pt_decoder;

struct pt_select {
    struct pt_decoder *decoder; /* NULL: only the choice of pt_pick matters */
    struct pt_module *module;
    const struct pt_func *func;
    const struct pt_insn *insn;
    const struct pt_form *form;
    const struct pt_operand *operands; /* of the instruction, as in the IR */
    struct pt_code *code;              /* being filled; aux and imm are the selector's */
    const struct pt_operand **flat;    /* the operands after flattening of d|p, {…}, […] and (…) */
    uint32_t n;                        /* how many those are */
    bool is_access;                    /* pt_address_bind has filled `code`: it touches memory */
};

/* Binds the flattened operands (d|p is two, {a,b} two, [a+8] one) to slots, one letter each:
 *   w  up to 32 bits    l  64    q  128    p  predicate
 *   x  a destination of the first type spelled in a register that may be wider (cvt): the handler
 *      writes a slot of the type's width, and the value is sign- or zero-extended to the register
 *      afterwards
 *   i  an integer constant, which goes to code->imm        -  ignored
 * Constants, special registers and addresses of variables are put into slots of that width; a
 * source register that is wider than its letter is narrowed; _ gets a slot of its own. Letters
 * beyond the operands there are are ignored. Operands beyond PT_OPERANDS go to code->ops, which
 * then holds all of them; code->n is the count. Returns false if an operand cannot be bound
 * (reported). */
#define pt_bind PT_LEVEL_NAME(pt_operands_bind)
bool pt_bind(struct pt_select *s, const char *widths);
/* Reports "… is not supported yet" for the instruction and returns NULL. */
#define pt_refuse PT_LEVEL_NAME(pt_operands_refuse)
pt_handler pt_refuse(struct pt_select *s, const char *what);
/* Operand `i` of the flattened list as the IR has it. */
static inline const struct pt_operand *pt_flat(const struct pt_select *s, uint32_t i);
/* Bits of the register that operand `i` of the flattened list is; 0 if it is none. */
static inline uint32_t pt_reg_bits(const struct pt_select *s, uint32_t i);

typedef pt_handler (*pt_selector)(struct pt_select *s);
#define ROW(id, syntax, shape, effects, jit, ptx, sm) pt_handler PT_DO(id)(struct pt_select * s);
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm)
#include "ir/isa.def"

static inline const struct pt_operand *pt_flat(const struct pt_select *s, uint32_t i)
{
    return s->flat[i];
}

static inline uint32_t pt_reg_bits(const struct pt_select *s, uint32_t i)
{
    const struct pt_operand *o = s->flat[i];
    return o->kind == PT_OPND_REG ? pt_type_bits(s->func->regs.v[o->index].type) : 0;
}

/* True if the form has modifier .m: PT_HAS(s, ftz). */
#define PT_HAS(s, m) pt_form_has((s)->form, PT_M_##m)
/* Bits of the n-th type. */
#define PT_BITS(s, n) pt_type_bits((enum pt_type)(s)->form->type[n])

/* ---- writing handlers ------------------------------------------------------------------------ */

#define PT_HANDLER(name) \
    static const struct pt_code *name(const struct pt_code *c, struct pt_frame *f)

/* Lane types: PT_VAL_x is the C type a handler's expression sees, PT_ELT_x the element of the
 * slot. h16 holds the bits of an f16 or bf16. Values are stored through PT_PUT_x, which
 * zero-extends. */
#define PT_VAL_u8 uint8_t
#define PT_VAL_s8 int8_t
#define PT_VAL_u16 uint16_t
#define PT_VAL_s16 int16_t
#define PT_VAL_h16 uint16_t
#define PT_VAL_u32 uint32_t
#define PT_VAL_s32 int32_t
#define PT_VAL_f32 float
#define PT_VAL_u64 uint64_t
#define PT_VAL_s64 int64_t
#define PT_VAL_f64 double
#define PT_ELT_u8 uint32_t
#define PT_ELT_s8 uint32_t
#define PT_ELT_u16 uint32_t
#define PT_ELT_s16 uint32_t
#define PT_ELT_h16 uint32_t
#define PT_ELT_u32 uint32_t
#define PT_ELT_s32 int32_t
#define PT_ELT_f32 float
#define PT_ELT_u64 uint64_t
#define PT_ELT_s64 int64_t
#define PT_ELT_f64 double
#define PT_PUT_u8(v) ((uint32_t)(uint8_t)(v))
#define PT_PUT_s8(v) ((uint32_t)(uint8_t)(v))
#define PT_PUT_u16(v) ((uint32_t)(uint16_t)(v))
#define PT_PUT_s16(v) ((uint32_t)(uint16_t)(v))
#define PT_PUT_h16(v) ((uint32_t)(uint16_t)(v))
#define PT_PUT_u32(v) ((uint32_t)(v))
#define PT_PUT_s32(v) ((int32_t)(v))
#define PT_PUT_f32(v) (v)
#define PT_PUT_u64(v) ((uint64_t)(v))
#define PT_PUT_s64(v) ((int64_t)(v))
#define PT_PUT_f64(v) (v)

/* The slot of operand k as an array of lane type T. */
#define PT_SLOT(k, T) ((PT_ELT_##T *)__builtin_assume_aligned((char *)f + c->o[k], 64))
/* The mask of predicate operand k, with its negation applied. */
#define PT_PRED(k) (*(const uint32_t *)((const char *)f + c->o[k]) ^ -(uint32_t)(c->neg >> (k) & 1))
/* Writes predicate operand k for the active lanes. */
#define PT_SET_PRED(k, value)                                         \
    do {                                                              \
        uint32_t *pred_ = (uint32_t *)((char *)f + c->o[k]);          \
        *pred_ = (*pred_ & ~f->mask) | ((uint32_t)(value) & f->mask); \
    } while (0)

#if defined(__clang__)
#define PT_LANES \
    _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < PT_WARP_SIZE; i++)
#else
#define PT_LANES _Pragma("GCC ivdep") for (int i = 0; i < PT_WARP_SIZE; i++)
#endif

/* d[i] = value for the active lanes, where `value` may name i and must be safe to evaluate for
 * every lane. */
#define PT_STORE_LANES(T, d, ...)                            \
    do {                                                     \
        if (__builtin_expect(f->mask == UINT32_MAX, 1)) {    \
            PT_LANES                                         \
            {                                                \
                __VA_ARGS__                                  \
                d[i] = PT_PUT_##T(value);                    \
            }                                                \
        } else {                                             \
            const uint32_t *lanes_ = f->lanes;               \
            PT_LANES                                         \
            {                                                \
                __VA_ARGS__                                  \
                d[i] = lanes_[i] ? PT_PUT_##T(value) : d[i]; \
            }                                                \
        }                                                    \
    } while (0)

/* Handlers of one destination (operand 0) and one to four sources a, b, c_, e (operands 1 to 4);
 * `expr` is one expression over them for one lane, evaluated for every lane (so it must not
 * trap). */
#define PT_FN1(name, TD, TA, expr)                                       \
    PT_HANDLER(name)                                                     \
    {                                                                    \
        PT_ELT_##TD *d_ = PT_SLOT(0, TD);                                \
        const PT_ELT_##TA *a_ = PT_SLOT(1, TA);                          \
        PT_STORE_LANES(TD, d_, const PT_VAL_##TA a = (PT_VAL_##TA)a_[i]; \
                       const PT_VAL_##TD value = (PT_VAL_##TD)(expr););  \
        return c + 1;                                                    \
    }
#define PT_FN2(name, TD, TA, TB, expr)                                   \
    PT_HANDLER(name)                                                     \
    {                                                                    \
        PT_ELT_##TD *d_ = PT_SLOT(0, TD);                                \
        const PT_ELT_##TA *a_ = PT_SLOT(1, TA);                          \
        const PT_ELT_##TB *b_ = PT_SLOT(2, TB);                          \
        PT_STORE_LANES(TD, d_, const PT_VAL_##TA a = (PT_VAL_##TA)a_[i]; \
                       const PT_VAL_##TB b = (PT_VAL_##TB)b_[i];         \
                       const PT_VAL_##TD value = (PT_VAL_##TD)(expr););  \
        return c + 1;                                                    \
    }
#define PT_FN3(name, TD, TA, TB, TC, expr)                               \
    PT_HANDLER(name)                                                     \
    {                                                                    \
        PT_ELT_##TD *d_ = PT_SLOT(0, TD);                                \
        const PT_ELT_##TA *a_ = PT_SLOT(1, TA);                          \
        const PT_ELT_##TB *b_ = PT_SLOT(2, TB);                          \
        const PT_ELT_##TC *c__ = PT_SLOT(3, TC);                         \
        PT_STORE_LANES(TD, d_, const PT_VAL_##TA a = (PT_VAL_##TA)a_[i]; \
                       const PT_VAL_##TB b = (PT_VAL_##TB)b_[i];         \
                       const PT_VAL_##TC c_ = (PT_VAL_##TC)c__[i];       \
                       const PT_VAL_##TD value = (PT_VAL_##TD)(expr););  \
        return c + 1;                                                    \
    }
#define PT_FN4(name, TD, TA, TB, TC, TE, expr)                           \
    PT_HANDLER(name)                                                     \
    {                                                                    \
        PT_ELT_##TD *d_ = PT_SLOT(0, TD);                                \
        const PT_ELT_##TA *a_ = PT_SLOT(1, TA);                          \
        const PT_ELT_##TB *b_ = PT_SLOT(2, TB);                          \
        const PT_ELT_##TC *c__ = PT_SLOT(3, TC);                         \
        const PT_ELT_##TE *e_ = PT_SLOT(4, TE);                          \
        PT_STORE_LANES(TD, d_, const PT_VAL_##TA a = (PT_VAL_##TA)a_[i]; \
                       const PT_VAL_##TB b = (PT_VAL_##TB)b_[i];         \
                       const PT_VAL_##TC c_ = (PT_VAL_##TC)c__[i];       \
                       const PT_VAL_##TE e = (PT_VAL_##TE)e_[i];         \
                       const PT_VAL_##TD value = (PT_VAL_##TD)(expr););  \
        return c + 1;                                                    \
    }

/* A 32-bit mask from 32 elements that are all ones or 0. */
static inline uint32_t pt_mask_of(const uint32_t *flags);
/* 32 elements, all ones or 0, from a mask. */
static inline void pt_spread(uint32_t mask, uint32_t *flags);

/* The mask of lanes for which `expr` over a holds: name_(c, f), for handlers that
 * combine it with predicates. */
#define PT_TEST1(name, KA, TA, expr)                                               \
    static inline uint32_t name(const struct pt_code *c, const struct pt_frame *f) \
    {                                                                              \
        const PT_ELT_##TA *a_ = PT_SLOT(KA, TA);                                   \
        uint32_t flags[PT_WARP_SIZE] __attribute__((aligned(64)));                 \
        PT_LANES                                                                   \
        {                                                                          \
            const PT_VAL_##TA a = (PT_VAL_##TA)a_[i];                              \
            flags[i] = (expr) ? UINT32_MAX : 0;                                    \
        }                                                                          \
        return pt_mask_of(flags);                                                  \
    }

/* Sets the active lanes of a frame. */
static inline void pt_set_mask(struct pt_frame *f, uint32_t mask)
{
    f->mask = mask;
    pt_spread(mask, f->lanes);
}

/* Ends the warp with a fault at `c`: `return pt_fail(c, f, PT_FAULT_TRAP, f->mask, NULL)`.
 * Returns NULL. */
#define pt_fail PT_LEVEL_NAME(pt_state_fail)
const struct pt_code *pt_fail(const struct pt_code *c, struct pt_frame *f, enum pt_fault_kind kind,
                              uint32_t lanes, const char *detail);

/* ---- masks ----------------------------------------------------------------------------------- */

#if defined(__AVX2__)
#include <immintrin.h>
static inline uint32_t pt_mask_of(const uint32_t *flags)
{
    const __m256 *v = (const __m256 *)flags;
    return (uint32_t)_mm256_movemask_ps(v[0]) | (uint32_t)_mm256_movemask_ps(v[1]) << 8 |
           (uint32_t)_mm256_movemask_ps(v[2]) << 16 | (uint32_t)_mm256_movemask_ps(v[3]) << 24;
}
#elif defined(__SSE2__)
#include <immintrin.h>
static inline uint32_t pt_mask_of(const uint32_t *flags)
{
    const __m128 *v = (const __m128 *)flags;
    uint32_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (uint32_t)_mm_movemask_ps(v[i]) << 4 * i;
    return mask;
}
#else
static inline uint32_t pt_mask_of(const uint32_t *flags)
{
    uint32_t mask = 0;
    for (int i = 0; i < PT_WARP_SIZE; i++)
        mask |= (flags[i] & 1) << i;
    return mask;
}
#endif

static inline void pt_spread(uint32_t mask, uint32_t *flags)
{
    for (int i = 0; i < PT_WARP_SIZE; i++)
        flags[i] = -(mask >> i & 1);
}

#endif
