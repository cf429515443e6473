/* Directives between the header of a function and its body. */
#ifndef PTERA_FRONTEND_DIRECTIVE_H
#define PTERA_FRONTEND_DIRECTIVE_H

#include "frontend/token.h"

/* All that stand there, for kernels, functions and prototypes. */
bool pt_directive_read(struct pt_parser *p, uint32_t func);
/* Combinations that exclude or need each other. */
bool pt_directive_check(struct pt_parser *p, const struct pt_func *f, const struct pt_token *name);

#endif
