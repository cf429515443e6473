/* Shared by the arithmetic selectors: binding by type, modifiers as numbers, and LANE lists as
 * handlers. */
#ifndef PTERA_BACKEND_INTERP_PICK_H
#define PTERA_BACKEND_INTERP_PICK_H

#include "backend/interp/interp.h"
#include "backend/interp/lanes.h"
#include "backend/semantics/lane.h"

/* PT_LANES asks for vectors; a division or a 128-bit product has none, and clang would say so. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* An operation of a list: the handler and, but for those of four sources, the function over n
 * lanes. */
#define LANE1_FN(name, D, A, ...)   \
    PT_FN1(name, D, A, __VA_ARGS__) \
    PT_LANES_FN(name, D, A, PT_LANES_SOURCE(A, a), __VA_ARGS__)
#define LANE2_FN(name, D, A, B, ...)   \
    PT_FN2(name, D, A, B, __VA_ARGS__) \
    PT_LANES_FN(name, D, A, PT_LANES_SOURCE(A, a) PT_LANES_SOURCE(B, b), __VA_ARGS__)
#define LANE3_FN(name, D, A, B, C, ...)                                                         \
    PT_FN3(name, D, A, B, C, __VA_ARGS__)                                                       \
    PT_LANES_FN(name, D, A, PT_LANES_SOURCE(A, a) PT_LANES_SOURCE(B, b) PT_LANES_SOURCE(C, c_), \
                __VA_ARGS__)
#define LANE4_FN(name, D, A, B, C, E, ...) PT_FN4(name, D, A, B, C, E, __VA_ARGS__)

#define PT_LANES_SOURCE(T, x) const PT_VAL_##T x = (PT_VAL_##T)((const PT_ELT_##T *)lanes_##x)[i];
#define PT_LANES_FN(name, D, A, sources, ...)                                          \
    static void lanes_##name(void *lanes_d, const void *lanes_a, const void *lanes_b,  \
                             const void *lanes_c_, uint32_t n)                         \
    {                                                                                  \
        (void)lanes_b;                                                                 \
        (void)lanes_c_;                                                                \
        PT_LANES_OF(n)                                                                 \
        {                                                                              \
            sources((PT_ELT_##D *)lanes_d)[i] = PT_PUT_##D((PT_VAL_##D)(__VA_ARGS__)); \
        }                                                                              \
    }
#if defined(__clang__)
#define PT_LANES_OF(n) \
    _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < (n & ~3u); i++)
#else
#define PT_LANES_OF(n) _Pragma("GCC ivdep") for (uint32_t i = 0; i < (n & ~3u); i++)
#endif

/* The same list as a table of its functions: PT_LANES_TABLE(mufu) = { the list, read with LANE1
 * defined as LANE1_ROW ... }. */
#define PT_LANES_TABLE(list) const struct pt_lanes_row PT_LEVEL_NAME(pt_lanes_##list)[]
#define PT_LANES_BYTES(T) sizeof(PT_ELT_##T)
#define LANE1_ROW(name, D, A, ...) LANES_ROW(name, PT_LANES_BYTES(D), PT_LANES_BYTES(A))
#define LANE2_ROW(name, D, A, B, ...) \
    LANES_ROW(name, PT_LANES_BYTES(D), PT_LANES_BYTES(A), PT_LANES_BYTES(B))
#define LANE3_ROW(name, D, A, B, C, ...) \
    LANES_ROW(name, PT_LANES_BYTES(D), PT_LANES_BYTES(A), PT_LANES_BYTES(B), PT_LANES_BYTES(C))
#define LANES_ROW(name_, ...) \
    {{.name = #name_, .fn = lanes_##name_, .bytes = {__VA_ARGS__}}, name_},
#define LANE4_ROW(name, D, A, B, C, E, ...)
#define PT_LANES_END {{0}, NULL}

/* Handlers by the type they are for; NULL: none. */
#define PT_TABLE(name) static const pt_handler name[PT_TYPE_COUNT]

/* pt_bind with letters that depend on types: 0 to 3 is the width of that type, n of the last, d
 * twice type 0. */
static inline bool pt_pick_bind(struct pt_select *s, const char *pattern)
{
    char widths[PT_OPERANDS + 1];
    uint32_t n = 0;
    for (; pattern[n] && n < PT_OPERANDS; n++) {
        char c = pattern[n];
        if (c >= '0' && c <= '3')
            c = PT_BITS(s, c - '0') == 64 ? 'l' : 'w';
        else if (c == 'n')
            c = PT_BITS(s, s->form->n_types - 1) == 64 ? 'l' : 'w';
        else if (c == 'd')
            c = PT_BITS(s, 0) == 32 ? 'l' : 'w';
        widths[n] = c;
    }
    widths[n] = 0;
    return pt_bind(s, widths);
}

/* Binds and returns the handler, or refuses the form where there is none. */
static inline pt_handler pt_pick(struct pt_select *s, pt_handler fn, const char *pattern)
{
    if (!s->decoder)
        return fn;
    if (!fn)
        return pt_refuse(s, s->form->spelling);
    return pt_pick_bind(s, pattern) ? fn : NULL;
}

/* .ftz; targets before sm_20 flush f32 subnormals without it (PTX ISA 9.7.3). */
static inline bool pt_pick_ftz(const struct pt_select *s)
{
    return PT_HAS(s, ftz) || s->module->sm < 20;
}

/* The rounding modifier; none is to nearest. */
static inline enum pt_round pt_pick_round(const struct pt_select *s)
{
    for (unsigned i = 0; i < s->form->n_mods; i++) {
        switch (s->form->mod[i]) {
        case PT_M_rn:
        case PT_M_rni:
            return PT_RN;
        case PT_M_rz:
        case PT_M_rzi:
            return PT_RZ;
        case PT_M_rm:
        case PT_M_rmi:
            return PT_RM;
        case PT_M_rp:
        case PT_M_rpi:
            return PT_RP;
        case PT_M_rna:
            return PT_RNA;
        default:
            break;
        }
    }
    return PT_RN;
}

#endif
