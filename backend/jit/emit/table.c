/* The table of emitters. */
#include "backend/jit/emit/table.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/fast_math.h"
#include "backend/jit/emit/mufu.h"
#include "backend/jit/jit.h"

/* The instruction table says of each of these rows that it has an emitter. */
enum {
#define ROW(id, syntax, shape, effects, jit, ptx, sm) JIT_OF_##id = (int)PT_JIT_##jit,
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm)
#include "ir/isa.def"
};
#define EMIT(row, function) \
    _Static_assert(JIT_OF_##row == (int)PT_JIT_EMIT, #row " has an emitter");
#include "backend/jit/emit/emit.def"

jit_emitter *jit_table_emitter(const struct jit_unit *u, const struct pt_form *form)
{
    static jit_emitter *const emitters[PT_OP_COUNT] = {
#define EMIT(row, function) [PT_OP_##row] = jit_emit_##function,
#include "backend/jit/emit/emit.def"
    };
    jit_emitter *fast = jit_fast_math_emitter(u, form);
    jit_emitter *unit = jit_mufu_emitter(u, form);
    return fast ? fast : unit ? unit : emitters[form->op];
}

bool jit_table_is_partial(const struct jit_unit *u, const struct pt_form *form)
{
    return !jit_fast_math_emitter(u, form) && jit_mufu_emitter(u, form);
}
