/* Declarations of variables and registers. */
#ifndef PTERA_FRONTEND_VARIABLE_H
#define PTERA_FRONTEND_VARIABLE_H

#include "frontend/token.h"

/* [.align] .space … name, … ; with the linkage already read. */
bool pt_variable_read(struct pt_parser *p, enum pt_linkage linkage,
                      const struct pt_token *linkage_tok);

#endif
