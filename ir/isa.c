/* Types, modifiers, rows, special registers and targets: what the .def files say of them. */
#include "ir/isa.h"

#include <string.h>

#include "ir/row.h"

/* ---- types, modifiers, rows ------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint16_t bits;
    uint8_t class;
} types[PT_TYPE_COUNT] = {
    {"", 0, 0},
#define TYPE(name, bits, class) {#name, bits, PT_CLASS_##class},
#include "ir/type.def"
};

const char *pt_type_name(enum pt_type type)
{
    return types[type].name;
}

unsigned pt_type_bits(enum pt_type type)
{
    return types[type].bits;
}

unsigned pt_type_bytes(enum pt_type type)
{
    return types[type].bits / 8;
}

enum pt_type_class pt_type_class(enum pt_type type)
{
    return types[type].class;
}

bool pt_type_is_int(enum pt_type type)
{
    enum pt_type_class c = pt_type_class(type);
    return c == PT_CLASS_B || c == PT_CLASS_U || c == PT_CLASS_S;
}

static const char *const mods[PT_M_COUNT] = {
    "",
#define MOD(name, spelling) spelling,
#include "ir/mod.def"
};

const char *pt_mod_spelling(enum pt_mod mod)
{
    return mods[mod];
}

/* The effects column names enum pt_effect without its prefix. */
enum {
    PURE = PT_FX_PURE,
    READ = PT_FX_READ,
    WRITE = PT_FX_WRITE,
    ATOMIC = PT_FX_ATOMIC,
    WARP = PT_FX_WARP,
    CTA = PT_FX_CTA,
    CLUSTER = PT_FX_CLUSTER,
    BRANCH = PT_FX_BRANCH,
    END = PT_FX_END,
    CALL = PT_FX_CALL,
    FENCE = PT_FX_FENCE,
    VOLATILE = PT_FX_VOLATILE,
    CARRY_IN = PT_FX_CARRY_IN,
    CARRY_OUT = PT_FX_CARRY_OUT,
    FP = PT_FX_FP
};

static const struct {
    const char *id, *syntax;
    uint32_t effects;
    bool is_supported;
    enum pt_compiled compiled;
} rows[PT_OP_COUNT] = {
    {"", "", 0, false, PT_JIT_NONE},
#define ROW(id, syntax, shape, effects, jit, ptx, sm) {#id, syntax, effects, true, PT_JIT_##jit},
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm) \
    {#id, syntax, effects, false, PT_JIT_NONE},
#include "ir/isa.def"
};

const char *pt_op_id(enum pt_op op)
{
    return rows[op].id;
}

const char *pt_op_syntax(enum pt_op op)
{
    return rows[op].syntax;
}

const char *pt_op_chapter(enum pt_op op)
{
    switch (op) {
#define ROW(id, syntax, shape, effects, jit, ptx, sm) case PT_OP_##id:
#define CHAPTER_END(name) return #name;
#include "ir/isa.def"
    default:
        return "";
    }
}

bool pt_op_is_supported(enum pt_op op)
{
    return rows[op].is_supported;
}

enum pt_compiled pt_op_compiled(enum pt_op op)
{
    return rows[op].compiled;
}

static const bool golden[PT_OP_COUNT] = {
#define GOLDEN(row_id) [PT_OP_##row_id] = true,
#include "ir/golden.def"
};

bool pt_op_is_golden(enum pt_op op)
{
    return golden[op];
}

uint32_t pt_op_effects(enum pt_op op)
{
    return rows[op].effects;
}

bool pt_form_has(const struct pt_form *form, enum pt_mod mod)
{
    for (unsigned i = 0; i < form->n_mods; i++)
        if (form->mod[i] == mod)
            return true;
    return false;
}

enum pt_space pt_mod_space(enum pt_mod mod)
{
    switch (mod) {
    case PT_M_global:
        return PT_SPACE_GLOBAL;
    case PT_M_const:
        return PT_SPACE_CONST;
    case PT_M_shared:
    case PT_M_shared_cta:
    case PT_M_shared_cluster:
        return PT_SPACE_SHARED;
    case PT_M_local:
        return PT_SPACE_LOCAL;
    case PT_M_param:
    case PT_M_param_entry:
    case PT_M_param_func:
        return PT_SPACE_PARAM;
    default:
        return PT_SPACE_GENERIC;
    }
}

