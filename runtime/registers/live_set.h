/* The registers that are live at a place of a function, which moves backwards. */
#ifndef PTERA_RUNTIME_REGISTERS_LIVE_SET_H
#define PTERA_RUNTIME_REGISTERS_LIVE_SET_H

#include "runtime/registers/code.h"

bool pt_live_set_has(const uint64_t *set, uint32_t reg);
/* The first register of the set from `reg` on; UINT32_MAX: none. */
uint32_t pt_live_set_next(const uint64_t *set, uint32_t words, uint32_t reg);

/* To the end of the block. */
void pt_live_set_start(const struct pt_code *code, uint64_t *set, uint32_t block);
/* From behind an instruction to before it. */
void pt_live_set_step(const struct pt_code *code, uint64_t *set, uint32_t insn);

/* The sum of what the members have in `size`. */
int32_t pt_live_set_size(const struct pt_code *code, const uint64_t *set, const int32_t *size);
/* Likewise of those members that an instruction reads or writes. */
int32_t pt_live_set_named(const struct pt_code *code, const uint64_t *set, uint32_t insn,
                          const int32_t *size);

#endif
