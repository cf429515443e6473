/* The text form of a module. */
#ifndef PTERA_IR_PRINT_H
#define PTERA_IR_PRINT_H

#include "ir/ir.h"

/* Writes the name of register `reg` as in the text ("%r12"), as snprintf does. Returns its
 * length. */
int pt_print_reg(const struct pt_func *func, uint32_t reg, char *buf, size_t size);

/* The module, or one function (func != PT_NONE), as PTX text that pt_parse reads back. Lowered
 * functions print their blocks as labels with what the analyses found in comments. */
char *pt_print(struct pt_module *m, uint32_t func, struct pt_arena *arena, size_t *len);

#endif