enum pt_space pt_form_space(const struct pt_form *form)
{
    enum pt_space space = PT_SPACE_GENERIC;
    for (unsigned i = 0; i < form->n_mods && space == PT_SPACE_GENERIC; i++)
        space = pt_mod_space((enum pt_mod)form->mod[i]);
    return space;
}

/* ---- special registers ----------------------------------------------------------------------- */

static const struct {
    const char *spelling;
    uint8_t type;
    uint16_t ptx, sm;
} sregs[PT_SREG_COUNT] = {
    {"", 0, 0, 0},
#define SREG(name, spelling, type, ptx, sm) {spelling, PT_##type, ptx, sm},
#include "ir/sreg.def"
};

const char *pt_sreg_spelling(enum pt_sreg sreg)
{
    return sregs[sreg].spelling;
}

enum pt_type pt_sreg_type(enum pt_sreg sreg)
{
    return sregs[sreg].type;
}

void pt_sreg_needs(enum pt_sreg sreg, uint16_t *ptx, uint16_t *sm)
{
    *ptx = sregs[sreg].ptx;
    *sm = sregs[sreg].sm;
}

/* ---- versions -------------------------------------------------------------------------------- */

/* By major version: the last minor one. */
static const uint8_t last_minor[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 5};
enum { LAST_MAJOR = sizeof last_minor - 1 };

bool pt_ptx_is_known(unsigned major, unsigned minor)
{
    return major >= 1 && major <= LAST_MAJOR && minor <= last_minor[major];
}

unsigned pt_ptx_newest(void)
{
    return LAST_MAJOR * 10 + last_minor[LAST_MAJOR];
}

/* ---- targets --------------------------------------------------------------------------------- */

const struct pt_target pt_targets[] = {
#define TARGET(number, feature, ptx) {number, feature, ptx},
#include "ir/target.def"
};
const unsigned pt_n_targets = sizeof pt_targets / sizeof *pt_targets;
_Static_assert(sizeof pt_targets / sizeof *pt_targets <= 64, "a bit for each target");

bool pt_target_is_known(uint16_t sm, uint8_t feature)
{
    for (unsigned i = 0; i < pt_n_targets; i++)
        if (pt_targets[i].sm == sm && pt_targets[i].feature == feature)
            return true;
    return false;
}

unsigned pt_target_find(uint16_t sm, uint8_t feature)
{
    unsigned best = 0;
    for (unsigned i = 0; i < pt_n_targets; i++) {
        if (pt_targets[i].sm == sm && pt_targets[i].feature == feature)
            return i;
        if (pt_targets[i].sm <= sm && !pt_targets[i].feature)
            best = i;
    }
    return best;
}

const struct pt_target *pt_when_target(const struct pt_when *when)
{
    static const uint8_t features[] = {0, 'a', 'f'};
    for (unsigned f = 0; f < 3; f++)
        for (unsigned i = 0; i < pt_n_targets; i++)
            if (pt_targets[i].feature == features[f] && (when->targets >> i & 1))
                return &pt_targets[i];
    return NULL;
}

void pt_when_narrow(struct pt_when *a, const struct pt_when *b)
{
    a->targets &= b->targets;
    if (b->ptx_lo > a->ptx_lo)
        a->ptx_lo = b->ptx_lo;
    if (b->ptx_hi < a->ptx_hi)
        a->ptx_hi = b->ptx_hi;
}

bool pt_when_holds(const struct pt_when *when, unsigned target, uint16_t ptx)
{
    return (when->targets >> target & 1) && ptx >= when->ptx_lo && ptx <= when->ptx_hi;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* Edit distance of two short words. */
unsigned pt_word_distance(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    enum { WORD = 40 };
    unsigned row[WORD + 1];
    if (na > WORD || nb > WORD)
        return UINT32_MAX;
    for (unsigned j = 0; j <= nb; j++)
        row[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned corner = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned next = min3(row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = row[j];
            row[j] = next;
        }
    }
    return row[nb];
}
