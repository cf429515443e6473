/* What the files of the parser share: the state of one pt_parse, and the readers of each part of
 * the grammar.
 *
 * Every reader returns false after it has reported an error, with the current token anywhere; the
 * loop that reads statements then goes on after the next ';' or at the end of the block.
 */
#ifndef PTERA_FRONTEND_PARSE_H
#define PTERA_FRONTEND_PARSE_H

#include "frontend/lex.h"
#include "frontend/scope.h"
#include "ir/ir.h"

enum {
    /* Registers of a function; a module may have four times that. A bound on memory. */
    PT_MAX_REGS = 1 << 22,
    PT_MAX_RANGED = 1 << 18, /* variables declared as name<N>, of a module */
    PT_MAX_NESTING = 256,    /* of scopes, braces in initialisers, and parentheses */
    PT_MAX_OPERANDS = 255
};

struct pt_parser {
    struct pt_lexer lexer;
    struct pt_token tok; /* the current token */
    struct pt_module *m;
    struct pt_scopes scopes;
    struct pt_scopes links; /* names with linkage, of all modules of the text */
    uint32_t first_line;    /* of the module that is read; a text may hold several */
    uint32_t first_file;    /* of its files */
    uint32_t func;          /* the function whose body is read, or PT_NONE */
    uint32_t loc;           /* the .loc in force */
    uint32_t n_regs;        /* of the whole module */
    uint32_t n_ranged;      /* variables declared as name<N> so far */
    uint64_t init_left;     /* bytes of initialisers still allowed */
    uint32_t nesting;       /* of the constant expression being read */
    bool has_failed;        /* a statement was given up */
    bool keeps_products;    /* the module has PT_PRAGMA_FMAD_OFF */
    bool may_index;         /* the operand being read may be NAME[N] */
    bool index_is_address;  /* and then is the address of the element, not an access to it */
    bool has_alias;         /* label_alias has an entry that is not 0 */
    /* By label of the function: the label it turned out to be, or 0. */
    PT_VEC(uint32_t) label_alias;
    /* A stack: operands whose place is not known yet. */
    PT_VEC(struct pt_operand) operands;
    /* Hash tables: the last pt_loc of each place, the files by number. */
    PT_VEC(uint32_t) loc_slots, file_slots;
};

/* ---- parse.c: tokens and errors -------------------------------------------------------------- */

void pt_parse_advance(struct pt_parser *p);
bool pt_parse_is(const struct pt_parser *p, int punct);
/* The token after the current one. */
struct pt_token pt_parse_peek(const struct pt_parser *p);
/* Is the current token ".word"? */
bool pt_parse_is_dot(const struct pt_parser *p, const char *word);
bool pt_parse_accept(struct pt_parser *p, int punct);
bool pt_parse_accept_dot(struct pt_parser *p, const char *word);
bool pt_parse_accept_name(struct pt_parser *p, const char *name);
/* Takes the punctuation mark or reports that it is missing. */
bool pt_parse_expect(struct pt_parser *p, int punct);
/* "expected WHAT, not 'token'". Returns false. */
bool pt_parse_unexpected(struct pt_parser *p, const char *what);
/* Reports at a token and returns false. */
__attribute__((format(printf, 3, 4))) bool
pt_parse_error(struct pt_parser *p, const struct pt_token *at, const char *format, ...);
/* Checks that the module's .version and .target (0: any) allow `what`; reports at a token and
 * returns false if not. */
bool pt_parse_needs(struct pt_parser *p, const struct pt_token *at, unsigned ptx, unsigned sm,
                    const char *what);
/* A plain unsigned number that fits 32 bits, such as directives take. */
bool pt_parse_u32(struct pt_parser *p, uint32_t *value);
/* .pragma "a", "b"; */
bool pt_parse_pragma(struct pt_parser *p);

/* "line 12", or "line 3 of a.ptx" where that is another one of the modules in the text. */
const char *pt_parse_line(struct pt_parser *p, uint32_t line);
/* Is the line one of a module before the one that is read? */
static inline bool pt_parse_is_elsewhere(const struct pt_parser *p, uint32_t line)
{
    return line < p->first_line;
}

static inline struct pt_func *pt_parse_func(struct pt_parser *p)
{
    return &p->m->funcs.v[p->func];
}

/* For "%.*s" of a token; long tokens are cut. */
#define PT_TOKEN_ARGS(t) (int)((t)->len < 60 ? (t)->len : 60), (t)->text

