/* Operations without an emitter: calls of the interpreter's own functions over n lanes
 * (backend/lanes.h). */
#include "backend/jit/emit/lane_call.h"

#include "backend/jit/emit/emit.h"
#include "backend/jit/emit/helpers.h"
#include "backend/jit/emit/table.h"
#include "backend/jit/jit.h"
#include "backend/jit/llvm/build.h"
#include "backend/jit/object/object.h"
#include "backend/jit/object/snapshot.h"
#include "backend/jit/tune.h"

enum { MIN_LANES = 4 };

static bool is_real(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    kind = kind == LLVMVectorTypeKind ? LLVMGetTypeKind(LLVMGetElementType(type)) : kind;
    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

/* The memory of argument i: the same for all calls, as each is over before the next. */
LLVMValueRef jit_lane_call_memory(const struct jit *j, unsigned i)
{
    j->code->n_lanes_used++;
    if (!j->code->lanes[i]) {
        LLVMTypeRef type =
            LLVMArrayType2(LLVMInt64TypeInContext(j->code->context), JIT_LANE_CALL_LANES);
        j->code->lanes[i] = LLVMBuildAlloca(j->code->allocas, type, "lanes");
        LLVMSetAlignment(j->code->lanes[i], 64);
    }
    return j->code->lanes[i];
}

/* One value becomes the least that a function takes. */
static LLVMValueRef spread(struct jit_op *op, LLVMValueRef value, unsigned bits)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(op->j->code->context);
    LLVMTypeRef type = jit_int_type(op->j, bits, MIN_LANES);
    value = BUILD(InsertElement, LLVMGetPoison(type), value, LLVMConstInt(i32, 0, false));
    return BUILD(ShuffleVector, value, LLVMGetPoison(type),
                 LLVMConstNull(LLVMVectorType(i32, MIN_LANES)));
}

static void store_source(struct jit_op *op, LLVMValueRef value, unsigned bytes, LLVMValueRef to)
{
    unsigned bits = 8 * bytes;
    if (is_real(LLVMTypeOf(value)))
        value = jit_to_bits(op, value, bits);
    value = jit_resize(op, value, bits, false);
    if (op->lanes == 1)
        value = spread(op, value, bits);
    LLVMSetAlignment(LLVMBuildStore(op->b, value, to), 16);
}

static LLVMValueRef load_result(struct jit_op *op, unsigned bytes, LLVMValueRef from)
{
    enum pt_type type = pt_slot_type(pt_form_slot(op->form, 0), op->form);
    LLVMValueRef value = BUILD(Load2, jit_ints(op, 8 * bytes), from);
    LLVMSetAlignment(value, 16);
    value = jit_resize(op, value, pt_type_bits(type), false);
    return BUILD(BitCast, value, jit_type(op->j, type, op->lanes));
}

static bool takes(const struct jit_op *op, const struct pt_lanes *lanes)
{
    unsigned n = 0;
    for (unsigned i = 1; i < 4; i++)
        n += lanes->bytes[i] != 0;
    return n == op->n && lanes->bytes[0];
}

static LLVMValueRef part(struct jit_op *op, LLVMValueRef array, unsigned index, unsigned bytes)
{
    return jit_at(op->j, array, jit_i64(op->j, (uint64_t)index * op->lanes * bytes));
}

void jit_lane_call_store(struct jit_op *op, unsigned i, unsigned k)
{
    uint64_t kind;
    const struct pt_lanes *lanes = jit_snapshot_lanes(op->j->unit->snapshot, op->form, &kind);
    if (!lanes || !takes(op, lanes))
        return;
    unsigned bytes = lanes->bytes[i + 1];
    store_source(op, op->a[i], bytes, part(op, jit_lane_call_memory(op->j, i + 1), k, bytes));
    op->a[i] = NULL;
}

bool jit_lane_call_emit_together(struct jit_op *ops, unsigned n)
{
    struct jit_op *op = &ops[0];
    const struct jit *j = op->j;
    uint64_t kind;
    const struct pt_lanes *lanes = jit_snapshot_lanes(j->unit->snapshot, op->form, &kind);
    if (!lanes || !takes(op, lanes))
        return false;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0),
                i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, pointer, pointer, pointer, i32};
    LLVMValueRef args[5];
    for (unsigned i = 0; i < 4; i++) {
        args[i] = lanes->bytes[i] ? jit_lane_call_memory(j, i) : LLVMConstNull(pointer);
        for (unsigned k = 0; i && lanes->bytes[i] && k < n; k++)
            if (ops[k].a[i - 1])
                store_source(&ops[k], ops[k].a[i - 1], lanes->bytes[i],
                             part(&ops[k], args[i], k, lanes->bytes[i]));
    }
    if (lanes->takes_kind) {
        args[3] = jit_lane_call_memory(j, 3);
        LLVMBuildStore(op->b, jit_i64(j, kind), args[3]);
    }
    unsigned count = n * op->lanes;
    args[4] = LLVMConstInt(i32, count < MIN_LANES ? MIN_LANES : count, false);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 5, false);
    BUILD(Call2, type, jit_declare(j, JIT_LANES, lanes->name, type), args, 5);
    for (unsigned k = 0; k < n; k++)
        ops[k].d[0] =
            load_result(&ops[k], lanes->bytes[0], part(&ops[k], args[0], k, lanes->bytes[0]));
    return true;
}

bool jit_lane_call_emit(struct jit_op *op)
{
    return jit_lane_call_emit_together(op, 1);
}

bool jit_lane_call_exists(const struct jit_unit *u, const struct pt_form *form)
{
    uint64_t kind;
    return jit_snapshot_lanes(u->snapshot, form, &kind) != NULL;
}

bool jit_lane_call_is_needed(const struct jit_unit *u, const struct pt_form *form)
{
    bool is_directed =
        pt_form_has(form, PT_M_rm) || pt_form_has(form, PT_M_rp) || pt_form_has(form, PT_M_rz);
    bool is_exact = is_directed && (form->effects & PT_FX_FP) && !jit_is_fast_rounding(u, form) &&
                    !jit_rounds_itself(u, form);
    if (jit_table_emitter(u, form) && !is_exact)
        return false;
    return jit_lane_call_exists(u, form);
}

LLVMValueRef jit_lane_call_emit_one(const struct jit *j, const char *name, LLVMValueRef a,
                                    LLVMValueRef b)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(j->code->context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(j->code->context);
    LLVMTypeRef types[] = {pointer, pointer, pointer, pointer, i32};
    struct jit_op op = {.j = j, .b = j->code->b, .lanes = 1};
    LLVMValueRef args[] = {jit_lane_call_memory(j, 0), jit_lane_call_memory(j, 1),
                           jit_lane_call_memory(j, 2), LLVMConstNull(pointer),
                           LLVMConstInt(i32, MIN_LANES, false)};
    store_source(&op, a, 4, args[1]);
    store_source(&op, b, 4, args[2]);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(j->code->context), types, 5, false);
    LLVMBuildCall2(j->code->b, type, jit_declare(j, JIT_LANES, name, type), args, 5, "");
    return LLVMBuildLoad2(j->code->b, i32, args[0], "");
}
