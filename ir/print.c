/* The text form of the IR: PTX that the parser reads back.
 *
 * Nested scopes are gone in the IR, so that several registers, variables or labels of a function
 * may have one name; all but the first are printed with a number behind '$'. A lowered function
 * prints its blocks as labels $B0, $B1 … in their order, with what the analyses found in comments,
 * and a `bra` where the next block is not the one that follows. Lowering what is printed gives the
 * same blocks.
 *
 * The comments. Of a block: its loops, dominator, where paths from it join, predecessors; at an
 * instruction that waits for other threads, the registers that live across it. Of a kernel's
 * instructions, for blocks of .reqntid threads (without one, of any shape): a result that is one
 * for the whole CTA or warp, or grows by so much from lane to lane of a warp ("unless it wraps": a
 * narrower value it was widened from); how far the threads that branch stay together. Of a local
 * variable: whether its address goes anywhere but into accesses.
 */
#include "ir/print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/bits.h"
#include "ir/escape.h"
#include "ir/insn.h"
#include "ir/liveness.h"
#include "ir/uniformity.h"

int pt_print_reg(const struct pt_func *func, uint32_t reg, char *buf, size_t size)
{
    const struct pt_reg *r = &func->regs.v[reg];
    if (r->is_range)
        return snprintf(buf, size, "%s%u", func->regs.v[r->base].name, reg - r->base);
    return snprintf(buf, size, "%s", r->name);
}

struct print {
    const struct pt_module *m;
    struct pt_arena *arena;
    PT_VEC(char) text;
    PT_VEC(const char *)
    taken; /* hash set of the names in use: a power of two, half full at most */
    uint32_t n_taken;
    /* of the function being printed */
    const struct pt_func *f;
    const char **regs;   /* by register: its name, of a range the prefix at its base */
    const char **labels; /* by label, or by block of a lowered function */
    const char **tables;
    const char **symbols;        /* by symbol of the module */
    const uint8_t *is_signature; /* by function: only the signature of a prototype */
    uint32_t loc;
    /* of a lowered function; uniformity: only of a kernel */
    const struct pt_uniformity *uniformity;
    const uint64_t *live_in;
    const struct pt_local_use *locals;
};

__attribute__((format(printf, 2, 3))) static void put(struct print *p, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    uint32_t room = p->text.cap - p->text.n;
    int n = vsnprintf(p->text.v ? p->text.v + p->text.n : NULL, room, format, args);
    if ((uint32_t)n >= room) {
        (void)pt_vec_extend(p->arena, &p->text, (uint32_t)n + 1);
        p->text.n -= (uint32_t)n + 1;
        vsnprintf(p->text.v + p->text.n, (size_t)n + 1, format, again);
    }
    p->text.n += (uint32_t)n;
    va_end(again);
    va_end(args);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 16777619u;
    return h;
}

/* The slot of the name, or the free one for it. */
static const char **slot(struct print *p, const char *name)
{
    for (uint32_t i = hash(name);; i++) {
        const char **s = &p->taken.v[i & (p->taken.n - 1)];
        if (!*s || !strcmp(*s, name))
            return s;
    }
}

static void grow(struct print *p)
{
    const char **old = p->taken.v;
    uint32_t n = p->taken.n;
    memset(&p->taken, 0, sizeof p->taken);
    (void)pt_vec_extend(p->arena, &p->taken, n ? 2 * n : 256);
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            *slot(p, old[i]) = old[i];
}

static bool is_taken(struct print *p, const char *name)
{
    return p->taken.n && *slot(p, name);
}

static const char *take(struct print *p, const char *name)
{
    if (2 * p->n_taken >= p->taken.n)
        grow(p);
    p->n_taken++;
    return *slot(p, name) = name;
}

/* The name, or the first of name$1, name$2 … that is free. Components of vectors, v.x, become v$x.
 */
static const char *take_free(struct print *p, const char *name)
{
    size_t len = strlen(name);
    char *free = pt_arena_alloc(p->arena, len + 16);
    memcpy(free, name, len);
    for (char *dot = strchr(free, '.'); dot; dot = strchr(dot, '.'))
        *dot = '$';
    for (uint32_t k = 1; is_taken(p, free); k++)
        snprintf(free + len, 16, "$%u", k);
    return take(p, free);
}

