/* Places of the PTX in LLVM's debug information. For debuggers and profilers: the file and line of
 * .loc, where there is one, or the line of PTX. For us, who read them back from the object
 * (line_table.c): the function's index is the column, the instruction's index + 1 the
 * discriminator. */
#include "backend/jit/llvm/debug_info.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "backend/jit/jit.h"

enum { COLUMN_MAX = 65535 };

struct jit_debug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef ptx;    /* the file that lines of PTX are in */
    LLVMMetadataRef *files; /* those of .file, made when needed */
};

static LLVMMetadataRef make_file(struct jit_debug *d, const char *name)
{
    return LLVMDIBuilderCreateFile(d->builder, name, strlen(name), "", 0);
}

static void set_flag(const struct jit *j, const char *name, unsigned value)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(j->code->context);
    LLVMAddModuleFlag(j->code->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(type, value, 0)));
}

/* Of the kernel, not of the file that was loaded: that may be another when the object is used
 * again. */
static const char *ptx_name(const struct jit *j)
{
    size_t n = strlen(j->unit->f->name) + sizeof ".ptx";
    char *name = pt_arena_alloc(j->unit->arena, n);
    snprintf(name, n, "%s.ptx", j->unit->f->name);
    return name;
}

static struct jit_debug *start(const struct jit *j)
{
    struct jit_debug *d = pt_arena_alloc(j->unit->arena, sizeof *d);
    set_flag(j, "Debug Info Version", LLVMDebugMetadataVersion());
    set_flag(j, "Dwarf Version", 4);
    d->builder = LLVMCreateDIBuilder(j->code->module);
    d->ptx = make_file(d, ptx_name(j));
    d->files = pt_arena_alloc(j->unit->arena, (j->unit->m->files.n + 1) * sizeof *d->files);
    LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC99, d->ptx, "ptera", 5, 1,
                                   "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0,
                                   "", 0);
    return d;
}

static LLVMMetadataRef subprogram(const struct jit *j, LLVMValueRef function)
{
    struct jit_debug *d = j->code->debug;
    LLVMMetadataRef found = LLVMGetSubprogram(function);
    if (found)
        return found;
    const char *name = j->unit->f->name;
    size_t n = strlen(name);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(d->builder, d->ptx, NULL, 0, LLVMDIFlagZero);
    found =
        LLVMDIBuilderCreateFunction(d->builder, d->ptx, name, n, name, n, d->ptx, j->unit->f->line,
                                    type, 0, 1, j->unit->f->line, LLVMDIFlagZero, 1);
    LLVMSetSubprogram(function, found);
    return found;
}

static LLVMMetadataRef file_of(const struct jit *j, const struct pt_loc *loc)
{
    LLVMMetadataRef *file = &j->code->debug->files[loc->file];
    if (!*file)
        *file = make_file(j->code->debug, j->unit->m->files.v[loc->file].name);
    return *file;
}

/* A scope of the instruction's own, for the discriminator. */
static LLVMMetadataRef place_of(const struct jit *j, LLVMMetadataRef scope, uint32_t index)
{
    const struct pt_insn *insn = &j->unit->f->insns.v[index];
    const struct pt_loc *loc = insn->loc != PT_NONE ? &j->unit->m->locs.v[insn->loc] : NULL;
    bool is_named = loc && loc->file < j->unit->m->files.n && j->unit->m->files.v[loc->file].name;
    struct pt_place from = jit_debug_info_place(j, index);
    scope = LLVMDIBuilderCreateLexicalBlockFile(j->code->debug->builder, scope,
                                                is_named ? file_of(j, loc) : j->code->debug->ptx,
                                                from.insn + 1);
    return LLVMDIBuilderCreateDebugLocation(j->code->context, is_named ? loc->line : insn->line,
                                            from.func <= COLUMN_MAX ? from.func : 0, scope, NULL);
}

void jit_debug_info_set(const struct jit *j, uint32_t insn)
{
    if (!j->code->debug)
        j->code->debug = start(j);
    LLVMMetadataRef scope = subprogram(j, LLVMGetBasicBlockParent(LLVMGetInsertBlock(j->code->b)));
    LLVMMetadataRef place =
        insn < j->unit->f->insns.n
            ? place_of(j, scope, insn)
            : LLVMDIBuilderCreateDebugLocation(j->code->context, 0, 0, scope, NULL);
    LLVMSetCurrentDebugLocation2(j->code->b, place);
}

void jit_debug_info_finish(const struct jit *j)
{
    if (!j->code->debug)
        return;
    LLVMDIBuilderFinalize(j->code->debug->builder);
    LLVMDisposeDIBuilder(j->code->debug->builder);
    j->code->debug = NULL;
}

struct pt_place jit_debug_info_place(const struct jit *j, uint32_t insn)
{
    if (j->unit->inlined)
        return pt_inlined_place(j->unit->inlined, insn);
    return (struct pt_place){(uint32_t)(j->unit->f - j->unit->m->funcs.v), insn};
}
