/* Parameters and results of functions. */
#ifndef PTERA_FRONTEND_PARAMETER_H
#define PTERA_FRONTEND_PARAMETER_H

#include "frontend/token.h"

/* ( .param …, … ) of the current function's scope, appended to its params or results. In a
 * prototype names need not differ. */
bool pt_parameter_read(struct pt_parser *p, uint32_t func, bool is_result, bool is_prototype);

#endif
