/* CTAs of a row side by side: analysis/cta_rows.h says when. */
#ifndef PTERA_BACKEND_JIT_CONTROL_CTA_ROWS_H
#define PTERA_BACKEND_JIT_CONTROL_CTA_ROWS_H

#include "backend/jit/jit.h"

/* What holds before a row's first CTA, once regions are known. */
void jit_cta_rows_begin(const struct jit *j);

/* i32: the first of the groups that run of each CTA, and the one behind the last. */
LLVMValueRef jit_cta_rows_first_group(const struct jit *j);
LLVMValueRef jit_cta_rows_end_group(const struct jit *j);

#endif
