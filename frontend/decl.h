/* Variables, parameters, registers. */
#ifndef PTERA_FRONTEND_DECL_H
#define PTERA_FRONTEND_DECL_H

#include "frontend/token.h"

/* [.align] .space … name, … ; with the linkage already read. */
bool pt_decl_variables(struct pt_parser *p, enum pt_linkage linkage,
                       const struct pt_token *linkage_tok);
/* ( .param …, … ) of the current function's scope, appended to its params or results. In a
 * prototype names need not differ. */
bool pt_decl_parameters(struct pt_parser *p, uint32_t func, bool is_result, bool is_prototype);
/* Does the current token start a variable declaration? */
bool pt_decl_starts(const struct pt_parser *p);

/* The rest of .attribute( … ) */
bool pt_decl_attribute(struct pt_parser *p, bool *is_managed);

#endif
