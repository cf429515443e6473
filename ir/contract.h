/* Contraction: mul + add to fma, and what NVIDIA's assembler does besides. */
#ifndef PTERA_IR_CONTRACT_H
#define PTERA_IR_CONTRACT_H

#include "ir/ir.h"

/* mul + add to fma and divisions by constants to mul, as ptxas does it; mul + add only if m->fmad
 * and the function does not keep its products. `form` finds the form of an instruction by its
 * spelling. */
void pt_contract(struct pt_module *m, struct pt_func *f, struct pt_arena *scratch,
                 uint32_t (*form)(struct pt_module *m, struct pt_func *f, const char *spelling,
                                  struct pt_operand *operands, uint32_t n, uint32_t line));

#endif
