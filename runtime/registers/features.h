/* What the estimate is made from: numbers that tell of a function how many registers it may
 * need. */
#ifndef PTERA_RUNTIME_REGISTERS_FEATURES_H
#define PTERA_RUNTIME_REGISTERS_FEATURES_H

#include "ir/ir.h"

enum pt_feature {
#define FEATURE(name, what) PT_FEATURE_##name,
#include "runtime/registers/features.def"
    PT_FEATURES
};

/* `bound`: the registers that directives allow. The function is lowered. Work is done in
 * `arena`. */
void pt_features_find(const struct pt_module *m, const struct pt_func *f, uint32_t bound,
                      int32_t features[PT_FEATURES], struct pt_arena *arena);

#endif
