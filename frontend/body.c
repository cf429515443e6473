/* Function bodies: statements, target tables. */
#include "frontend/body.h"

#include <string.h>

#include "frontend/call.h"
#include "frontend/check.h"
#include "frontend/decl.h"
#include "frontend/fit.h"
#include "frontend/insn.h"
#include "frontend/label.h"
#include "frontend/loc.h"
#include "frontend/operand.h"
#include "frontend/pragma.h"
#include "frontend/prototype.h"
#include "frontend/register.h"
#include "frontend/variable.h"

/* ---- tables ---------------------------------------------------------------------------------- */

static bool branch_target(struct pt_parser *p, uint32_t *target)
{
    *target = pt_label_use(p, &p->tok);
    return *target != 0;
}

static bool call_target(struct pt_parser *p, uint32_t *target)
{
    if (p->tok.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "the name of a function");
    const struct pt_binding *b = pt_scope_find(&p->scopes, p->tok.text, p->tok.len);
    if (!b || b->kind != PT_NAME_FUNC)
        return pt_token_error(p, &p->tok, "'%.*s' is not a declared function",
                              PT_TOKEN_ARGS(&p->tok));
    *target = b->index;
    return true;
}

static bool read_targets(struct pt_parser *p, struct pt_table *table)
{
    do {
        uint32_t target = 0;
        if (!(table->kind == 'b' ? branch_target(p, &target) : call_target(p, &target)))
            return false;
        *pt_vec_push(&p->m->arena, &table->targets) = target;
        pt_token_advance(p);
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ';');
}

/* NAME: .branchtargets … ; and its two sisters. */
static bool read_table(struct pt_parser *p, const struct pt_token *name_tok)
{
    struct pt_token at = p->tok;
    uint32_t name = pt_scope_intern(&p->scopes, name_tok->text, name_tok->len);
    const struct pt_binding *b = pt_scope_own(&p->scopes, name);
    struct pt_table table = {.name = p->scopes.names.v[name].text};
    if (b)
        return pt_token_error(p, name_tok, "'%.*s' is already declared on %s",
                              PT_TOKEN_ARGS(name_tok), pt_token_line(p, b->line));
    table.kind = pt_token_is_dot(p, "branchtargets") ? 'b'
                 : pt_token_is_dot(p, "calltargets") ? 'c'
                                                     : 'p';
    pt_token_advance(p);
    if (!(table.kind == 'b'
              ? pt_token_needs(p, &at, 51, 30, ".branchtargets")
              : pt_token_needs(p, &at, 21, 20,
                               table.kind == 'c' ? ".calltargets" : ".callprototype")))
        return false;
    if (!(table.kind == 'p' ? pt_prototype_parse(p, &table.signature) : read_targets(p, &table)))
        return false;
    struct pt_func *f = pt_token_func(p);
    *pt_vec_push(&p->m->arena, &f->tables) = table;
    pt_scope_define(&p->scopes, name, PT_NAME_TABLE, f->tables.n - 1)->line = name_tok->line;
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool token_is(const struct pt_token *t, const char *s)
{
    return t->len == strlen(s) && memcmp(t->text, s, t->len) == 0;
}

/* The words of an instruction, "ld" ".global" ".b32", as one spelling. They usually stand
 * together in the text. */
static const char *read_spelling(struct pt_parser *p, const struct pt_token *name, uint32_t *len)
{
    const char *end = name->text + name->len;
    while (p->tok.kind == PT_TOK_DOT && p->tok.text == end) {
        end += p->tok.len;
        pt_token_advance(p);
    }
    *len = (uint32_t)(end - name->text);
    if (p->tok.kind != PT_TOK_DOT)
        return name->text;
    PT_VEC(char) s = {0};
    memcpy(pt_vec_extend(&p->m->arena, &s, *len), name->text, *len);
    for (; p->tok.kind == PT_TOK_DOT; pt_token_advance(p))
        memcpy(pt_vec_extend(&p->m->arena, &s, p->tok.len), p->tok.text, p->tok.len);
    *len = s.n;
    return s.v;
}

/* Loads, stores and mov take a vector of one, { %r1 }, for the register itself; Triton writes
 * them so. */
static void unwrap(struct pt_parser *p, const struct pt_token *name)
{
    static const char *const names[] = {"ld", "st", "mov", "ldu", "suld", "sust"};
    bool may = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !may; i++)
        may = token_is(name, names[i]);
    for (uint32_t i = 0; may && i < p->operands.n; i++) {
        struct pt_operand *o = &p->operands.v[i];
        if (o->kind == PT_OPND_VEC && o->imm == 1)
            *o = pt_token_func(p)->operands.v[o->index];
    }
}

