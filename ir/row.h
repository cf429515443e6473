/* The compiled instruction table: what the syntax lines of isa.def say, as data. Built once a
 * process, on first use.
 *
 * A row of isa.def has one *line* of syntax, and one more for each ALSO. A line has *elements*
 * (what may stand in the spelling) and *variants* (one for each choice of its optional operands). A
 * variant has a *slot* for each operand written.
 */
#ifndef PTERA_IR_ROW_H
#define PTERA_IR_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/isa.h"

/* What an operand of a slot is. */
enum pt_slot_kind {
    PT_SLOT_VALUE, /* a register or a constant (destinations: a register) */
    PT_SLOT_REG,   /* a register */
    PT_SLOT_IMM,   /* an integer constant */
    PT_SLOT_FIMM,  /* a constant of the type */
    PT_SLOT_SREG,
    PT_SLOT_ADDR, /* the address of a variable or function */
    PT_SLOT_LABEL,
    PT_SLOT_FUNC,
    PT_SLOT_TABLE,
    PT_SLOT_MEM,  /* [...]: a sub-slot for each part */
    PT_SLOT_PAIR, /* d|p: two sub-slots */
    PT_SLOT_LIST, /* (...) */
    PT_SLOT_VEC, /* {...}: one sub-slot for all elements, or one for the first and one for the
                    rest */
    PT_SLOT_SINK_ONLY /* _ */
};

enum pt_slot_flag {
    PT_SLOT_DEST = 1 << 0,     /* written */
    PT_SLOT_INOUT = 1 << 1,    /* written and read (with PT_SLOT_DEST) */
    PT_SLOT_WIDER = 1 << 2,    /* the register may be wider than the type */
    PT_SLOT_SINK = 1 << 3,     /* _ may stand for it */
    PT_SLOT_NOT = 1 << 4,      /* may be negated: !p */
    PT_SLOT_MINUS = 1 << 5,    /* may have a minus sign */
    PT_SLOT_SELECT = 1 << 6,   /* may have a selector: .b0, .h1, with parts .h10, .b3210 */
    PT_SLOT_SELECTED = 1 << 8, /* must have one */
    PT_SLOT_BY_VEC =
        1 << 7 /* VEC: scalar unless the spelling has .v2 .v4 .v8, which then is the count */
};

/* Types of slots: enum pt_type, or one of these, which the types of the spelling decide. */
enum {
    PT_SLOT_TYPE_NTH = 0x80, /* + n: the n-th type spelled */
    PT_SLOT_TYPE_LAST = 0x88,
    PT_SLOT_TYPE_DOUBLE, /* twice as wide as the last type spelled: integer like it, or untyped
                            bits */
    PT_SLOT_TYPE_HALF,
    PT_SLOT_TYPE_QUARTER,
    PT_SLOT_TYPE_BITS = 0x90 /* + n: untyped bits, as wide as the n-th type spelled */
};

struct pt_slot {
    uint8_t kind; /* enum pt_slot_kind */
    uint8_t type;
    uint16_t flags; /* enum pt_slot_flag */
    uint16_t sub;   /* first sub-slot; pt_slot_sub */
    uint8_t n_sub;
    uint8_t
        n_values; /* IMM, constant of a VALUE: 0 any, 2 lo..hi in steps, or (as PT_SLOT_ONE_OF)
                     values */
    int32_t value
        [4]; /* lowest, highest and step, or the values; VEC: lowest and highest count, 0: see
                `count` */
    const char *count; /* VEC: expression over the numbers in the modifiers, or NULL */
    char name;         /* the letter of the syntax line */
    uint8_t parts;     /* with a selector: 1, or of how many each is worked on by itself: 2, 4 */
};
enum { PT_SLOT_ONE_OF = 0x10 };

/* Operands of the form, as written. For PAIR, MEM and VEC the parts are sub-slots. */
unsigned pt_form_operands(const struct pt_form *form);
const struct pt_slot *pt_form_slot(const struct pt_form *form, unsigned operand);
/* Part `i` of a PAIR, MEM or VEC slot; the elements of a VEC share slots. */
const struct pt_slot *pt_slot_sub(const struct pt_slot *slot, unsigned i);
/* The type of a value in the slot; PT_TYPE_NONE where it has none (labels, functions,
 * addresses). */
