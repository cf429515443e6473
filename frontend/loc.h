/* .file, .loc and what source debuggers are told. */
#ifndef PTERA_FRONTEND_LOC_H
#define PTERA_FRONTEND_LOC_H

#include "frontend/token.h"

bool pt_loc_file(struct pt_parser *p);
bool pt_loc_parse(struct pt_parser *p);
bool pt_loc_intermediate(struct pt_parser *p);

#endif