/* The prefix of a range of which every member's name is free. */
static const char *take_range(struct print *p, const char *name, uint32_t count)
{
    size_t len = strlen(name);
    char *prefix = pt_arena_alloc(p->arena, len + 16), *member = pt_arena_alloc(p->arena, len + 32);
    memcpy(prefix, name, len);
    for (uint32_t k = 1, i = 0; i < count;) {
        snprintf(member, len + 32, "%s%u", prefix, i++);
        if (!is_taken(p, member))
            continue;
        snprintf(prefix + len, 16, "$%u$", k++);
        i = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        snprintf(member, len + 32, "%s%u", prefix, i);
        take(p, pt_arena_text(p->arena, member, strlen(member)));
    }
    return prefix;
}

static uint32_t range_count(const struct pt_func *f, uint32_t base)
{
    uint32_t n = 1;
    while (base + n < f->regs.n && f->regs.v[base + n].is_range && f->regs.v[base + n].base == base)
        n++;
    return n;
}

static void name_symbols(struct print *p, const uint32_t *symbols, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_symbol *s = &p->m->symbols.v[symbols[i]];
        p->symbols[symbols[i]] = s->name ? take_free(p, s->name) : "_";
        if (s->space == PT_SPACE_REG && s->reg)
            p->regs[s->reg] = p->symbols[symbols[i]];
    }
}

static void name_labels(struct print *p)
{
    const struct pt_func *f = p->f;
    uint32_t n = f->is_lowered ? f->blocks.n : f->labels.n;
    p->labels = pt_arena_alloc(p->arena, (n + 1) * sizeof *p->labels);
    for (uint32_t i = f->is_lowered ? 0 : 1; i < n; i++) {
        char block[16];
        snprintf(block, sizeof block, "$B%u", i);
        p->labels[i] = take_free(p, f->is_lowered ? block : f->labels.v[i].name);
    }
}

/* Labels first, so that blocks have the names one expects; then what the function declares. */
static void name_all(struct print *p)
{
    const struct pt_func *f = p->f;
    p->regs = pt_arena_alloc(p->arena, (f->regs.n + 1) * sizeof *p->regs);
    p->tables = pt_arena_alloc(p->arena, (f->tables.n + 1) * sizeof *p->tables);
    name_labels(p);
    name_symbols(p, f->params.v, f->params.n);
    name_symbols(p, f->results.v, f->results.n);
    name_symbols(p, f->locals.v, f->locals.n);
    for (uint32_t i = 1; i < f->tables.n; i++)
        p->tables[i] = take_free(p, f->tables.v[i].name);
    for (uint32_t r = 1; r < f->regs.n; r++) {
        if (p->regs[r])
            continue;
        if (!f->regs.v[r].is_range)
            p->regs[r] = take_free(p, f->regs.v[r].name);
        else if (f->regs.v[r].base == r)
            p->regs[r] = take_range(p, f->regs.v[r].name, range_count(f, r));
    }
}

