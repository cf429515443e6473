/* Snapshots: each struct's fields are listed once, for writing and reading alike. Names of
 * registers, labels and variables are left out: nothing that is compiled depends on them. */
#include "backend/jit/object/snapshot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/native.h"
#include "ir/call_graph.h"

/* ---- both directions ------------------------------------------------------------------------- */

struct codec {
    struct pt_arena *arena; /* reading: what is made lies there; NULL: writing */
    const uint8_t *from;    /* reading: what is left */
    size_t left;
    uint8_t *bytes; /* writing: malloc'ed */
    size_t n, cap;
    bool is_bad;                      /* reading: they end too early; writing: no memory */
    const struct pt_program *program; /* writing */
};

static bool grow(struct codec *c, size_t n)
{
    size_t cap = c->cap ? c->cap : 4096;
    while (cap - c->n < n)
        cap *= 2;
    uint8_t *more = cap > c->cap ? realloc(c->bytes, cap) : c->bytes;
    if (!more)
        return false;
    c->bytes = more;
    c->cap = cap;
    return true;
}

static void write_bytes(struct codec *c, const void *p, size_t n)
{
    c->is_bad = c->is_bad || !grow(c, n);
    if (c->is_bad || !n)
        return;
    memcpy(c->bytes + c->n, p, n);
    c->n += n;
}

static void read_bytes(struct codec *c, void *p, size_t n)
{
    c->is_bad = c->is_bad || n > c->left;
    if (!n)
        return;
    if (c->is_bad) {
        memset(p, 0, n);
        return;
    }
    memcpy(p, c->from, n);
    c->from += n;
    c->left -= n;
}

static void code(struct codec *c, void *p, size_t n)
{
    if (c->arena)
        read_bytes(c, p, n);
    else
        write_bytes(c, p, n);
}

/* What is read is one of the two. */
static void code_bool(struct codec *c, void *p, size_t n)
{
    if (!c->arena) {
        code(c, p, n);
        return;
    }
    uint8_t byte = 0;
    code(c, &byte, n);
    c->is_bad = c->is_bad || byte > 1;
    byte = byte == 1;
    memcpy(p, &byte, n);
}
#define FIELD(c, field) \
    _Generic((field), bool: code_bool, default: code)((c), &(field), sizeof(field))

/* The number of elements; reading, room for them. An element takes at least a byte. */
static void code_count(struct codec *c, void **v, uint32_t *n, size_t size)
{
    code(c, n, sizeof *n);
    if (!c->arena)
        return;
    if (*n > c->left) {
        c->is_bad = true;
        *n = 0;
    }
    *v = pt_arena_alloc(c->arena, *n * size); /* not null where there are none: offsets are added */
}

/* A vector, element by element, or of a struct without padding and pointers at once. */
#define EACH(c, vec, one)                                              \
    do {                                                               \
        code_count((c), (void **)&(vec).v, &(vec).n, sizeof *(vec).v); \
        if ((c)->arena)                                                \
            (vec).cap = (vec).n;                                       \
        for (uint32_t i_ = 0; i_ < (vec).n; i_++)                      \
            one((c), &(vec).v[i_]);                                    \
    } while (0)
#define PLAIN(c, vec)                                                  \
    do {                                                               \
        code_count((c), (void **)&(vec).v, &(vec).n, sizeof *(vec).v); \
        if ((c)->arena)                                                \
            (vec).cap = (vec).n;                                       \
        code((c), (vec).v, (vec).n * sizeof *(vec).v);                 \
    } while (0)

static_assert(sizeof(struct pt_insn) == 24 && sizeof(struct pt_operand) == 16 &&
                  sizeof(struct pt_loc) == 20,
              "a struct that is written at once has no padding");

