/* .callprototype: the signature of an indirect call. */
#ifndef PTERA_FRONTEND_PROTOTYPE_H
#define PTERA_FRONTEND_PROTOTYPE_H

#include "frontend/token.h"

/* The rest of NAME: .callprototype … ; the signature becomes a function of its own. */
bool pt_prototype_parse(struct pt_parser *p, uint32_t *signature);

#endif
