/* Tuning constants of the compiler, JIT_NAME: tune.def says of each in what unit it is, and what
 * chose it. */
#ifndef PTERA_BACKEND_JIT_TUNE_H
#define PTERA_BACKEND_JIT_TUNE_H

enum {
#define TUNE(name, value, unit, why) JIT_##name = (value),
#include "backend/jit/tune.def"
#undef TUNE
};

#define TUNE(name, value, unit, why) \
    _Static_assert(sizeof(unit) > 1 && sizeof(why) > 1, #name " has a unit and a reason");
#include "backend/jit/tune.def"
#undef TUNE

#endif
