/* The instruction table (isa.def) as data: rows, types, modifiers, special registers, and the match
 * of a spelled instruction to its row.
 *
 * Words: a *row* is one syntax line of isa.def; a *form* is a row with its types and modifiers
 * chosen, that is, one distinct spelling such as "add.rn.ftz.f32". A module interns its forms (a
 * few hundred at most), and each instruction holds the index of one.
 */
#ifndef PTERA_IR_ISA_H
#define PTERA_IR_ISA_H

#include <stdbool.h>
#include <stdint.h>

enum pt_type {
    PT_TYPE_NONE,
#define TYPE(name, bits, class) PT_##name,
#include "ir/type.def"
    PT_TYPE_COUNT
};

enum pt_type_class { PT_CLASS_P, PT_CLASS_B, PT_CLASS_U, PT_CLASS_S, PT_CLASS_F, PT_CLASS_H,
                     PT_CLASS_I, PT_CLASS_N, PT_CLASS_O };

const char *pt_type_name(enum pt_type type); /* "u32" */
unsigned pt_type_bits(enum pt_type type);
/* Bytes one value takes in memory; 0 for pred and sub-byte types. */
unsigned pt_type_bytes(enum pt_type type);
enum pt_type_class pt_type_class(enum pt_type type);
bool pt_type_is_int(enum pt_type type); /* bits, unsigned or signed */

/* Every modifier token of every instruction: PT_M_ftz for ".ftz". Tokens with "::" or characters
 * that C does not allow in names have the C name given in mod.def. */
enum pt_mod {
    PT_M_NONE,
#define MOD(name, spelling) PT_M_##name,
#define SET(name, ...)
#include "ir/mod.def"
    PT_M_COUNT
};
const char *pt_mod_spelling(enum pt_mod mod); /* "ftz", "L1::no_allocate" */

enum pt_op {
    PT_OP_NONE,
#define ROW(id, syntax, shape, effects, jit, ptx, sm) PT_OP_##id,
#define ROW_TODO(id, syntax, shape, effects, jit, ptx, sm) PT_OP_##id,
#include "ir/isa.def"
    PT_OP_COUNT
};

/* What an instruction does besides writing its destinations (the effects column, or-ed
 * together). */
enum pt_effect {
    PT_FX_PURE = 0,
    PT_FX_READ = 1 << 0,    /* reads memory */
    PT_FX_WRITE = 1 << 1,   /* writes memory */
    PT_FX_ATOMIC = 1 << 2,  /* an atomic access */
    PT_FX_WARP = 1 << 3,    /* needs other lanes of the warp (sync point at warp scope) */
    PT_FX_CTA = 1 << 4,     /* sync point at CTA scope */
    PT_FX_CLUSTER = 1 << 5, /* sync point at cluster scope */
    PT_FX_BRANCH = 1 << 6,  /* may continue elsewhere than at the next instruction */
    PT_FX_END = 1 << 7,     /* never continues at the next instruction (unless guarded) */
    PT_FX_CALL = 1 << 8,
    PT_FX_FENCE = 1 << 9,
    PT_FX_VOLATILE = 1 << 10, /* depends on when it runs: clocks, activemask, nanosleep */
    PT_FX_CARRY_IN = 1 << 11, /* reads CC.CF */
    PT_FX_CARRY_OUT = 1 << 12,/* writes CC.CF */
    PT_FX_FP = 1 << 13        /* floating-point arithmetic */
};

enum { PT_FORM_MODS = 16, PT_FORM_TYPES = 6 };

/* One spelling, parsed. `mod` and `type` are in spelling order; unused elements are 0. */
struct pt_form {
    uint16_t op;                  /* enum pt_op */
    uint8_t n_mods, n_types;
    uint8_t vec;                  /* 1, or 2, 4, 8 for .v2 .v4 .v8 */
    uint8_t min_sm_feature;       /* 0, 'a' or 'f': needs an architecture-specific target */
    uint16_t min_sm;              /* 90 for sm_90; 0: every target */
    uint16_t min_ptx;             /* 78 for .version 7.8 */
    uint16_t variant;             /* which operands are there: see pt_form_slot in ir/row.h */
    uint16_t mod[PT_FORM_MODS];   /* enum pt_mod */
    uint8_t type[PT_FORM_TYPES];  /* enum pt_type */
    uint32_t effects;             /* enum pt_effect, of the row */
    const char *spelling;         /* as written, "add.rn.f32" */
};

/* True if the spelling holds the modifier. */
bool pt_form_has(const struct pt_form *form, enum pt_mod mod);

enum pt_space {
    PT_SPACE_GENERIC,
    PT_SPACE_REG,
    PT_SPACE_GLOBAL,
    PT_SPACE_CONST,
    PT_SPACE_SHARED, /* shared::cta */
    PT_SPACE_SHARED_CLUSTER,
    PT_SPACE_LOCAL,
    PT_SPACE_PARAM, /* kernel parameter, or parameter and call argument of a function */
    PT_SPACE_TEX
};

/* The state space that a modifier names (.shared::cluster: PT_SPACE_SHARED); PT_SPACE_GENERIC: it
 * names none. */
enum pt_space pt_mod_space(enum pt_mod mod);
/* The first that the form names; PT_SPACE_GENERIC: none. */
enum pt_space pt_form_space(const struct pt_form *form);

/* Special registers: SREG(c_name, "%spelling", type, ptx, sm); vectors have one entry a
 * component. */
enum pt_sreg {
    PT_SREG_NONE,
#define SREG(name, spelling, type, ptx, sm) PT_SREG_##name,
#include "ir/sreg.def"
    PT_SREG_COUNT
};
const char *pt_sreg_spelling(enum pt_sreg sreg);
enum pt_type pt_sreg_type(enum pt_sreg sreg);
/* PT_SREG_NONE if there is none of that name. */
enum pt_sreg pt_sreg_find(const char *name, uint32_t len);
/* The lowest .version and .target that know it. */
void pt_sreg_needs(enum pt_sreg sreg, uint16_t *ptx, uint16_t *sm);

/* What native code does for a row: isa.def's column `jit`. */
enum pt_compiled { PT_JIT_EMIT, PT_JIT_CALL, PT_JIT_NONE };

const char *pt_op_id(enum pt_op op);      /* "add_f32" */
const char *pt_op_syntax(enum pt_op op);  /* the row's syntax line */
const char *pt_op_chapter(enum pt_op op); /* "integer": the file in ir/isa that has the row */
bool pt_op_is_supported(enum pt_op op);   /* false for ROW_TODO */
enum pt_compiled pt_op_compiled(enum pt_op op);
bool pt_op_is_golden(enum pt_op op);      /* what it computes is compared with a GPU's results:
                                             golden.def */
uint32_t pt_op_effects(enum pt_op op);    /* enum pt_effect */

/* Versions of the PTX ISA: 1.0 and later. 90 is 9.0. */
bool pt_ptx_is_known(unsigned major, unsigned minor);
unsigned pt_ptx_newest(void);

#endif