static void code_text(struct codec *c, const char **text)
{
    uint32_t n = !c->arena && *text ? (uint32_t)strlen(*text) + 1 : 0;
    void *copy = NULL;
    code_count(c, &copy, &n, 1);
    code(c, c->arena ? copy : (void *)(uintptr_t)*text, n);
    if (!c->arena)
        return;
    if (n && ((char *)copy)[n - 1]) {
        c->is_bad = true;
        n = 0;
    }
    *text = n ? copy : NULL;
}

/* ---- the module ------------------------------------------------------------------------------ */

static void code_form(struct codec *c, struct pt_form *f)
{
    FIELD(c, f->op);
    FIELD(c, f->n_mods);
    FIELD(c, f->n_types);
    FIELD(c, f->vec);
    FIELD(c, f->min_sm_feature);
    FIELD(c, f->min_sm);
    FIELD(c, f->min_ptx);
    FIELD(c, f->variant);
    FIELD(c, f->mod);
    FIELD(c, f->type);
    FIELD(c, f->effects);
    code_text(c, &f->spelling);
}

static void code_reloc(struct codec *c, struct pt_reloc *r)
{
    FIELD(c, r->is_func);
    FIELD(c, r->target);
}

static void code_symbol(struct codec *c, struct pt_symbol *s)
{
    FIELD(c, s->space);
    FIELD(c, s->type);
    FIELD(c, s->linkage);
    FIELD(c, s->vec);
    FIELD(c, s->is_array);
    FIELD(c, s->is_unsized);
    FIELD(c, s->is_used);
    FIELD(c, s->align);
    FIELD(c, s->size);
    FIELD(c, s->offset);
    FIELD(c, s->reg);
    FIELD(c, s->func);
    EACH(c, s->relocs, code_reloc);
}

static void code_file(struct codec *c, struct pt_file *f)
{
    FIELD(c, f->number);
    code_text(c, &f->name);
}

static void code_reg(struct codec *c, struct pt_reg *r)
{
    FIELD(c, r->base);
    FIELD(c, r->type);
    FIELD(c, r->is_range);
    FIELD(c, r->n_defs);
}

static void code_label(struct codec *c, struct pt_label *l)
{
    FIELD(c, l->insn);
    FIELD(c, l->line);
    FIELD(c, l->block);
}

static void code_table(struct codec *c, struct pt_table *t)
{
    FIELD(c, t->kind);
    FIELD(c, t->signature);
    PLAIN(c, t->targets);
}

static void code_block(struct codec *c, struct pt_block *b)
{
    FIELD(c, b->first);
    FIELD(c, b->count);
    FIELD(c, b->succ);
    FIELD(c, b->n_succ);
    FIELD(c, b->pred);
    FIELD(c, b->n_pred);
    FIELD(c, b->next);
    FIELD(c, b->loop);
    FIELD(c, b->idom);
    FIELD(c, b->ipdom);
    FIELD(c, b->communicates);
}

static void code_loop(struct codec *c, struct pt_loop *l)
{
    FIELD(c, l->header);
    FIELD(c, l->end);
    FIELD(c, l->parent);
    FIELD(c, l->is_reducible);
    FIELD(c, l->communicates);
}

/* What is known of a function without its body. */
static void code_signature(struct codec *c, struct pt_func *f)
{
    code_text(c, &f->name);
    FIELD(c, f->is_entry);
    FIELD(c, f->is_declared_only);
    FIELD(c, f->is_noreturn);
    FIELD(c, f->is_host);
    FIELD(c, f->linkage);
    FIELD(c, f->alias_of);
    FIELD(c, f->line);
    PLAIN(c, f->params);
    PLAIN(c, f->results);
    FIELD(c, f->param_size);
    FIELD(c, f->maxntid);
    FIELD(c, f->reqntid);
    FIELD(c, f->maxnreg);
    FIELD(c, f->minnctapersm);
    FIELD(c, f->reqnctapercluster);
    FIELD(c, f->maxclusterrank);
    FIELD(c, f->explicit_cluster);
    FIELD(c, f->blocks_are_clusters);
}

