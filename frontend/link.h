/* Names with linkage that several modules of one text share. */
#ifndef PTERA_FRONTEND_LINK_H
#define PTERA_FRONTEND_LINK_H

#include "frontend/token.h"

/* For the first declaration of a name with linkage in the module that is read: *func (the last one)
 * becomes what other modules have under that name. If *is_spare it is a second .weak definition:
 * its body is to be read and dropped. */
bool pt_link_function(struct pt_parser *p, const struct pt_token *at, uint32_t *func,
                      bool *is_spare);
/* For a variable: *symbol is the one of other modules, made to what both declare, or PT_NONE: `now`
 * is to be added. */
bool pt_link_variable(struct pt_parser *p, const struct pt_token *at, const struct pt_symbol *now,
                      uint32_t *symbol);
/* After the last of several modules. */
bool pt_link_check(struct pt_parser *p);

#endif
