/* The parser's state, the current token, and errors at tokens. The readers of each part of the
 * grammar have files of their own.
 *
 * Every reader returns false after it has reported an error, with the current token anywhere; the
 * loop that reads statements then goes on after the next ';' or at the end of the block.
 */
#ifndef PTERA_FRONTEND_TOKEN_H
#define PTERA_FRONTEND_TOKEN_H

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
    uint32_t registers;     /* the module's PT_PRAGMA_REGISTERS; 0: it has none */
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

void pt_token_advance(struct pt_parser *p);
bool pt_token_is(const struct pt_parser *p, int punct);
/* WARP_SZ, a constant of PTX. */
bool pt_token_is_warp_size(const struct pt_token *t);
/* The token after the current one. */
struct pt_token pt_token_peek(const struct pt_parser *p);
/* Is the current token ".word"? */
bool pt_token_is_dot(const struct pt_parser *p, const char *word);
bool pt_token_accept(struct pt_parser *p, int punct);
bool pt_token_accept_dot(struct pt_parser *p, const char *word);
bool pt_token_accept_name(struct pt_parser *p, const char *name);
/* Takes the punctuation mark or reports that it is missing. */
bool pt_token_expect(struct pt_parser *p, int punct);
/* "expected WHAT, not 'token'". Returns false. */
bool pt_token_unexpected(struct pt_parser *p, const char *what);
/* Reports at a token and returns false. */
__attribute__((format(printf, 3, 4))) bool
pt_token_error(struct pt_parser *p, const struct pt_token *at, const char *format, ...);
/* Checks that the module's .version and .target (0: any) allow `what`; reports at a token and
 * returns false if not. */
bool pt_token_needs(struct pt_parser *p, const struct pt_token *at, unsigned ptx, unsigned sm,
                    const char *what);
/* A plain unsigned number that fits 32 bits, such as directives take. */
bool pt_token_u32(struct pt_parser *p, uint32_t *value);

/* "line 12", or "line 3 of a.ptx" where that is another one of the modules in the text. */
const char *pt_token_line(struct pt_parser *p, uint32_t line);
/* Is the line one of a module before the one that is read? */
static inline bool pt_token_is_elsewhere(const struct pt_parser *p, uint32_t line)
{
    return line < p->first_line;
}

static inline struct pt_func *pt_token_func(struct pt_parser *p)
{
    return &p->m->funcs.v[p->func];
}

/* For "%.*s" of a token; long tokens are cut. */
#define PT_TOKEN_ARGS(t) (int)((t)->len < 60 ? (t)->len : 60), (t)->text

#endif
