/* The text form of the IR. */
#include "ir/ir.h"

#include <stdio.h>

int pt_reg_name(const struct pt_func *func, uint32_t reg, char *buf, size_t size)
{
    const struct pt_reg *r = &func->regs.v[reg];
    if (r->is_range)
        return snprintf(buf, size, "%s%u", func->regs.v[r->base].name, reg - r->base);
    return snprintf(buf, size, "%s", r->name);
}
