/* The end of a CTA: the next of its row begins, or native code returns. */
#ifndef PTERA_BACKEND_JIT_CONTROL_CTA_END_H
#define PTERA_BACKEND_JIT_CONTROL_CTA_END_H

#include "backend/jit/jit.h"

/* The CTA is through: the next of the row begins, or native code returns. */
void jit_end_cta(const struct jit *j);

#endif
