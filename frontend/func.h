/* .entry, .func and .alias. */
#ifndef PTERA_FRONTEND_FUNC_H
#define PTERA_FRONTEND_FUNC_H

#include "frontend/token.h"

bool pt_func_parse(struct pt_parser *p, enum pt_linkage linkage);
bool pt_func_alias(struct pt_parser *p);

#endif
