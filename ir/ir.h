/* The IR: modules, functions, registers, blocks, instructions.
 *
 * A function exists in two states. *Parsed*: `insns` hold the body in source order, labels name
 * places in it. *Lowered* (pt_lower): `blocks` hold the numbered control-flow graph, the
 * instructions are in block order in `insns`, and every register is one web of definitions and
 * uses. Functions are lowered when first needed.
 *
 * Indices (u32), never pointers, tie IR objects together. Index 0 of every table that can be "none"
 * is unused.
 */
#ifndef PTERA_IR_IR_H
#define PTERA_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/arena.h"
#include "ir/diag.h"
#include "ir/isa.h"

enum { PT_NONE = 0 };

/* ---- operands -------------------------------------------------------------------------------- */

enum pt_operand_kind {
    PT_OPND_NONE,
    PT_OPND_REG,   /* index: register */
    PT_OPND_IMM,   /* imm: the bits; type: PT_s64 or PT_u64 for integers, PT_f64 for 1.5 and 0d…,
                      PT_f32 for 0f… */
    PT_OPND_SREG,  /* index: enum pt_sreg */
    PT_OPND_SYM,   /* address of symbol `index` plus imm; generic: take the generic address */
    PT_OPND_FUNC,  /* index: function, as a call target or an address */
    PT_OPND_LABEL, /* index: label; after lowering: block */
    PT_OPND_TABLE, /* index: .branchtargets, .calltargets or .callprototype table of the function */
    PT_OPND_SINK,  /* _ */
    PT_OPND_VEC,   /* {…}: imm operands from index in the function's operand array */
    PT_OPND_PAIR,  /* d|p: two operands from index */
    PT_OPND_MEM,   /* […]: imm operands from index. The first is the base (REG, SYM, IMM, FUNC)
                      whose offset is in its own imm; texture and tensor addresses have more */
    PT_OPND_LIST   /* (…): the arguments or results of a call: imm operands from index */
};

enum pt_operand_flag {
    PT_OPND_NEG = 1 << 0,     /* !p */
    PT_OPND_GENERIC = 1 << 1, /* generic(sym) */
    PT_OPND_UNIFIED = 1 << 2, /* [a].unified */
    PT_OPND_MINUS = 1 << 3    /* -a before a register (video instructions) */
};

struct pt_operand {
    uint8_t kind;   /* enum pt_operand_kind */
    uint8_t flags;  /* enum pt_operand_flag */
    uint8_t select; /* selector of video instructions (.b0 .h1 .b3210): 'b' or 'h', and in imm the
                       digits as hexadecimal digits, their number in the high half; else 0 */
    uint8_t type;   /* REG: enum pt_type of the register as declared; IMM: see above */
    uint32_t index;
    int64_t imm;    /* REG in MEM: byte offset; SYM: byte offset; VEC, MEM, LIST: count */
};

/* ---- instructions, registers, blocks --------------------------------------------------------- */

struct pt_insn {
    uint32_t form;       /* index into module->forms */
    uint32_t operands;   /* first operand in func->operands, in the order written */
    uint8_t n_operands;
    uint8_t guard_neg;   /* @!p */
    uint16_t col;
    uint32_t guard;      /* guard predicate register, or PT_NONE */
    uint32_t line;       /* of the PTX text */
    uint32_t loc;        /* index into module->locs, or PT_NONE */
};

struct pt_reg {
    const char
        *name; /* NULL for a member of a %r<N> range after the first: name it by pt_print_reg */
    uint32_t base;    /* first register of its range */
    uint8_t type;     /* enum pt_type */
    uint8_t is_range; /* declared as %name<N> */
    uint8_t n_defs;   /* after lowering: definitions of the web, saturating at 255 */
};

/* A block of the lowered function. Block 0 is the entry; every block is reachable. The blocks of a
 * loop (strongly connected component, nested likewise) are contiguous, its header first, and
 * precede everything reached only by leaving it; otherwise a block comes after its predecessors. A
 * branch to a block with a number not above its own is a back edge and leads to the header of a
 * loop around it.
 *
 * Branches and ends (effects BRANCH, END) are last in their block; they keep their guard.
 * Synchronising instructions (effects WARP, CTA, CLUSTER) are first in their block and have no
 * guard. A call is a block of its own, without a guard. */
struct pt_block {
    uint32_t first, count;   /* instructions, at least one */
    uint32_t succ, n_succ;   /* from func->edges, each once: targets of the last instruction, then
                                `next` */
    uint32_t pred, n_pred;   /* from func->edges, ascending */
    uint32_t next;           /* the block that follows where the last instruction does not branch or
                                end (lanes its guard leaves out included); UINT32_MAX: none. Not
                                always the number + 1 */
    uint32_t loop;           /* innermost loop + 1, or PT_NONE */
    uint32_t idom, ipdom;    /* block numbers; UINT32_MAX: none (the entry; a block after which
                                nothing is common to all ways out, or that has no way out) */
    uint8_t communicates;    /* its back edges let other work run first: the loop may wait for other
                                threads */
};

struct pt_loop {
    uint32_t header;         /* block; the lowest-numbered of the loop */
    uint32_t end;            /* one past its last block */
    uint32_t parent;         /* loop + 1, or PT_NONE */
    uint8_t is_reducible;    /* entered through its header only */
    uint8_t communicates;    /* holds an access or instruction that may wait for another thread */
};

struct pt_label {
    const char *name;
    uint32_t insn;   /* parsed: the instruction it stands before */
    uint32_t line;   /* 0: referenced but not defined */
    uint32_t block;  /* lowered */
};