static void code_body(struct codec *c, struct pt_func *f)
{
    FIELD(c, f->is_lowered);
    FIELD(c, f->end_line);
    FIELD(c, f->local_size);
    FIELD(c, f->calls);
    PLAIN(c, f->locals);
    PLAIN(c, f->insns);
    PLAIN(c, f->operands);
    EACH(c, f->regs, code_reg);
    EACH(c, f->labels, code_label);
    EACH(c, f->tables, code_table);
    EACH(c, f->blocks, code_block);
    PLAIN(c, f->edges);
    EACH(c, f->loops, code_loop);
}

static void code_module(struct codec *c, struct pt_module *m)
{
    FIELD(c, m->ptx);
    FIELD(c, m->sm);
    FIELD(c, m->sm_feature);
    FIELD(c, m->address_size);
    FIELD(c, m->fmad);
    FIELD(c, m->debug);
    FIELD(c, m->map_f64_to_f32);
    EACH(c, m->forms, code_form);
    EACH(c, m->symbols, code_symbol);
    PLAIN(c, m->locs);
    EACH(c, m->files, code_file);
    EACH(c, m->funcs, code_signature);
}

/* ---- functions' bodies ----------------------------------------------------------------------- */

static bool calls_indirectly(const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (pt_insn_form(m, &f->insns.v[i])->op == PT_OP_call_indirect)
            return true;
    return false;
}

/* Functions whose bodies come along: those that may be called. Where one is called by an address,
 * the addresses that are taken anywhere in the module tell which, and all bodies come along. */
static uint8_t *find_bodies(const struct pt_program *program, struct pt_arena *arena)
{
    const struct pt_module *m = program->image->module;
    uint8_t *has_body = pt_arena_alloc(arena, m->funcs.n);
    uint32_t n;
    const uint32_t *funcs = pt_call_graph_reachable(m, program->kernel, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        has_body[funcs[i]] = 1;
        if (calls_indirectly(m, &m->funcs.v[funcs[i]])) {
            memset(has_body, 1, m->funcs.n);
            break;
        }
    }
    return has_body;
}

/* Only a lowered function has slots. */
static void code_slots(struct codec *c, struct jit_snapshot *s, uint32_t func)
{
    const struct pt_func *f = &s->m.funcs.v[func];
    uint32_t n = f->is_lowered ? f->regs.n : 0;
    if (c->arena)
        s->slots[func] = pt_arena_alloc(c->arena, n * sizeof(uint32_t));
    for (uint32_t i = 1; i < n; i++) {
        uint32_t slot = c->arena ? 0 : c->program->engine->slot(c->program, func, i);
        FIELD(c, slot);
        if (c->arena)
            s->slots[func][i] = slot;
    }
}

static void code_bodies(struct codec *c, struct jit_snapshot *s, const uint8_t *has_body)
{
    if (c->arena)
        s->slots = pt_arena_alloc(c->arena, s->m.funcs.n * sizeof *s->slots);
    for (uint32_t i = 1; i < s->m.funcs.n; i++) {
        uint8_t has = c->arena ? 0 : has_body[i];
        FIELD(c, has);
        if (!has)
            continue;
        code_body(c, &s->m.funcs.v[i]);
        code_slots(c, s, i);
    }
}

/* ---- what the engine tells ------------------------------------------------------------------- */

static void find_form(const struct pt_program *program, const struct pt_native_options *options,
                      uint32_t form, struct jit_snapshot_form *f)
{
    struct pt_module *m = program->image->module;
    const struct pt_lanes *lanes = program->engine->lanes(m, &m->forms.v[form], &f->kind);
    const struct pt_product *product =
        program->engine->product(&m->forms.v[form], options->math_fast);
    if (lanes)
        f->lanes = *lanes;
    else
        f->kind = 0;
    if (product)
        f->product = *product;
}

