/* The table of the memory model (model.def), evaluated. */
#ifndef PTERA_TOOLS_LITMUS_MODEL_H
#define PTERA_TOOLS_LITMUS_MODEL_H

#include "tools/litmus/relation.h"

/* Relations by their names, and axioms. */
enum litmus_name {
#define SET(name, what) LITMUS_OF_##name,
#define BASE(name, level, what) LITMUS_OF_##name,
#define RELATION(name, expression) LITMUS_OF_##name,
#include "tools/litmus/model.def"
    LITMUS_NAMES
};
enum litmus_axiom {
#define AXIOM(name, form, expression, section) LITMUS_AXIOM_##name,
#include "tools/litmus/model.def"
    LITMUS_AXIOMS
};

/* One execution: whoever makes it puts in what SET and BASE name, level by level. */
struct litmus_execution {
    unsigned n;       /* events */
    unsigned ignored; /* axioms, as bits, that need not hold */
    struct litmus_relation of[LITMUS_NAMES];
};

/* Computes the relations of a level, those below being there. False: one of its axioms does not
 * hold. */
bool litmus_model_holds(struct litmus_execution *x, unsigned level);

/* Name and section of the manual: "causality_reads (8.10.6)". Static. */
const char *litmus_model_axiom(enum litmus_axiom axiom);

#endif
