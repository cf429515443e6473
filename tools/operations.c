/* What an instruction that was counted does. */
#include "tools/operations.h"

#include <stdio.h>
#include <string.h>

enum operation operations_find(const struct counted_insn *x)
{
    static const struct {
        const char *row;
        enum operation operation;
    } rows[] = {
#define OPERATION(ID, NAME)
#define ROW(id, ID) {#id, OPERATION_##ID},
#include "tools/operations.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].row, x->row))
            return rows[i].operation;
    return OPERATIONS;
}

/* ---- classes --------------------------------------------------------------------------------- */

static bool is_bits(const char *row)
{
    static const char *const rows[] = {
#define CLASS(ID, NAME)
#define KIND(kind, ID)
#define BITS(row) #row,
#include "tools/classes.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i], row))
            return true;
    return false;
}

static bool is_matrix(const struct counted_insn *x)
{
    return !strcmp(x->kind, "matrix");
}

/* Of "m16n8k16" in the spelling. */
static bool find_shape(const struct counted_insn *x, unsigned shape[3])
{
    for (const char *at = strstr(x->spelling, ".m"); at; at = strstr(at + 1, ".m"))
        if (sscanf(at, ".m%un%uk%u", &shape[0], &shape[1], &shape[2]) == 3)
            return true;
    return false;
}

/* By the last type of the spelling, as of "setp.lt.f32"; of matrices floats of fewer than 64 bits
 * are multiplied by the unit of halves. */
static enum insn_class class_of_type(const struct counted_insn *x)
{
    const char *dot = strrchr(x->spelling, '.'), *type = dot ? dot + 1 : "";
    unsigned shape[3];
    if (is_matrix(x) && !find_shape(x, shape))
        return CLASS_MISC;
    if (!strcmp(type, "f64"))
        return CLASS_FP64;
    if (!strncmp(type, "f16", 3) || !strncmp(type, "bf16", 4))
        return CLASS_FP16;
    if (!strncmp(type, "f32", 3))
        return is_matrix(x) ? CLASS_FP16 : CLASS_FP32;
    return CLASS_INTEGER;
}

enum insn_class operations_class(const struct counted_insn *x)
{
    enum { CLASS_FLOATS = CLASSES + 1 };
    static const struct {
        const char *kind;
        int class;
    } kinds[] = {
#define CLASS(ID, NAME)
#define KIND(kind, ID) {#kind, CLASS_##ID},
#define BITS(row)
#include "tools/classes.def"
    };
    if (is_bits(x->row))
        return CLASS_BIT;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, x->kind))
            return kinds[i].class == CLASS_FLOATS ? class_of_type(x)
                                                  : (enum insn_class)kinds[i].class;
    return CLASSES;
}

bool operations_is_barrier(const struct counted_insn *x)
{
    return !strncmp(x->row, "bar_", 4) || !strncmp(x->row, "barrier_", 8);
}

/* ---- matrices -------------------------------------------------------------------------------- */

enum tensor operations_tensor(const struct counted_insn *x, enum tensor_unit *unit)
{
    static const struct {
        const char *type;
        enum tensor_unit unit;
    } types[] = {
#define TENSOR(ID, NAME, TYPE, UNIT) {TYPE, UNIT_##UNIT},
#include "tools/tensors.def"
    };
    unsigned shape[3];
    if (!is_matrix(x) || !strstr(x->spelling, "mma") || !find_shape(x, shape))
        return TENSORS;
    for (int i = 0; i < TENSORS; i++)
        if (strstr(x->row, types[i].type)) {
            *unit = !strncmp(x->row, "wgmma", 5) ? UNIT_GMMA : types[i].unit;
            return (enum tensor)i;
        }
    return TENSORS;
}

uint64_t operations_tensor_work(const struct counted_insn *x)
{
    enum { WARPS_OF_GROUP = 4 };
    unsigned shape[3];
    if (!find_shape(x, shape))
        return 0;
    uint64_t work = 2 * (uint64_t)shape[0] * shape[1] * shape[2];
    return strncmp(x->row, "wgmma", 5) ? work : work / WARPS_OF_GROUP;
}
