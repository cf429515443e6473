/* Data movement of one lane (PTX ISA 9.7.9): helpers of move.def. */
#ifndef PTERA_BACKEND_SEMANTICS_MOVE_H
#define PTERA_BACKEND_SEMANTICS_MOVE_H

#include "backend/semantics/lane.h"

/* prmt: four bytes picked from b:a by the nibbles of c; bit 3 of a nibble replicates the byte's
 * sign. */
PT_LANE uint32_t pt_move_prmt(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t v = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t sel = c >> 4 * i & 15;
        uint32_t byte = (uint32_t)(v >> 8 * (sel & 7)) & 255;
        uint32_t sign = -(byte >> 7) & 255;
        d |= (sel & 8 ? sign : byte) << 8 * i;
    }
    return d;
}

enum pt_prmt { PT_PRMT_f4e, PT_PRMT_b4e, PT_PRMT_rc8, PT_PRMT_ecl, PT_PRMT_ecr, PT_PRMT_rc16 };

/* The modes of prmt turn the low two bits of c into a selector (table in PTX ISA 9.7.8.7). */
PT_LANE uint32_t pt_move_prmt_mode(uint32_t a, uint32_t b, uint32_t c, enum pt_prmt mode)
{
    uint32_t n = c & 3, sel = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t pick = 0;
        switch (mode) {
        case PT_PRMT_f4e:
            pick = (n + i) & 7;
            break;
        case PT_PRMT_b4e:
            pick = (n - i) & 7;
            break;
        case PT_PRMT_rc8:
            pick = n;
            break;
        case PT_PRMT_ecl:
            pick = i > n ? i : n;
            break;
        case PT_PRMT_ecr:
            pick = i < n ? i : n;
            break;
        case PT_PRMT_rc16:
            pick = (n & 1) * 2 + (i & 1);
            break;
        }
        sel |= pick << 4 * i;
    }
    return pt_move_prmt(a, b, sel);
}

#endif