static bool read_operands(struct pt_parser *p, const struct pt_token *name)
{
    p->operands.n = 0;
    p->may_index = false;
    p->index_is_address = token_is(name, "mov");
    if (!(token_is(name, "call") ? pt_operand_call(p) : pt_operand_list(p, token_is(name, "bra"))))
        return false;
    if (p->operands.n > PT_MAX_OPERANDS)
        return pt_token_error(p, name, "too many operands");
    unwrap(p, name);
    return pt_token_expect(p, ';');
}

static bool check_targets(struct pt_parser *p, const struct pt_token *name,
                          const struct pt_insn *insn)
{
    if (token_is(name, "call"))
        return pt_call_check(p, name, insn);
    return !token_is(name, "brx") || pt_call_check_branch(p, name, insn);
}

static bool check_guard(struct pt_parser *p, const struct pt_token *name,
                        const struct pt_insn *insn, uint32_t len)
{
    const struct pt_func *f = pt_token_func(p);
    return insn->guard == PT_NONE || !insn->n_operands ||
           pt_check_guard(&(struct pt_check){p->m, f, pt_insn_form(p->m, insn),
                                             &f->operands.v[insn->operands], insn->n_operands,
                                             name->line, name->col, len});
}

/* Matches and appends an instruction with operands `operands`. A faulty one is left out; the
 * error has been reported and its ';' is read. False if it was faulty. */
static bool add_instruction(struct pt_parser *p, const struct pt_token *name, struct pt_insn insn,
                            const char *spelling, uint32_t len, const struct pt_operand *operands,
                            uint32_t n)
{
    struct pt_func *f = pt_token_func(p);
    struct pt_operand *o = NULL;
    insn.operands = f->operands.n;
    insn.n_operands = (uint8_t)n;
    if (n)
        o = memcpy(pt_vec_extend(&p->m->arena, &f->operands, n), operands, n * sizeof *o);
    insn.form = pt_insn_match(p->m, f, spelling, len, o, n, name->line, name->col);
    for (uint32_t i = 0; i < n; i++)
        o[i].flags &= (uint8_t)~PT_FIT_SUM;
    if (!insn.form || !check_guard(p, name, &insn, len) || !check_targets(p, name, &insn))
        return false;
    *pt_vec_push(&p->m->arena, &f->insns) = insn;
    return true;
}

/* mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid: a whole special register is read as one mov a
 * component. Returns whether it was one. */
static bool add_sreg_vector(struct pt_parser *p, const struct pt_token *name, struct pt_insn insn,
                            const char *spelling, uint32_t len)
{
    static const char head[] = "mov.v4.";
    const struct pt_func *f = pt_token_func(p);
    const struct pt_operand *o = p->operands.v;
    if (p->operands.n != 2 || o[0].kind != PT_OPND_VEC || o[0].imm != 4 ||
        o[1].kind != PT_OPND_VEC || o[1].imm != 4 ||
        f->operands.v[o[1].index].kind != PT_OPND_SREG || len < sizeof head ||
        memcmp(spelling, head, sizeof head - 1))
        return false;
    struct pt_operand part[4][2];
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 2; k++)
            part[i][k] = f->operands.v[o[k].index + i];
    len -= 3; /* without ".v4" */
    char *scalar = pt_arena_text(&p->m->arena, spelling + 3, len);
    memcpy(scalar, "mov", 3);
    for (uint32_t i = 0; i < 4; i++)
        if (part[i][0].kind != PT_OPND_SINK &&
            !add_instruction(p, name, insn, scalar, len, part[i], 2))
            break;
    return true;
}

