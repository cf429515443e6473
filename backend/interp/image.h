/* For selectors of textures and surfaces: the handle is in a register, or a reference of the
 * module, whose address is one. */
#ifndef PTERA_BACKEND_INTERP_IMAGE_H
#define PTERA_BACKEND_INTERP_IMAGE_H

#include "backend/interp/operands.h"

/* The slot of the handle; UINT32_MAX after reporting. */
static inline uint32_t pt_image_handle(struct pt_select *s, const struct pt_operand *o)
{
    bool is_parameter = o->kind == PT_OPND_SYM &&
                        s->module->symbols.v[o->index].space != PT_SPACE_GLOBAL;
    if (!is_parameter)
        return pt_operands_source(s, o, 8);
    pt_refuse(s, "a parameter that is a texture, sampler or surface");
    return UINT32_MAX;
}

#endif
