/* From the spelling of an instruction to the lines of the table that it fits. */
#ifndef PTERA_FRONTEND_SPELL_H
#define PTERA_FRONTEND_SPELL_H

#include "ir/ir.h"
#include "ir/row.h"

enum { PT_SPELL_PARTS = PT_FORM_MODS + PT_FORM_TYPES + 2 };

/* A spelling, split at its dots. */
struct pt_parts {
    unsigned n;
    uint16_t token[PT_SPELL_PARTS];
    uint32_t at[PT_SPELL_PARTS], len[PT_SPELL_PARTS]; /* in the spelling, without the dot */
    uint32_t mnemonic_len;
    uint32_t opcode;  /* parts that belong to the name of the instruction */
    int opcode_after; /* such a part behind one that does not, or -1 */
};

/* A search for the elements of a line that take the parts. With the relaxations it says what is
 * wrong with a spelling. */
struct pt_search {
    const struct pt_parts *parts;
    const struct pt_line *line;
    const struct pt_when *within; /* only alternatives good for this target and version, or NULL */
    unsigned target;
    uint16_t ptx;
    int skip;      /* part to ignore, or -1 */
    int any_type;  /* part that stands for any type, or -1 */
    bool may_lack; /* one required element may be missing: */
    int lacking;
    const struct pt_alt *used[PT_LINE_ELEMS]; /* by element */
    uint8_t elem_of[PT_SPELL_PARTS];
};

/* Returns the index of the first part that is no token, or -1. */
int pt_spell_split(struct pt_parts *p, const char *s, uint32_t len);
bool pt_spell_search(struct pt_search *s, const struct pt_line *line);
/* The form that a successful search found; `text` is the spelling. */
void pt_spell_form(struct pt_form *form, const struct pt_search *s, const char *text);
/* Reports what is wrong with a spelling that fits no line: the one change that would make it
 * fit, or the nearest name. */
void pt_spell_explain(struct pt_module *m, const char *s, uint32_t len, uint32_t line,
                      uint32_t col);

#endif
