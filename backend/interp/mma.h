/* Products of matrices, for other engines. */
#ifndef PTERA_BACKEND_INTERP_MMA_H
#define PTERA_BACKEND_INTERP_MMA_H

#include "backend/interp/interp.h"

/* As product and product_named of struct pt_engine. */
#define pt_product_of PT_LEVEL_NAME(pt_product_of)
#define pt_product_named PT_LEVEL_NAME(pt_product_named)
const struct pt_product *pt_product_of(const struct pt_form *form, bool is_fast);
const struct pt_product *pt_product_named(const char *name);

#endif
