/* The rules that a lowered function obeys. */
#ifndef PTERA_IR_VERIFY_H
#define PTERA_IR_VERIFY_H

#include "ir/ir.h"

/* Returns NULL, or what is wrong (in the arena): a bug of
 * ours, not of the input. */
const char *pt_verify(struct pt_module *m, const struct pt_func *f);

#endif
