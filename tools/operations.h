/* What an instruction that was counted does: metrics tell these apart. */
#ifndef PTERA_TOOLS_OPERATIONS_H
#define PTERA_TOOLS_OPERATIONS_H

#include "tools/counts.h"

enum operation {
#define OPERATION(ID, NAME) OPERATION_##ID,
#define ROW(id, ID)
#include "tools/operations.def"
    OPERATIONS
};

enum insn_class {
#define CLASS(ID, NAME) CLASS_##ID,
#define KIND(kind, ID)
#define BITS(row)
#include "tools/classes.def"
    CLASSES
};

/* What matrix units multiply. */
enum tensor {
#define TENSOR(ID, NAME, TYPE, UNIT) TENSOR_##ID,
#include "tools/tensors.def"
    TENSORS
};

enum tensor_unit { UNIT_HMMA, UNIT_IMMA, UNIT_DMMA, UNIT_GMMA, UNITS };

/* Each is the number of its kind if the instruction is none: OPERATIONS, CLASSES, TENSORS. */
enum operation operations_find(const struct counted_insn *x);
enum insn_class operations_class(const struct counted_insn *x);
enum tensor operations_tensor(const struct counted_insn *x, enum tensor_unit *unit);
/* How many additions and multiplications a warp has a matrix unit do. */
uint64_t operations_tensor_work(const struct counted_insn *x);
bool operations_is_barrier(const struct counted_insn *x);

#endif
