/* Declarations of one function: whether they agree, and the place of the last one. */
#ifndef PTERA_FRONTEND_REDECLARE_H
#define PTERA_FRONTEND_REDECLARE_H

#include "frontend/token.h"

/* Same kind and parameters? */
bool pt_redeclare_same(const struct pt_module *m, const struct pt_func *a, const struct pt_func *b);
/* Makes function `now` (the last one) take the place of `old`. */
void pt_redeclare_replace(struct pt_parser *p, uint32_t old, uint32_t now);

#endif