/* `spelling` sum, part{, imm} before the instruction; the part becomes the sum. */
static bool add_part(struct pt_parser *p, const struct pt_token *name, struct pt_insn insn,
                     const char *spelling, enum pt_type type, struct pt_operand *o, uint32_t n,
                     int64_t imm)
{
    struct pt_operand part[3] = {{.kind = PT_OPND_REG, .type = (uint8_t)type},
                                 {.kind = PT_OPND_REG, .type = o->type, .index = o->index},
                                 {.kind = PT_OPND_IMM, .type = PT_s64, .imm = imm}};
    insn.guard = PT_NONE;
    insn.guard_neg = 0;
    if (!pt_register_temporary(p, name, type, &part[0].index) ||
        !add_instruction(p, name, insn, spelling, (uint32_t)strlen(spelling), part, n))
        return false;
    *o = part[0];
    o->flags = PT_FIT_SUM;
    return true;
}

/* Operands %r + 1 become registers that additions of their own, before the instruction, write. */
static bool add_sums(struct pt_parser *p, const struct pt_token *name, struct pt_insn insn)
{
    for (uint32_t i = 0; i < p->operands.n; i++) {
        struct pt_operand *o = &p->operands.v[i];
        if (!(o->flags & PT_FIT_SUM))
            continue;
        int64_t imm = o->imm;
        if (pt_type_bits(o->type) == 8 && !add_part(p, name, insn, "cvt.u16.u8", PT_b16, o, 2, 0))
            return false;
        unsigned bits = pt_type_bits(o->type);
        const char *spelling = bits == 64 ? "add.u64" : bits == 32 ? "add.u32" : "add.u16";
        imm = bits == 64 ? imm : bits == 32 ? (int32_t)imm : (int16_t)imm;
        if (!add_part(p, name, insn, spelling, o->type, o, 3, imm))
            return false;
    }
    return true;
}

/* The instruction whose mnemonic has been read. */
static bool read_instruction(struct pt_parser *p, const struct pt_token *name, struct pt_insn insn)
{
    uint32_t len;
    const char *spelling = read_spelling(p, name, &len);
    if (!read_operands(p, name))
        return false;
    insn.line = name->line;
    insn.col = name->col < UINT16_MAX ? (uint16_t)name->col : UINT16_MAX;
    insn.loc = p->loc;
    if (!add_sreg_vector(p, name, insn, spelling, len) && add_sums(p, name, insn))
        add_instruction(p, name, insn, spelling, len, p->operands.v, p->operands.n);
    return true;
}

