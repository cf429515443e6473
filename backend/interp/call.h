/* Calls, returns, and ends. */
#ifndef PTERA_BACKEND_INTERP_CALL_H
#define PTERA_BACKEND_INTERP_CALL_H

#include "backend/interp/state.h"

#define pt_call_end PT_LEVEL_NAME(pt_call_end)
const struct pt_code *pt_call_end(const struct pt_code *c, struct pt_frame *f);
/* The function a call names; PT_NONE if it is indirect. */
#define pt_call_callee PT_LEVEL_NAME(pt_call_callee)
uint32_t pt_call_callee(const struct pt_func *f, const struct pt_insn *insn);

#endif
