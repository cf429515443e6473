/* Declarations of registers. */
#ifndef PTERA_FRONTEND_REGISTER_H
#define PTERA_FRONTEND_REGISTER_H

#include "frontend/decl.h"

/* name or name<N> of a .reg declaration. */
bool pt_register_read(struct pt_parser *p, const struct pt_decl *d);

/* A register of that name, or the components of a vector: the first is *reg. */
bool pt_register_add(struct pt_parser *p, const struct pt_token *at, uint32_t name,
                     const struct pt_decl *d, uint32_t *reg);

/* One that the text does not name. */
bool pt_register_temporary(struct pt_parser *p, const struct pt_token *at, enum pt_type type,
                           uint32_t *reg);

#endif