/* ---- decl.c: variables, parameters, registers ------------------------------------------------ */

/* [.align] .space … name, … ; with the linkage already read. */
bool pt_decl_variables(struct pt_parser *p, enum pt_linkage linkage,
                       const struct pt_token *linkage_tok);
/* ( .param …, … ) of the current function's scope, appended to its params or results. In a
 * prototype names need not differ. */
bool pt_decl_parameters(struct pt_parser *p, uint32_t func, bool is_result, bool is_prototype);
/* Does the current token start a variable declaration? */
bool pt_decl_starts(const struct pt_parser *p);

/* The rest of .attribute( … ) */
bool pt_decl_attribute(struct pt_parser *p, bool *is_managed);

/* ---- func.c: .entry and .func, .alias, prototypes -------------------------------------------- */

bool pt_func_parse(struct pt_parser *p, enum pt_linkage linkage);
bool pt_func_alias(struct pt_parser *p);
/* The rest of NAME: .callprototype … ; the signature becomes a function of its own. */
bool pt_func_prototype(struct pt_parser *p, uint32_t *signature);

/* Same kind and parameters? */
bool pt_func_same(const struct pt_module *m, const struct pt_func *a, const struct pt_func *b);
/* Makes function `now` (the last one) take the place of `old`. */
void pt_func_replace(struct pt_parser *p, uint32_t old, uint32_t now);

/* ---- link.c ---------------------------------------------------------------------------------- */

/* For the first declaration of a name with linkage in the module that is read: *func (the last one) becomes what other modules
 * have under that name. If *is_spare it is a second .weak definition: its body is to be read and dropped. */
bool pt_link_function(struct pt_parser *p, const struct pt_token *at, uint32_t *func,
                      bool *is_spare);
/* Likewise a variable: *symbol is the one of other modules, made to what both declare, or PT_NONE: `now` is to be added. */
bool pt_link_variable(struct pt_parser *p, const struct pt_token *at, const struct pt_symbol *now,
                      uint32_t *symbol);
/* After the last of several modules. */
bool pt_link_check(struct pt_parser *p);

/* ---- body.c, operand.c: statements ----------------------------------------------------------- */

bool pt_body_parse(struct pt_parser *p);
/* The label that a name stands for where the current token is, pending if it is not met yet. 0
 * after an error. */
uint32_t pt_body_label(struct pt_parser *p, const struct pt_token *name);

/* Reads the operands of an instruction onto p->operands; the operand of a branch is a label. */
bool pt_operand_list(struct pt_parser *p, bool is_branch);
/* Reads [(results),] function [, (arguments)] [, prototype] of a call. */
bool pt_operand_call(struct pt_parser *p);

/* ---- call.c ---------------------------------------------------------------------------------- */

/* Checks the results and arguments of a matched call against what it calls. */
bool pt_call_check(struct pt_parser *p, const struct pt_token *at, const struct pt_insn *insn);
/* Checks that the table of an indirect branch holds labels. */
bool pt_call_check_branch(struct pt_parser *p, const struct pt_token *at,
                          const struct pt_insn *insn);

/* ---- loc.c ----------------------------------------------------------------------------------- */

bool pt_loc_file(struct pt_parser *p);
bool pt_loc_parse(struct pt_parser *p);
bool pt_loc_intermediate(struct pt_parser *p);

/* ---- constexpr.c ----------------------------------------------------------------------------- */

/* type: PT_s64, PT_u64, PT_f64, or PT_f32 for a lone 0f… whose bits are kept. */
struct pt_const {
    enum pt_type type;
    int64_t i;
    double f;
};
bool pt_const_parse(struct pt_parser *p, struct pt_const *value);
/* True if the token can start a constant expression. */
bool pt_const_starts(const struct pt_token *t);

/* ---- init.c, section.c ----------------------------------------------------------------------- */

/* The initialiser of a variable, after '='. dims[0] may be 0: the number of elements decides,
 * and is stored. */
bool pt_init_parse(struct pt_parser *p, struct pt_symbol *symbol, uint64_t *dims, uint32_t n_dims);
/* { name = value, … } of textures, samplers and surfaces. */
bool pt_init_opaque(struct pt_parser *p, enum pt_type type);
/* .section NAME { … } */
bool pt_section_parse(struct pt_parser *p);
/* .nv_intermediate_source_section: what PTX was made from; read for its form, and dropped. */
bool pt_section_parse_source(struct pt_parser *p);

#endif