static void code_forms(struct codec *c, struct jit_snapshot *s)
{
    if (c->arena)
        s->forms = pt_arena_alloc(c->arena, s->m.forms.n * sizeof *s->forms);
    for (uint32_t i = 1; i < s->m.forms.n; i++) {
        struct jit_snapshot_form f = {0};
        if (!c->arena)
            find_form(c->program, &s->options, i, &f);
        code_text(c, &f.lanes.name);
        FIELD(c, f.lanes.bytes);
        FIELD(c, f.lanes.takes_kind);
        FIELD(c, f.kind);
        code_text(c, &f.product.name);
        if (c->arena)
            s->forms[i] = f;
    }
}

static void code_shared(struct codec *c, struct jit_snapshot *s)
{
    if (c->arena)
        s->shared = pt_arena_alloc(c->arena, s->m.symbols.n * sizeof *s->shared);
    for (uint32_t i = 1; i < s->m.symbols.n; i++) {
        if (s->m.symbols.v[i].space != PT_SPACE_SHARED)
            continue;
        uint64_t place = c->arena ? 0 : c->program->image->symbols[i];
        FIELD(c, place);
        if (c->arena)
            s->shared[i] = place;
    }
}

static void code_snapshot(struct codec *c, struct jit_snapshot *s, const uint8_t *has_body)
{
    code_text(c, &s->options.level);
    FIELD(c, s->options.block);
    FIELD(c, s->options.math_fast);
    FIELD(c, s->options.has_cluster);
    FIELD(c, s->kernel);
    FIELD(c, s->tests);
    code_module(c, &s->m);
    code_bodies(c, s, has_body);
    code_forms(c, s);
    code_shared(c, s);
}

/* ---- the two ways ---------------------------------------------------------------------------- */

uint8_t *jit_snapshot_write(const struct pt_program *program,
                            const struct pt_native_options *options, size_t *bytes)
{
    struct codec c = {.program = program};
    struct jit_snapshot s = {.m = *program->image->module,
                             .kernel = program->kernel,
                             .tests = program->tests,
                             .options = *options};
    struct pt_arena arena;
    jmp_buf oom;
    pt_arena_init(&arena, &pt_malloc_allocator);
    arena.oom = &oom;
    if (setjmp(oom) == 0)
        code_snapshot(&c, &s, find_bodies(program, &arena));
    else
        c.is_bad = true;
    pt_arena_free(&arena);
    if (c.is_bad) {
        free(c.bytes);
        return NULL;
    }
    *bytes = c.n;
    return c.bytes;
}

struct jit_snapshot *jit_snapshot_read(const uint8_t *bytes, size_t n, struct pt_arena *arena)
{
    struct jit_snapshot *s = pt_arena_alloc(arena, sizeof *s);
    struct codec c = {.arena = arena, .from = bytes, .left = n};
    code_snapshot(&c, s, NULL);
    bool is_whole = !c.is_bad && !c.left && s->kernel < s->m.funcs.n && s->options.level;
    return is_whole ? s : NULL;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Where calls are expanded there are copies of the forms, and further ones, which have neither. */
static const struct jit_snapshot_form *form_of(const struct jit_snapshot *s,
                                               const struct pt_form *form)
{
    uintptr_t offset = (uintptr_t)form - (uintptr_t)s->m.forms.v;
    if (offset < s->m.forms.n * sizeof *form)
        return &s->forms[offset / sizeof *form];
    for (uint32_t i = 1; i < s->m.forms.n; i++)
        if (!memcmp(&s->m.forms.v[i], form, sizeof *form))
            return &s->forms[i];
    return NULL;
}

const struct pt_lanes *jit_snapshot_lanes(const struct jit_snapshot *s, const struct pt_form *form,
                                          uint64_t *kind)
{
    const struct jit_snapshot_form *f = form_of(s, form);
    if (!f || !f->lanes.name)
        return NULL;
    *kind = f->kind;
    return &f->lanes;
}

const struct pt_product *jit_snapshot_product(const struct jit_snapshot *s,
                                              const struct pt_form *form)
{
    const struct jit_snapshot_form *f = form_of(s, form);
    return f && f->product.name ? &f->product : NULL;
}
