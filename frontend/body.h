/* Function bodies. */
#ifndef PTERA_FRONTEND_BODY_H
#define PTERA_FRONTEND_BODY_H

#include "frontend/token.h"

/* { … }, of the current function. */
bool pt_body_parse(struct pt_parser *p);

#endif
