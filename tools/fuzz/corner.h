/* Corners of the instruction table: row, types, operand, and of which class the operand is. All
 * that the table allows for sm_90 are listed once a process; branches, calls and ends are shapes
 * (shapes.def) instead. */
#ifndef PTERA_TOOLS_FUZZ_CORNER_H
#define PTERA_TOOLS_FUZZ_CORNER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/row.h"

enum { CORNER_VERSION = 87, CORNER_TARGET = 90 }; /* of generated kernels */

enum corner_class {
#define CORNER(ID, text) CORNER_##ID,
#include "tools/fuzz/corners.def"
    CORNER_CLASSES
};

enum { CORNER_FREE = -1, CORNER_ABSENT = -2 };

/* How a class of an operand can be written. */
struct corner_source {
    const struct pt_line *line;
    int8_t alt[PT_LINE_ELEMS]; /* what decides on types: the alternative, or FREE, or ABSENT */
    uint16_t variant;          /* one that has the operand */
};

/* The classes of an operand. */
struct corner_group {
    uint16_t op;                     /* enum pt_op */
    uint16_t source[CORNER_CLASSES]; /* corner_source_at */
    uint8_t n_types, type[PT_FORM_TYPES], vec;
    char letter; /* of the syntax line; '@': the guard */
    uint8_t of;  /* enum pt_type of the operand */
    uint32_t classes;
};

unsigned corner_groups(void);
const struct corner_group *corner_group_at(unsigned group);
const struct corner_source *corner_source_of(const struct corner_group *group,
                                             enum corner_class class);
/* Whose the operand of the form is; UINT_MAX: nobody's. */
unsigned corner_find(const struct pt_form *form, char letter);

/* The operand is a cache policy, which only some numbers are. */
bool corner_is_policy(const struct pt_form *form, const struct pt_slot *slot);

/* Classes (bits) of a value; of packed types of each part. */
uint32_t corner_classes_of(enum pt_type type, uint64_t bits);
/* A value of the class, made of the random bits. */
uint64_t corner_value(enum pt_type type, enum corner_class class, uint64_t random);

const char *corner_class_text(enum corner_class class);
/* "mad_hi u32 a" */
void corner_print_group(const struct corner_group *group, char text[96]);

#endif
