/* What the decoder inserts to have an operand in a slot. */
#ifndef PTERA_BACKEND_INTERP_MATERIALIZE_H
#define PTERA_BACKEND_INTERP_MATERIALIZE_H

#include "backend/interp/state.h"

#define pt_materialize_sreg PT_LEVEL_NAME(pt_materialize_sreg)
pt_handler pt_materialize_sreg(enum pt_sreg sreg, uint32_t bytes);
#define pt_materialize_address PT_LEVEL_NAME(pt_materialize_address)
pt_handler pt_materialize_address(enum pt_space space, bool generic, uint32_t bytes);
#define pt_materialize_extend PT_LEVEL_NAME(pt_materialize_extend)
/* Copies operand 1 to 0, `from` bits extended to `to` bits (32 or 64 bit slots as the widths
 * say). */
pt_handler pt_materialize_extend(uint32_t from, uint32_t to, bool is_signed);
/* Copies the low 32 bits of 64-bit operand 1 to 0. */
#define pt_materialize_narrow PT_LEVEL_NAME(pt_materialize_narrow)
pt_handler pt_materialize_narrow(void);

#endif
