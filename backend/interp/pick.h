/* Shared by the arithmetic selectors: binding by type, modifiers as numbers, and LANE lists as handlers. */
#ifndef PTERA_BACKEND_INTERP_PICK_H
#define PTERA_BACKEND_INTERP_PICK_H

#include "backend/interp/interp.h"
#include "backend/semantics/lane.h"

/* PT_LANES asks for vectors; a division or a 128-bit product has none, and clang would say so. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define LANE1_FN(name, D, A, ...) PT_FN1(name, D, A, __VA_ARGS__)
#define LANE2_FN(name, D, A, B, ...) PT_FN2(name, D, A, B, __VA_ARGS__)
#define LANE3_FN(name, D, A, B, C, ...) PT_FN3(name, D, A, B, C, __VA_ARGS__)
#define LANE4_FN(name, D, A, B, C, E, ...) PT_FN4(name, D, A, B, C, E, __VA_ARGS__)

/* Handlers by the type they are for; NULL: none. */
#define PT_TABLE(name) static const pt_handler name[PT_TYPE_COUNT]

/* pt_bind with letters that depend on types: 0 to 3 is the width of that type, n of the last, d twice type 0. */
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
