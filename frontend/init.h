/* Initialisers of variables. */
#ifndef PTERA_FRONTEND_INIT_H
#define PTERA_FRONTEND_INIT_H

#include "frontend/token.h"

/* The initialiser of a variable, after '='. dims[0] may be 0: the number of elements decides,
 * and is stored. */
bool pt_init_parse(struct pt_parser *p, struct pt_symbol *symbol, uint64_t *dims, uint32_t n_dims);
/* { name = value, … } of textures, samplers and surfaces. */
bool pt_init_opaque(struct pt_parser *p, enum pt_type type);

#endif
