/* The decoder. */
#ifndef PTERA_BACKEND_INTERP_DECODE_H
#define PTERA_BACKEND_INTERP_DECODE_H

#include "backend/interp/state.h"

/* The handler of a form whose selector looks at nothing else; NULL: none. */
#define pt_decode_handler PT_LEVEL_NAME(pt_decode_handler)
pt_handler pt_decode_handler(struct pt_module *module, const struct pt_form *form, uint64_t *imm);

#define pt_decode_func PT_LEVEL_NAME(pt_decode_func)
/* Decodes function `index`, whose lowering is done. Errors are in the module's list. */
void pt_decode_func(struct pt_interp_program *p, uint32_t index, struct pt_arena *scratch);

#endif