static void put_reg(struct print *p, uint32_t reg)
{
    const struct pt_reg *r = &p->f->regs.v[reg];
    if (r->is_range)
        put(p, "%s%u", p->regs[r->base], reg - r->base);
    else
        put(p, "%s", p->regs[reg]);
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The bits of a value of a floating-point type no wider than 32 as f32. */
static uint32_t widen(uint64_t bits, enum pt_type type)
{
    if (type == PT_bf16)
        return (uint32_t)bits << 16;
    if (type != PT_f16)
        return (uint32_t)bits;
    uint32_t sign = (uint32_t)(bits >> 15 & 1) << 31, mantissa = bits & 0x3ff;
    uint32_t exponent = (uint32_t)(bits >> 10 & 0x1f);
    if (exponent == 31)
        return sign | 0x7f800000 | mantissa << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | mantissa << 13;
    if (!mantissa)
        return sign;
    for (exponent = 113; !(mantissa & 0x400); exponent--)
        mantissa <<= 1;
    return sign | exponent << 23 | (mantissa & 0x3ff) << 13;
}

static void put_number(struct print *p, uint64_t bits, enum pt_type type)
{
    unsigned width = pt_type_bits(type);
    switch (pt_type_class(type)) {
    case PT_CLASS_F:
        if (width == 64)
            put(p, "0d%016" PRIX64, bits);
        else
            put(p, "0f%08" PRIX32, widen(bits, type));
        break;
    case PT_CLASS_S:
        put(p, "%" PRId64, (int64_t)(bits << (64 - width)) >> (64 - width));
        break;
    default:
        put(p, "%" PRIu64, width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits);
        break;
    }
}

static void put_offset(struct print *p, int64_t offset)
{
    if (offset)
        put(p, "+%" PRId64, offset);
}

static void put_operand(struct print *p, const struct pt_operand *o);

static void put_parts(struct print *p, const struct pt_operand *o, int64_t n, const char *separator)
{
    for (int64_t i = 0; i < n; i++) {
        if (i)
            put(p, "%s", separator);
        put_operand(p, &p->f->operands.v[o->index + i]);
    }
}

static void put_selector(struct print *p, const struct pt_operand *o)
{
    put(p, ".%c", o->select);
    for (int64_t i = o->imm >> 32; i-- > 0;)
        put(p, "%u", (unsigned)(o->imm >> 4 * i & 0xf));
}

static void put_operand(struct print *p, const struct pt_operand *o)
{
    put(p, "%s%s", o->flags & PT_OPND_NEG ? "!" : "", o->flags & PT_OPND_MINUS ? "-" : "");
    switch ((enum pt_operand_kind)o->kind) {
    case PT_OPND_NONE:
        break;
    case PT_OPND_REG:
        put_reg(p, o->index);
        if (o->select)
            put_selector(p, o);
        else
            put_offset(p, o->imm);
        break;
    case PT_OPND_IMM:
        put_number(p, (uint64_t)o->imm, o->type ? o->type : PT_s64);
        break;
    case PT_OPND_SREG:
        put(p, "%s", pt_sreg_spelling(o->index));
        break;
    case PT_OPND_SYM:
        put(p, o->flags & PT_OPND_GENERIC ? "generic(%s)" : "%s", p->symbols[o->index]);
        put_offset(p, o->imm);
        break;
    case PT_OPND_FUNC:
        put(p, "%s", p->m->funcs.v[o->index].name);
        break;
    case PT_OPND_LABEL:
        put(p, "%s", p->labels[o->index]);
        break;
    case PT_OPND_TABLE:
        put(p, "%s", p->tables[o->index]);
        break;
    case PT_OPND_SINK:
        put(p, "_");
        break;
    case PT_OPND_VEC:
        put(p, "{");
        put_parts(p, o, o->imm, ", ");
        put(p, "}");
        break;
    case PT_OPND_PAIR:
        put_parts(p, o, 2, "|");
        break;
    case PT_OPND_MEM:
        put(p, "[");
        put_parts(p, o, o->imm, ", ");
        put(p, "]%s", o->flags & PT_OPND_UNIFIED ? ".unified" : "");
        break;
    case PT_OPND_LIST:
        put(p, "(");
        put_parts(p, o, o->imm, ", ");
        put(p, ")");
        break;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void put_loc(struct print *p, uint32_t loc)
{
    if (!loc || loc == p->loc)
        return;
    const struct pt_loc *l = &p->m->locs.v[loc];
    put(p, "    .loc %u %u %u\n", p->m->files.v[l->file].number, l->line, l->col);
    p->loc = loc;
}

/* ---- what the analyses found ----------------------------------------------------------------- */

enum { WARP = 32 };

static void find_facts(struct print *p)
{
    const struct pt_func *f = p->f;
    struct pt_uniformity_shape shape = {.width = WARP, .copies = 1};
    memcpy(shape.block, f->reqntid, sizeof shape.block);
    p->live_in = f->is_lowered ? pt_liveness_in(p->m, f, p->arena) : NULL;
    p->locals = f->is_lowered ? pt_escape_find(p->m, f, 1, p->arena) : NULL;
    p->uniformity =
        f->is_lowered && f->is_entry ? pt_uniformity_find(p->m, f, &shape, NULL, p->arena) : NULL;
}

static void put_value(struct print *p, const struct pt_value *v)
{
    if (v->level <= PT_LEVEL_GROUP)
        put(p, "one a %s", v->level == PT_LEVEL_CTA ? "CTA" : "warp");
    else
        put(p, "%+" PRId64 " a lane%s", v->stride, v->may_wrap ? " unless it wraps" : "");
    if (v->is_affine && v->align_log2)
        put(p, " from a multiple of %" PRIu64, UINT64_C(1) << v->align_log2);
}

static void put_result(void *ud, uint32_t reg, bool is_def)
{
    struct print *p = ud;
    const struct pt_value *v = &p->uniformity->regs[reg];
    if (!is_def || (v->level > PT_LEVEL_GROUP && !v->is_affine))
        return;
    put(p, " // ");
    put_reg(p, reg);
    put(p, ": ");
    put_value(p, v);
}

static void put_branch_fact(struct print *p, uint32_t b)
{
    uint8_t level = p->uniformity->branch[b];
    if (p->f->blocks.v[b].n_succ > 1)
        put(p, " // %s",
            level > PT_LEVEL_GROUP    ? "parts lanes"
            : level == PT_LEVEL_GROUP ? "parts warps"
                                      : "one way for the CTA");
}

static void put_facts(struct print *p, uint32_t b, uint32_t insn)
{
    const struct pt_block *block = &p->f->blocks.v[b];
    if (!p->uniformity)
        return;
    pt_insn_regs(p->m, p->f, &p->f->insns.v[insn], put_result, p);
    if (insn == block->first + block->count - 1)
        put_branch_fact(p, b);
}

/* What a frame must hold while threads wait for each other. */
static void put_live(struct print *p, uint32_t b)
{
    const struct pt_block *block = &p->f->blocks.v[b];
    size_t words = pt_bit_words(p->f->regs.n);
    if (!block->count || !(pt_insn_form(p->m, &p->f->insns.v[block->first])->effects &
                           (PT_FX_WARP | PT_FX_CTA | PT_FX_CLUSTER)))
        return;
    put(p, ", live:");
    for (uint32_t r = 1; r < p->f->regs.n; r++) {
        if (p->live_in[b * words + r / 64] >> (r & 63) & 1) {
            put(p, " ");
            put_reg(p, r);
        }
    }
}

static void put_local_fact(struct print *p, uint32_t symbol)
{
    const struct pt_local_use *use = p->locals ? &p->locals[symbol] : NULL;
    if (!use || p->m->symbols.v[symbol].space != PT_SPACE_LOCAL)
        return;
    put(p, use->escapes ? " // escapes" : " // does not escape");
    if (use->is_scalar && use->bytes)
        put(p, ", elements of %u bytes", use->bytes);
}

static void put_insn(struct print *p, const struct pt_insn *insn)
{
    put_loc(p, insn->loc);
    put(p, "    ");
    if (insn->guard) {
        put(p, "@%s", insn->guard_neg ? "!" : "");
        put_reg(p, insn->guard);
        put(p, " ");
    }
    put(p, "%s", pt_insn_form(p->m, insn)->spelling);
    for (uint32_t k = 0; k < insn->n_operands; k++) {
        put(p, k ? ", " : " ");
        put_operand(p, &p->f->operands.v[insn->operands + k]);
    }
    put(p, ";");
}

static void put_block(struct print *p, uint32_t b)
{
    const struct pt_block *block = &p->f->blocks.v[b];
    put(p, "%s: //", p->labels[b]);
    for (uint32_t l = block->loop; l; l = p->f->loops.v[l - 1].parent) {
        const struct pt_loop *loop = &p->f->loops.v[l - 1];
        put(p, " loop %u-%u%s%s,", loop->header, loop->end - 1,
            loop->is_reducible ? "" : " irreducible", loop->communicates ? " communicating" : "");
    }
    if (block->idom != UINT32_MAX)
        put(p, " dominated by %u,", block->idom);
    if (block->ipdom != UINT32_MAX)
        put(p, " joins at %u,", block->ipdom);
    put(p, " from");
    for (uint32_t e = 0; e < block->n_pred; e++)
        put(p, " %u", p->f->edges.v[block->pred + e]);
    put(p, "%s", block->n_pred ? "" : " nowhere");
    put_live(p, b);
    put(p, "\n");
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        put_insn(p, &p->f->insns.v[i]);
        put_facts(p, b, i);
        put(p, "\n");
    }
    if (block->next != UINT32_MAX && block->next != b + 1)
        put(p, "    bra %s;\n", p->labels[block->next]);
}

/* The labels before instruction `insn`, in the order they were declared; `next` is a list through
 * all labels by place. */
static void put_source(struct print *p)
{
    const struct pt_func *f = p->f;
    uint32_t n = f->insns.n;
    uint32_t *first = pt_arena_alloc(p->arena, (n + 1) * sizeof *first);
    uint32_t *next = pt_arena_alloc(p->arena, (f->labels.n + 1) * sizeof *next);
    for (uint32_t l = f->labels.n; l-- > 1;) {
        next[l] = first[f->labels.v[l].insn];
        first[f->labels.v[l].insn] = l;
    }
    for (uint32_t i = 0; i <= n; i++) {
        for (uint32_t l = first[i]; l; l = next[l])
            put(p, "%s:\n", p->labels[l]);
        if (i < n) {
            put_insn(p, &f->insns.v[i]);
            put(p, "\n");
        }
    }
}

/* ---- variables ------------------------------------------------------------------------------- */

static const char *const space_names[] = {
    [PT_SPACE_GENERIC] = "generic", [PT_SPACE_REG] = "reg",
    [PT_SPACE_GLOBAL] = "global",   [PT_SPACE_CONST] = "const",
    [PT_SPACE_SHARED] = "shared",   [PT_SPACE_SHARED_CLUSTER] = "shared",
    [PT_SPACE_LOCAL] = "local",     [PT_SPACE_PARAM] = "param",
    [PT_SPACE_TEX] = "tex"};
_Static_assert(sizeof space_names / sizeof *space_names == PT_SPACE_TEX + 1,
               "the last of enum pt_space");

static const char *linkage(uint8_t linkage)
{
    static const char *const names[] = {[PT_LINK_LOCAL] = "",
                                        [PT_LINK_VISIBLE] = ".visible ",
                                        [PT_LINK_EXTERN] = ".extern ",
                                        [PT_LINK_WEAK] = ".weak ",
                                        [PT_LINK_COMMON] = ".common "};
    return names[linkage];
}

static const struct pt_reloc *reloc_at(const struct pt_symbol *s, uint64_t offset)
{
    for (uint32_t i = 0; i < s->relocs.n; i++)
        if (s->relocs.v[i].offset == offset)
            return &s->relocs.v[i];
    return NULL;
}

static void put_address(struct print *p, const struct pt_reloc *r)
{
    const char *name = r->is_func ? p->m->funcs.v[r->target].name : p->symbols[r->target];
    bool is_masked = r->shift || r->bytes < 4;
    if (is_masked)
        put(p, "0x%" PRIX64 "(", UINT64_C(0xff) << r->shift);
    put(p, r->is_generic ? "generic(%s)" : "%s", name);
    put_offset(p, r->addend);
    put(p, "%s", is_masked ? ")" : "");
}

static void put_element(struct print *p, const struct pt_symbol *s, uint64_t offset, unsigned bytes)
{
    const struct pt_reloc *r = s->relocs.n ? reloc_at(s, offset) : NULL;
    uint64_t bits = 0;
    if (r) {
        put_address(p, r);
        return;
    }
    for (unsigned i = 0; i < bytes && i < 8 && offset + i < s->init_size; i++)
        bits |= (uint64_t)s->init[offset + i] << 8 * i;
    put_number(p, bits, s->type);
}

/* The values of an initialiser; those of vectors in braces of their own. */
static void put_init(struct print *p, const struct pt_symbol *s)
{
    unsigned bytes = pt_type_bytes(s->type), vec = s->vec ? s->vec : 1;
    put(p, " = %s", s->is_array ? "{" : "");
    for (uint64_t at = 0; at < s->init_size; at += (uint64_t)bytes * vec) {
        put(p, "%s%s", at ? ", " : "", vec > 1 ? "{" : "");
        for (unsigned i = 0; i < vec; i++) {
            if (i)
                put(p, ", ");
            put_element(p, s, at + (uint64_t)i * bytes, bytes);
        }
        put(p, "%s", vec > 1 ? "}" : "");
    }
    put(p, "%s", s->is_array ? "}" : "");
}

static void put_symbol(struct print *p, uint32_t symbol)
{
    const struct pt_symbol *s = &p->m->symbols.v[symbol];
    bool is_opaque = pt_type_class(s->type) == PT_CLASS_O;
    uint32_t bytes = pt_type_bytes(s->type) * (s->vec ? s->vec : 1);
    put(p, "%s.%s ", linkage(s->linkage), space_names[s->space]);
    if (s->is_managed)
        put(p, ".attribute(.managed) ");
    if (s->align && s->align != bytes && !is_opaque && s->space != PT_SPACE_REG)
        put(p, ".align %u ", s->align);
    if (s->vec > 1)
        put(p, ".v%u ", s->vec);
    put(p, ".%s ", pt_type_name(s->type));
    if (s->ptr_align || s->ptr_space != PT_SPACE_GENERIC) {
        put(p, ".ptr ");
        if (s->ptr_space != PT_SPACE_GENERIC)
            put(p, ".%s ", space_names[s->ptr_space]);
        if (s->ptr_align)
            put(p, ".align %u ", s->ptr_align);
    }
    put(p, "%s", p->symbols[symbol]);
    if (s->is_unsized)
        put(p, "[]");
    else if (s->is_array)
        put(p, "[%" PRIu64 "]", bytes ? s->size / bytes : s->size);
    if (s->init_size && bytes && !is_opaque)
        put_init(p, s);
}

static void put_formals(struct print *p, const uint32_t *symbols, uint32_t n)
{
    put(p, "(");
    for (uint32_t i = 0; i < n; i++) {
        put(p, i ? ", " : "");
        put_symbol(p, symbols[i]);
    }
    put(p, ")");
}

/* ---- functions ------------------------------------------------------------------------------- */

static void put_triple(struct print *p, const char *name, const uint32_t t[3])
{
    if (t[0])
        put(p, "%s %u, %u, %u\n", name, t[0], t[1], t[2]);
}

static void put_number_directive(struct print *p, const char *name, uint32_t n)
{
    if (n)
        put(p, "%s %u\n", name, n);
}

/* The kind of function, its name and formals; name NULL: as a .callprototype. */
static void put_header(struct print *p, const struct pt_func *f, const char *name)
{
    put(p, "%s ", !name ? ".callprototype" : f->is_entry ? ".entry" : ".func");
    if (f->results.n) {
        put_formals(p, f->results.v, f->results.n);
        put(p, " ");
    }
    put(p, "%s", name ? name : "_");
    put_formals(p, f->params.v, f->params.n);
    put(p, "%s", f->is_noreturn ? " .noreturn" : "");
}

static void put_directives(struct print *p, const struct pt_func *f)
{
    put_triple(p, ".maxntid", f->maxntid);
    put_triple(p, ".reqntid", f->reqntid);
    put_number_directive(p, ".maxnreg", f->maxnreg);
    put_number_directive(p, ".minnctapersm", f->minnctapersm);
    put_triple(p, ".reqnctapercluster", f->reqnctapercluster);
    put_number_directive(p, ".maxclusterrank", f->maxclusterrank);
    put(p, "%s%s", f->explicit_cluster ? ".explicitcluster\n" : "",
        f->blocks_are_clusters ? ".blocksareclusters\n" : "");
}

static void put_registers(struct print *p)
{
    const struct pt_func *f = p->f;
    uint8_t *is_formal = pt_arena_alloc(p->arena, f->regs.n + 1);
    const uint32_t *formals[] = {f->params.v, f->results.v};
    uint32_t n[] = {f->params.n, f->results.n};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < n[k]; i++)
            is_formal[p->m->symbols.v[formals[k][i]].reg] = 1;
    for (uint32_t r = 1; r < f->regs.n; r++) {
        const struct pt_reg *reg = &f->regs.v[r];
        if (is_formal[r] || (reg->is_range && reg->base != r))
            continue;
        put(p, "    .reg .%s %s", pt_type_name(reg->type), p->regs[r]);
        put(p, reg->is_range ? "<%u>;\n" : ";\n", range_count(f, r));
    }
}

static void put_targets(struct print *p, const struct pt_table *t)
{
    put(p, t->kind == 'b' ? ".branchtargets" : ".calltargets");
    for (uint32_t i = 0; i < t->targets.n; i++)
        put(p, "%s%s", i ? ", " : " ",
            t->kind == 'b' ? p->labels[t->targets.v[i]] : p->m->funcs.v[t->targets.v[i]].name);
}

/* A lowered function keeps the tables of branches that turned out to be unreachable; their targets
 * are no blocks. */
static bool is_dead_table(const struct pt_func *f, const struct pt_table *t)
{
    for (uint32_t i = 0; f->is_lowered && t->kind == 'b' && i < t->targets.n; i++)
        if (t->targets.v[i] >= f->blocks.n)
            return true;
    return false;
}

static void put_tables(struct print *p)
{
    for (uint32_t i = 1; i < p->f->tables.n; i++) {
        const struct pt_table *t = &p->f->tables.v[i];
        if (is_dead_table(p->f, t))
            continue;
        put(p, "%s: ", p->tables[i]);
        if (t->kind == 'p') {
            const struct pt_func *s = &p->m->funcs.v[t->signature];
            for (uint32_t k = 0; k < s->results.n; k++)
                p->symbols[s->results.v[k]] = "_";
            for (uint32_t k = 0; k < s->params.n; k++)
                p->symbols[s->params.v[k]] = "_";
            put_header(p, s, NULL);
        } else {
            put_targets(p, t);
        }
        put(p, ";\n");
    }
}

static void put_body(struct print *p)
{
    const struct pt_func *f = p->f;
    put(p, "{\n");
    put_registers(p);
    for (uint32_t i = 0; i < f->locals.n; i++) {
        put(p, "    ");
        put_symbol(p, f->locals.v[i]);
        put(p, ";");
        put_local_fact(p, f->locals.v[i]);
        put(p, "\n");
    }
    put_tables(p);
    if (f->is_lowered)
        for (uint32_t b = 0; b < f->blocks.n; b++)
            put_block(p, b);
    else
        put_source(p);
    put(p, "}\n");
}

static void put_func(struct print *p, uint32_t func, bool with_body)
{
    const struct pt_func *f = p->f = &p->m->funcs.v[func];
    uint32_t n_names = p->taken.n, n_taken = p->n_taken;
    const char **names = pt_arena_alloc(p->arena, (n_names + 1) * sizeof *names);
    memcpy(names, p->taken.v, n_names * sizeof *names);
    p->loc = PT_NONE;
    name_all(p);
    put(p, "\n%s", linkage(f->linkage));
    put_header(p, f, f->name);
    put(p, with_body ? "\n" : ";\n");
    if (with_body) {
        find_facts(p);
        put_directives(p, f);
        put_body(p);
    }
    p->taken.v = names;
    p->taken.n = n_names;
    p->n_taken = n_taken;
}

/* ---- the module ------------------------------------------------------------------------------ */

static void put_module_header(struct print *p)
{
    const struct pt_module *m = p->m;
    put(p, ".version %u.%u\n.target sm_%u", m->ptx / 10, m->ptx % 10, m->sm);
    if (m->sm_feature)
        put(p, "%c", m->sm_feature);
    put(p, "%s%s%s\n", m->texmode_independent ? ", texmode_independent" : "",
        m->debug ? ", debug" : "", m->map_f64_to_f32 ? ", map_f64_to_f32" : "");
    if (m->ptx >= 23)
        put(p, ".address_size %u\n", m->address_size);
    for (uint32_t i = 1; i < m->files.n; i++)
        if (strcmp(m->files.v[i].name, "?"))
            put(p, ".file %u \"%s\"\n", m->files.v[i].number, m->files.v[i].name);
}

/* True if something mentions a function before its definition comes. */
static bool needs_declarations(const struct print *p)
{
    const struct pt_module *m = p->m;
    for (uint32_t i = 1; i < m->symbols.n; i++)
        for (uint32_t k = 0; k < m->symbols.v[i].relocs.n; k++)
            if (m->symbols.v[i].relocs.v[k].is_func)
                return true;
    for (uint32_t i = 1; i < m->funcs.n; i++) {
        const struct pt_func *f = &m->funcs.v[i];
        for (uint32_t k = 0; k < f->operands.n; k++)
            if (f->operands.v[k].kind == PT_OPND_FUNC && f->operands.v[k].index > i)
                return true;
        for (uint32_t t = 1; t < f->tables.n; t++)
            for (uint32_t k = 0; f->tables.v[t].kind == 'c' && k < f->tables.v[t].targets.n; k++)
                if (f->tables.v[t].targets.v[k] > i)
                    return true;
    }
    return false;
}

static const uint8_t *find_signatures(struct print *p)
{
    uint8_t *is_signature = pt_arena_alloc(p->arena, p->m->funcs.n + 1);
    for (uint32_t i = 1; i < p->m->funcs.n; i++)
        for (uint32_t t = 1; t < p->m->funcs.v[i].tables.n; t++)
            is_signature[p->m->funcs.v[i].tables.v[t].signature] = 1;
    return is_signature;
}

static void put_globals(struct print *p)
{
    const struct pt_module *m = p->m;
    p->symbols = pt_arena_alloc(p->arena, (m->symbols.n + 1) * sizeof *p->symbols);
    for (uint32_t i = 1; i < m->funcs.n; i++)
        if (!p->is_signature[i])
            take(p, m->funcs.v[i].name);
    for (uint32_t i = 1; i < m->symbols.n; i++)
        if (!m->symbols.v[i].func)
            p->symbols[i] = m->symbols.v[i].name ? take(p, m->symbols.v[i].name) : "_";
}

static void put_module(struct print *p, uint32_t only)
{
    const struct pt_module *m = p->m;
    p->is_signature = find_signatures(p);
    put_module_header(p);
    put_globals(p);
    bool declares = only || needs_declarations(p);
    bool with_kernels = !only && m->ptx >= 30; /* before 3.0 a kernel could not be declared */
    for (uint32_t i = 1; i < m->funcs.n && declares; i++)
        if (!p->is_signature[i] && (with_kernels || !m->funcs.v[i].is_entry))
            put_func(p, i, false);
    for (uint32_t i = 1; i < m->symbols.n; i++) {
        const struct pt_symbol *s = &m->symbols.v[i];
        if (s->func || !s->name || s->space == PT_SPACE_PARAM)
            continue;
        put(p, "\n");
        put_symbol(p, i);
        put(p, ";\n");
    }
    for (uint32_t i = 1; i < m->funcs.n; i++)
        if (!p->is_signature[i] && (!only || i == only) &&
            !(declares && m->funcs.v[i].is_declared_only))
            put_func(p, i, !m->funcs.v[i].is_declared_only);
    for (uint32_t i = 1; i < m->funcs.n; i++)
        if (m->funcs.v[i].alias_of)
            put(p, "\n.alias %s, %s;\n", m->funcs.v[i].name,
                m->funcs.v[m->funcs.v[i].alias_of].name);
}

char *pt_print(struct pt_module *m, uint32_t func, struct pt_arena *arena, size_t *len)
{
    struct print p = {.m = m, .arena = arena};
    put_module(&p, func);
    *len = p.text.n;
    *pt_vec_push(arena, &p.text) = 0;
    return p.text.v;
}
