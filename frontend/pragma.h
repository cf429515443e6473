/* .pragma (PTX ISA, "Performance-Tuning Directives"). */
#ifndef PTERA_FRONTEND_PRAGMA_H
#define PTERA_FRONTEND_PRAGMA_H

#include "frontend/token.h"

/* .pragma "a", "b"; */
bool pt_pragma_parse(struct pt_parser *p);

#endif
