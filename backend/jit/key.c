/* What an object depends on, as one hash: the lowered code of the kernel and of all it may call, where variables lie in shared
 * memory, the options, the machine, and this compiler itself by the build id of its file. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <string.h>

#include <llvm-c/blake3.h>

#include "backend/jit/cache.h"
#include "ir/callee.h"

#define ADD(s, value) llvm_blake3_hasher_update((s), &(value), sizeof(value))

static void add_text(llvm_blake3_hasher *s, const char *text)
{
    llvm_blake3_hasher_update(s, text, strlen(text) + 1);
}

/* ---- the compiler -------------------------------------------------------------------------------------- */

struct build {
    llvm_blake3_hasher *s;
    bool is_found;
};

static void add_notes(struct build *b, const uint8_t *p, size_t n)
{
    while (n >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)p;
        size_t name = (note->n_namesz + 3u) & ~3u,
               all = sizeof *note + name + ((note->n_descsz + 3u) & ~3u);
        if (all > n)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(note + 1, "GNU", 4)) {
            llvm_blake3_hasher_update(b->s, p + sizeof *note + name, note->n_descsz);
            b->is_found = true;
        }
        p += all;
        n -= all;
    }
}

static int add_build_of(struct dl_phdr_info *info, size_t size, void *ud)
{
    struct build *b = ud;
    bool is_mine = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        is_mine |= h->p_type == PT_LOAD &&
                   (uintptr_t)&add_notes - (info->dlpi_addr + h->p_vaddr) < h->p_memsz;
    }
    for (int i = 0; is_mine && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            add_notes(b, (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                      info->dlpi_phdr[i].p_memsz);
    return is_mine;
}

/* ---- the code ------------------------------------------------------------------------------------------ */

static void add_symbols(llvm_blake3_hasher *s, const struct pt_image *image)
{
    const struct pt_module *m = image->module;
    for (uint32_t i = 1; i < m->symbols.n; i++) {
        const struct pt_symbol *v = &m->symbols.v[i];
        uint64_t place = v->space == PT_SPACE_SHARED ? image->symbols[i] : 0;
        const uint64_t facts[] = {v->space, v->type, v->linkage, v->vec, v->is_array, v->is_unsized,
                                  v->align, v->size, v->offset,  v->reg, v->func,     place};
        ADD(s, facts);
    }
}

static void add_insns(llvm_blake3_hasher *s, const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++) {
        const struct pt_insn *insn = &f->insns.v[i];
        const uint32_t facts[] = {insn->operands,  insn->n_operands, insn->guard,
                                  insn->guard_neg, insn->line,       insn->loc};
        add_text(s, pt_insn_form(m, insn)->spelling);
        ADD(s, facts);
    }
    for (uint32_t i = 0; i < f->operands.n; i++) {
        const struct pt_operand *o = &f->operands.v[i];
        const uint64_t facts[] = {o->kind, o->flags, o->select,
                                  o->type, o->index, (uint64_t)o->imm};
        ADD(s, facts);
    }
    for (uint32_t i = 1; i < f->regs.n; i++)
        ADD(s, f->regs.v[i].type);
}

static void add_graph(llvm_blake3_hasher *s, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->blocks.n; i++) {
        const struct pt_block *b = &f->blocks.v[i];
        const uint32_t facts[] = {b->first, b->count, b->succ, b->n_succ, b->next, b->communicates};
        ADD(s, facts);
    }
    llvm_blake3_hasher_update(s, f->edges.v, f->edges.n * sizeof *f->edges.v);
    for (uint32_t i = 1; i < f->labels.n; i++)
        ADD(s, f->labels.v[i].block);
    for (uint32_t i = 1; i < f->tables.n; i++) {
        ADD(s, f->tables.v[i].kind);
        ADD(s, f->tables.v[i].signature);
        ADD(s, f->tables.v[i].targets.n);
        llvm_blake3_hasher_update(s, f->tables.v[i].targets.v,
                                  f->tables.v[i].targets.n * sizeof(uint32_t));
    }
}

/* The object has lines of the sources. */
static void add_sources(llvm_blake3_hasher *s, const struct pt_module *m)
{
    for (uint32_t i = 1; i < m->files.n; i++)
        add_text(s, m->files.v[i].name ? m->files.v[i].name : "");
    for (uint32_t i = 1; i < m->locs.n; i++) {
        const uint32_t facts[] = {m->locs.v[i].file, m->locs.v[i].line};
        ADD(s, facts);
    }
}

/* Native code knows where registers lie that instructions read which the interpreter runs. */
static void add_slots(llvm_blake3_hasher *s, const struct pt_program *program, uint32_t func)
{
    const struct pt_func *f = &program->image->module->funcs.v[func];
    for (uint32_t i = 1; !f->is_declared_only && i < f->regs.n; i++) {
        uint32_t slot = program->engine->slot(program, func, i);
        ADD(s, slot);
    }
}

static void add_func(llvm_blake3_hasher *s, const struct pt_module *m, uint32_t index)
{
    const struct pt_func *f = &m->funcs.v[index];
    add_text(s, f->name);
    const uint32_t facts[] = {f->line,       index,       f->insns.n,   f->operands.n,
                              f->regs.n,     f->blocks.n, f->edges.n,   f->labels.n,
                              f->tables.n,   f->params.n, f->results.n, f->param_size,
                              f->local_size, f->alias_of};
    ADD(s, facts);
    llvm_blake3_hasher_update(s, f->params.v, f->params.n * sizeof(uint32_t));
    llvm_blake3_hasher_update(s, f->results.v, f->results.n * sizeof(uint32_t));
    add_insns(s, m, f);
    add_graph(s, f);
}

static bool calls_indirectly(const struct pt_module *m, const struct pt_func *f)
{
    for (uint32_t i = 0; i < f->insns.n; i++)
        if (pt_insn_form(m, &f->insns.v[i])->op == PT_OP_call_indirect)
            return true;
    return false;
}

/* Whom indirect calls may call: addresses are taken anywhere in the module. */
static void add_addressed(llvm_blake3_hasher *s, const struct pt_module *m, const uint32_t *funcs,
                          uint32_t n, struct pt_arena *arena)
{
    for (uint32_t i = 0; i < n; i++)
        if (calls_indirectly(m, &m->funcs.v[funcs[i]])) {
            llvm_blake3_hasher_update(s, pt_addressed(m, arena), m->funcs.n);
            return;
        }
}

bool jit_key(const struct pt_program *program, const struct pt_native_options *options,
             const char *cpu, struct pt_arena *arena, struct jit_key *key)
{
    llvm_blake3_hasher s;
    struct build build = {&s, false};
    const struct pt_module *m = program->image->module;
    uint32_t n;
    llvm_blake3_hasher_init(&s);
    dl_iterate_phdr(add_build_of, &build);
    add_text(&s, options->level);
    add_text(&s, cpu);
    ADD(&s, options->block);
    ADD(&s, options->math_fast);
    ADD(&s, options->has_cluster);
    const uint64_t facts[] = {m->ptx, m->sm, program->shared_static, program->shared_align,
                              program->local_bytes};
    ADD(&s, facts);
    add_symbols(&s, program->image);
    add_sources(&s, m);
    const uint32_t *funcs = pt_reachable(m, program->kernel, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        add_func(&s, m, funcs[i]);
        add_slots(&s, program, funcs[i]);
    }
    add_addressed(&s, m, funcs, n, arena);
    llvm_blake3_hasher_finalize(&s, key->hash, sizeof key->hash);
    return build.is_found;
}