/* .branchtargets, .calltargets, .callprototype */
struct pt_table {
    const char *name;
    uint8_t kind;              /* 'b', 'c', 'p' */
    PT_VEC(uint32_t) targets;  /* labels ('b'; after lowering blocks) or functions ('c') */
    uint32_t signature;        /* 'p': a function, named "_", that holds only the signature */
};

/* ---- functions, variables, module ------------------------------------------------------------ */

enum pt_linkage { PT_LINK_LOCAL, PT_LINK_VISIBLE, PT_LINK_EXTERN, PT_LINK_WEAK, PT_LINK_COMMON };

/* One relocation of an initialiser: the `bytes` at `offset` hold an address. */
struct pt_reloc {
    uint32_t offset;
    uint8_t bytes;      /* 1, 2, 4, 8 */
    uint8_t shift;      /* mask(): which byte of the address, in bits */
    uint8_t is_generic;
    uint8_t is_func;
    uint32_t target;    /* symbol or function */
    int64_t addend;
};

/* A variable: module scope, function scope (.shared .local .param .const .global inside a body), or
 * a formal parameter. Symbols of all functions are in module->symbols. */
struct pt_symbol {
    const char *name;
    uint8_t space;    /* enum pt_space; PT_SPACE_REG for a .reg parameter (then `reg`) */
    uint8_t type;     /* element type */
    uint8_t linkage;  /* enum pt_linkage */
    uint8_t vec;      /* 1, 2, 4 */
    uint8_t is_array, is_unsized; /* x[]: dynamic shared memory, or a variadic parameter */
    uint8_t is_managed;
    uint8_t is_used;
    uint8_t ptr_space; /* .ptr .global …: enum pt_space, for reflection */
    uint32_t ptr_align;
    uint32_t align;   /* bytes */
    uint64_t size;    /* bytes; 0 if unsized */
    uint64_t offset;  /* kernel parameter: offset in the parameter block; .shared: offset in the
                         CTA's window; .local and function .param: offset in the frame (set when the
                         function is lowered); .const: offset in the bank (set when the module is
                         loaded) */
    uint32_t reg;     /* PT_SPACE_REG: the register */
    uint32_t func;    /* function it belongs to, or PT_NONE */
    uint32_t line;
    const uint8_t *init;  /* `init_size` bytes, or NULL: zeros */
    uint64_t init_size;
    PT_VEC(struct pt_reloc) relocs;
};

struct pt_func {
    const char *name;
    bool is_entry, is_declared_only, is_noreturn, is_lowered;
    bool is_host;            /* declared only: the embedder provides it */
    bool keeps_products;     /* its mul and add are never fused: .pragma "ptera_fmad_off" */
    uint8_t linkage;
    uint32_t alias_of;       /* function, or PT_NONE */
    uint32_t line, end_line;
    PT_VEC(uint32_t) params;   /* symbols, in order */
    PT_VEC(uint32_t) results;  /* symbols */
    PT_VEC(uint32_t) locals;   /* symbols declared in the body (every space but .reg) */
    uint32_t param_size;       /* kernels: bytes of the parameter block */
    /* performance-tuning and launch directives; 0: not given */
    uint32_t maxntid[3], reqntid[3], maxnreg, minnctapersm, reqnctapercluster[3], maxclusterrank;
    bool explicit_cluster, blocks_are_clusters;

    /* the body: from here on lowering replaces it */
    PT_VEC(struct pt_insn) insns;
    PT_VEC(struct pt_operand) operands;
    PT_VEC(struct pt_reg) regs;       /* regs.v[0] unused */
    PT_VEC(struct pt_label) labels;   /* labels.v[0] unused */
    PT_VEC(struct pt_table) tables;   /* tables.v[0] unused */

    /* lowered */
    PT_VEC(struct pt_block) blocks;
    PT_VEC(uint32_t) edges;
    PT_VEC(struct pt_loop) loops;
    uint32_t local_size;   /* bytes of .local and .param variables of one activation, aligned to
                              16 */
    bool calls;            /* contains a call */
};

struct pt_loc {
    uint32_t file, line, col; /* file: index into module->files */
    uint32_t func_name;       /* offset string label of an inlined function, or PT_NONE: label text
                                 in files? unused */
    uint32_t inlined_at;      /* loc it was inlined at, or PT_NONE */
};

struct pt_file {
    uint32_t number; /* as in .file */
    const char *name;
};

/* One parsed (and partly lowered) PTX module. */
struct pt_module {
    struct pt_arena arena;
    struct pt_diags diags;
    uint16_t ptx;          /* 78 for .version 7.8 */
    uint16_t sm;           /* 90 */
    uint8_t sm_feature;    /* 0, 'a', 'f' */
    uint8_t address_size;  /* 32 or 64 */
    bool fmad;             /* contraction allowed (--fmad) */
    bool texmode_independent, debug, map_f64_to_f32;
    struct pt_insn_cache *insn_cache; /* of frontend/insn.c: spellings seen so far */
    PT_VEC(struct pt_form) forms;    /* forms.v[0] unused */
    PT_VEC(struct pt_func) funcs;    /* funcs.v[0] unused */
    PT_VEC(struct pt_symbol) symbols;/* symbols.v[0] unused */
    PT_VEC(struct pt_loc) locs;      /* locs.v[0] unused */
    PT_VEC(struct pt_file) files;    /* files.v[0] unused */
};

static inline const struct pt_form *pt_insn_form(const struct pt_module *m, const struct pt_insn *i)
{
    return &m->forms.v[i->form];
}

#endif
