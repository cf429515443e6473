/* Rows of forms.tsv: modules around their statements, and where they are accepted. */
#ifndef PTERA_TESTS_ASSEMBLER_ISA_FORMS_H
#define PTERA_TESTS_ASSEMBLER_ISA_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ir/row.h"

/* ---- modules --------------------------------------------------------------------------------- */

struct form_text {
    char buf[1 << 20];
    size_t n;
};

void forms_put(struct form_text *t, const char *s);

/* A module up to its functions: with the variables, and functions, that statements name.
 * Contexts: entry; indep (texmode_independent); func; module (a statement at module scope), cmod
 * (the same, for ptxas -c), indepmod. */
void forms_begin(struct form_text *t, const char *version, const char *target, const char *context,
                 const char *const *statements, unsigned n);
/* A kernel (context func: a function) around a statement; of one at module scope, behind it. */
void forms_add(struct form_text *t, const char *context, const char *name, const char *statement);

/* ---- the table ------------------------------------------------------------------------------- */

enum { FORM_COLUMNS = 5, FORM_NEWEST = 95 };

/* The next line's columns, false at the end. */
bool forms_read(FILE *f, char *line, size_t size, char *column[FORM_COLUMNS]);

/* Versions are numbers, 78 for "7.8". */
unsigned forms_number(const char *version);
const char *forms_version(unsigned number);
/* The version before, or 0. */
unsigned forms_version_below(unsigned version);
const char *forms_target_name(const struct pt_target *t);
/* One step below: sm_86 for sm_87, the plain sm_90 for sm_90a; of the targets that the version
 * knows. NULL: none. */
const struct pt_target *forms_target_below(const struct pt_target *target, unsigned version);

/* What accepts a form, as the table has it behind the context; without it, the .version and
 * .target of the row.
 *
 *   9.0@80      targets of that number and later ones, from that version on; of several, the
 *               lowest version that fits counts
 *   9.0@90a     exactly this target, with a letter
 *   9.0@=80     exactly this target, without one
 *   6.3..6.4@70 exactly this target, in these versions
 *   !90, !120+  not this target, not those of that number and later ones
 *   -           nothing: what an earlier ptxas took */
struct form_pair {
    unsigned from, to; /* versions; 0: none */
    const struct pt_target *target;
    bool is_exact, has_later;
};

struct form_pairs {
    struct form_pair pair[24];
    unsigned n;
};

void forms_pairs(struct form_pairs *pairs, char *column[FORM_COLUMNS]);
/* The target of a row's third column. */
const struct pt_target *forms_target(const char *column);
/* The versions in which the target accepts the form; false: none does. */
bool forms_versions(const struct form_pairs *pairs, const struct pt_target *t, unsigned *from,
                    unsigned *to);
bool forms_accepted(const struct form_pairs *pairs, const struct pt_target *t, unsigned version);

#endif