/* @p or @!p, then an instruction. */
static bool read_guarded(struct pt_parser *p)
{
    struct pt_insn insn = {0};
    pt_token_advance(p);
    insn.guard_neg = pt_token_accept(p, '!');
    struct pt_token at = p->tok;
    if (at.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "a predicate");
    if (!pt_scope_find_reg(&p->scopes, at.text, at.len, &insn.guard))
        return pt_token_error(p, &at, "'%.*s' is not a declared register", PT_TOKEN_ARGS(&at));
    if (pt_token_func(p)->regs.v[insn.guard].type != PT_pred)
        return pt_token_error(p, &at, "'%.*s' is not a predicate", PT_TOKEN_ARGS(&at));
    pt_token_advance(p);
    struct pt_token name = p->tok;
    if (name.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "an instruction");
    pt_token_advance(p);
    if (pt_token_is(p, ':'))
        return pt_token_error(p, &name, "a label cannot have a guard");
    return read_instruction(p, &name, insn);
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool read_directive(struct pt_parser *p)
{
    static const struct pt_token none;
    if (pt_token_is_dot(p, "loc"))
        return pt_loc_parse(p);
    if (pt_token_is_dot(p, "loc_intermediate"))
        return pt_loc_intermediate(p);
    if (pt_token_is_dot(p, "pragma"))
        return pt_pragma_parse(p);
    if (pt_decl_starts(p))
        return pt_variable_read(p, PT_LINK_LOCAL, &none);
    return pt_token_error(p, &p->tok, "directive '%.*s' is not allowed in a function",
                          PT_TOKEN_ARGS(&p->tok));
}

static bool is_table(const struct pt_parser *p)
{
    return pt_token_is_dot(p, "branchtargets") || pt_token_is_dot(p, "calltargets") ||
           pt_token_is_dot(p, "callprototype");
}

static bool read_statement(struct pt_parser *p)
{
    struct pt_token name = p->tok;
    if (name.kind == PT_TOK_DOT)
        return read_directive(p);
    if (pt_token_is(p, '@'))
        return read_guarded(p);
    if (name.kind != PT_TOK_NAME)
        return pt_token_unexpected(p, "an instruction");
    pt_token_advance(p);
    if (!pt_token_accept(p, ':'))
        return read_instruction(p, &name, (struct pt_insn){0});
    return is_table(p) ? read_table(p, &name) : pt_label_define(p, &name);
}

/* Does the current '}' end a vector, whose '{' has been read already, rather than the block? */
static bool ends_vector(const struct pt_parser *p)
{
    struct pt_token t = pt_token_peek(p);
    return t.kind == PT_TOK_PUNCT && strchr(",;]|", t.punct);
}

/* Goes on behind a statement with an error: after its ';', or before the '}' that ends the
 * block. A block in braces that was opened on the way is passed over whole. */
static void skip_statement(struct pt_parser *p)
{
    uint32_t depth = 0;
    bool is_block = false;
    p->has_failed = true;
    for (; p->tok.kind != PT_TOK_END; pt_token_advance(p)) {
        if (pt_token_is(p, '{')) {
            depth++;
        } else if (pt_token_is(p, '}')) {
            if (depth == 0 && !ends_vector(p))
                return;
            depth -= depth > 0;
            if (depth == 0 && is_block) {
                pt_token_advance(p);
                return;
            }
        } else if (pt_token_is(p, ';')) {
            if (depth == 0) {
                pt_token_advance(p);
                return;
            }
            is_block = true;
        }
    }
}

static void start(struct pt_parser *p)
{
    struct pt_arena *a = &p->m->arena;
    struct pt_func *f = pt_token_func(p);
    if (!f->regs.n)
        (void)pt_vec_push(a, &f->regs);
    (void)pt_vec_push(a, &f->labels);
    (void)pt_vec_push(a, &f->tables);
    p->label_alias.n = 0;
    *pt_vec_push(a, &p->label_alias) = 0;
    p->has_alias = false;
    p->loc = PT_NONE;
}

/* Opens or closes a block, or reads a statement. False at the end of the text. */
static bool step(struct pt_parser *p, uint32_t *depth)
{
    struct pt_token at = p->tok;
    if (pt_token_is(p, '{')) {
        if (*depth == PT_MAX_NESTING)
            return pt_token_error(p, &at, "blocks are nested too deeply");
        pt_token_advance(p);
        pt_scope_enter(&p->scopes);
        ++*depth;
    } else if (pt_token_is(p, '}')) {
        pt_token_func(p)->end_line = at.line;
        pt_scope_leave(&p->scopes, pt_label_leave, p);
        --*depth;
        pt_token_advance(p);
    } else if (at.kind == PT_TOK_END) {
        return pt_token_error(p, &at, "the body of '%s' has no end", pt_token_func(p)->name);
    } else if (!read_statement(p)) {
        skip_statement(p);
    }
    return true;
}

bool pt_body_parse(struct pt_parser *p)
{
    uint32_t depth = 1;
    start(p);
    pt_token_advance(p);
    while (depth && !pt_diags_full(&p->m->diags) && step(p, &depth))
        ;
    while (p->scopes.depth)
        pt_scope_leave(&p->scopes, NULL, NULL);
    pt_label_resolve(p);
    return depth == 0;
}
