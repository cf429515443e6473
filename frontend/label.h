/* Labels of a function: uses before the definition, scopes, aliases. */
#ifndef PTERA_FRONTEND_LABEL_H
#define PTERA_FRONTEND_LABEL_H

#include "frontend/token.h"

/* The label that a name stands for where the current token is, pending if it is not met yet. 0
 * after an error. */
uint32_t pt_label_use(struct pt_parser *p, const struct pt_token *name);
/* NAME: where the next instruction will be. */
bool pt_label_define(struct pt_parser *p, const struct pt_token *at);
/* For pt_scope_leave, ud being the parser: a block ends in which a label was used but not met. It
 * is one of the block around, or still to come there. */
void pt_label_leave(void *ud, const struct pt_binding *pending);
/* At the end of a function: makes every use of a label that turned out to be another one name that
 * one, and drops those labels. */
void pt_label_resolve(struct pt_parser *p);

#endif
