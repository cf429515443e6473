/* The selectors of all rows. */
#ifndef PTERA_BACKEND_INTERP_SELECTORS_H
#define PTERA_BACKEND_INTERP_SELECTORS_H

#include "backend/interp/interp.h"

#define pt_selectors PT_LEVEL_NAME(pt_selectors)
/* By enum pt_op; NULL: there is none yet. */
extern const pt_selector pt_selectors[PT_OP_COUNT];

#endif
