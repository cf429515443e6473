/* Calls and indirect branches against what they name. */
#ifndef PTERA_FRONTEND_CALL_H
#define PTERA_FRONTEND_CALL_H

#include "frontend/token.h"

/* Checks the results and arguments of a matched call against what it calls. */
bool pt_call_check(struct pt_parser *p, const struct pt_token *at, const struct pt_insn *insn);
/* Checks that the table of an indirect branch holds labels. */
bool pt_call_check_branch(struct pt_parser *p, const struct pt_token *at,
                          const struct pt_insn *insn);

#endif