enum pt_type pt_slot_type(const struct pt_slot *slot, const struct pt_form *form);
/* Elements of a VEC slot: *lo to *hi. 1 if BY_VEC and the form has no .v2 .v4 .v8: then the operand
 * has no braces. */
void pt_slot_count(const struct pt_slot *slot, const struct pt_form *form, unsigned *lo,
                   unsigned *hi);
/* The number at `letter` in the form's modifiers: m n k of .m16n8k16, x of .x4, d of .3d; 0 if
 * there is none. */
unsigned pt_form_number(const struct pt_form *form, char letter);
static inline bool pt_slot_is_dest(const struct pt_slot *slot)
{
    return slot->flags & PT_SLOT_DEST;
}

/* Targets (target.def) and versions something needs. */
struct pt_when {
    uint64_t targets; /* a bit for each TARGET of target.def */
    uint16_t ptx_lo, ptx_hi;
};

/* Bit of the target; the nearest lower one without feature if target.def does not know it. */
unsigned pt_target_find(uint16_t sm, uint8_t feature);
bool pt_target_is_known(uint16_t sm, uint8_t feature);
struct pt_target {
    uint16_t sm;
    uint8_t feature; /* 0, 'a', 'f' */
    uint16_t ptx;    /* first .version that knows it */
};
extern const struct pt_target pt_targets[];
extern const unsigned pt_n_targets;
void pt_when_narrow(struct pt_when *a, const struct pt_when *b);
bool pt_when_holds(const struct pt_when *when, unsigned target, uint16_t ptx);
/* The lowest target: one without feature if there is any, else 'a', else 'f'. NULL if the set is
 * empty. */
const struct pt_target *pt_when_target(const struct pt_when *when);

/* ---- spellings to lines, for frontend/insn.c and tests --------------------------------------- */

/* A dotted part of a spelling: enum pt_mod, or a type, or .v2 .v4 .v8. */
enum { PT_TOKEN_TYPE = 0x4000, PT_TOKEN_VEC = 0x8000 };

enum { PT_LINE_ELEMS = 40, PT_ALT_TOKENS = 3 };

struct pt_alt {
    uint16_t token[PT_ALT_TOKENS];
    uint16_t n;
    struct pt_when when;
};

struct pt_elem {
    bool is_optional;
    uint16_t first, n; /* alternatives */
};

struct pt_line {
    const char *syntax;
    uint16_t op;
    uint16_t mnemonic;
    uint16_t elem, n_elems;
    uint16_t variant, n_variants;
    uint64_t words; /* pt_token_bit of all its tokens: most lines that lack one are told at once */
    struct pt_when when;
};

static inline uint64_t pt_token_bit(uint16_t token)
{
    return UINT64_C(1) << (token * 0x9e3779b1u >> 26);
}

/* Token of a dotted part, 0 if no instruction has it. */
uint16_t pt_token_find(const char *s, uint32_t len);
void pt_token_name(uint16_t token, char buf[64]); /* ".rn", ".u32", ".v4" */
/* True if the modifier belongs to the name of the instruction and comes right behind the
 * mnemonic. */
bool pt_token_is_opcode(uint16_t token, const char *mnemonic, uint32_t len);
/* True if the assembler lets one write it twice. */
bool pt_token_is_repeatable(uint16_t token);
/* Lines of a mnemonic: an index for pt_line_at, and their number (0: unknown). */
unsigned pt_lines_find(const char *mnemonic, uint32_t len, unsigned *n);
const struct pt_line *pt_line_at(unsigned index);
unsigned pt_line_total(void);
const struct pt_elem *pt_line_elem(const struct pt_line *line, unsigned i);
const struct pt_alt *pt_elem_alt(const struct pt_elem *elem, unsigned i);
unsigned pt_variant_operands(unsigned variant);
unsigned pt_word_distance(const char *a, uint32_t na, const char *b, uint32_t nb);
/* The mnemonic nearest to a misspelled one (not NUL-terminated), or NULL. */
const char *pt_mnemonic_near(const char *s, uint32_t len, uint32_t *near_len);
/* NULL, or what is wrong with the table: a bug of ours. */
const char *pt_isa_check(void);

#endif
