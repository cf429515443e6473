/* Constant expressions. */
#ifndef PTERA_FRONTEND_CONSTEXPR_H
#define PTERA_FRONTEND_CONSTEXPR_H

#include "frontend/token.h"

/* type: PT_s64, PT_u64, PT_f64, or PT_f32 for a lone 0f… whose bits are kept. */
struct pt_const {
    enum pt_type type;
    int64_t i;
    double f;
};
bool pt_constexpr_parse(struct pt_parser *p, struct pt_const *value);
/* True if the token can start a constant expression. */
bool pt_constexpr_starts(const struct pt_token *t);

#endif
