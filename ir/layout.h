/* Where the parameters of a kernel lie. */
#ifndef PTERA_IR_LAYOUT_H
#define PTERA_IR_LAYOUT_H

#include "ir/ir.h"

/* The place of the next parameter of a kernel, at its own alignment behind those before it;
 * f->param_size grows to its end. False: that is beyond `limit` bytes. */
bool pt_layout_parameter(struct pt_func *f, struct pt_symbol *parameter, uint64_t limit);

#endif
