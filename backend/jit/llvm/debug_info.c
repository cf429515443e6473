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

static void set_flag(struct jit_code *code, const char *name, unsigned value)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(code->context);
    LLVMAddModuleFlag(code->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(type, value, 0)));
}

/* Of the kernel, not of the file that was loaded: that may be another when the object is used
 * again. */
static const char *ptx_name(struct jit_code *code)
{
    size_t n = strlen(code->unit->f->name) + sizeof ".ptx";
    char *name = pt_arena_alloc(code->unit->arena, n);
    snprintf(name, n, "%s.ptx", code->unit->f->name);
    return name;
}

static struct jit_debug *start(struct jit_code *code)
{
    struct jit_debug *d = pt_arena_alloc(code->unit->arena, sizeof *d);
    set_flag(code, "Debug Info Version", LLVMDebugMetadataVersion());
    set_flag(code, "Dwarf Version", 4);
    d->builder = LLVMCreateDIBuilder(code->module);
    d->ptx = make_file(d, ptx_name(code));
    d->files = pt_arena_alloc(code->unit->arena, (code->unit->m->files.n + 1) * sizeof *d->files);
    LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC99, d->ptx, "ptera", 5, 1,
                                   "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0,
                                   "", 0);
    return d;
}

static LLVMMetadataRef subprogram(struct jit_code *code, LLVMValueRef function)
{
    struct jit_debug *d = code->debug;
    LLVMMetadataRef found = LLVMGetSubprogram(function);
    if (found)
        return found;
    const char *name = code->unit->f->name;
    size_t n = strlen(name);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(d->builder, d->ptx, NULL, 0, LLVMDIFlagZero);
    found = LLVMDIBuilderCreateFunction(d->builder, d->ptx, name, n, name, n, d->ptx,
                                        code->unit->f->line, type, 0, 1, code->unit->f->line,
                                        LLVMDIFlagZero, 1);
    LLVMSetSubprogram(function, found);
    return found;
}

static LLVMMetadataRef file_of(struct jit_code *code, const struct pt_loc *loc)
{
    LLVMMetadataRef *file = &code->debug->files[loc->file];
    if (!*file)
        *file = make_file(code->debug, code->unit->m->files.v[loc->file].name);
    return *file;
}

/* A scope of the instruction's own, for the discriminator. */
static LLVMMetadataRef place_of(struct jit_code *code, LLVMMetadataRef scope, uint32_t index)
{
    const struct pt_insn *insn = &code->unit->f->insns.v[index];
    const struct pt_loc *loc = insn->loc != PT_NONE ? &code->unit->m->locs.v[insn->loc] : NULL;
    bool is_named =
        loc && loc->file < code->unit->m->files.n && code->unit->m->files.v[loc->file].name;
    struct pt_place from = jit_debug_info_place(code->unit, index);
    scope = LLVMDIBuilderCreateLexicalBlockFile(code->debug->builder, scope,
                                                is_named ? file_of(code, loc) : code->debug->ptx,
                                                from.insn + 1);
    return LLVMDIBuilderCreateDebugLocation(code->context, is_named ? loc->line : insn->line,
                                            from.func <= COLUMN_MAX ? from.func : 0, scope, NULL);
}

void jit_debug_info_set(struct jit_code *code, uint32_t insn)
{
    if (!code->debug)
        code->debug = start(code);
    LLVMMetadataRef scope = subprogram(code, LLVMGetBasicBlockParent(LLVMGetInsertBlock(code->b)));
    LLVMMetadataRef place =
        insn < code->unit->f->insns.n
            ? place_of(code, scope, insn)
            : LLVMDIBuilderCreateDebugLocation(code->context, 0, 0, scope, NULL);
    LLVMSetCurrentDebugLocation2(code->b, place);
}

void jit_debug_info_finish(struct jit_code *code)
{
    if (!code->debug)
        return;
    LLVMDIBuilderFinalize(code->debug->builder);
    LLVMDisposeDIBuilder(code->debug->builder);
    code->debug = NULL;
}

struct pt_place jit_debug_info_place(const struct jit_unit *u, uint32_t insn)
{
    if (u->inlined)
        return pt_inlined_place(u->inlined, insn);
    return (struct pt_place){(uint32_t)(u->f - u->m->funcs.v), insn, false};
}
