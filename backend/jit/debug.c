/* Places of the PTX in LLVM's debug information: the line is the instruction's index + 1, the file is named by the
 * function's index. debug_line.c reads them back from the object. */
#include <stdio.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "backend/jit/jit.h"

struct jit_debug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef file, unit; /* of the module */
    /* the place last set */
    LLVMValueRef function;
    const struct pt_func *f;
    LLVMMetadataRef scope;
};

static LLVMMetadataRef make_file(struct jit_debug *d, const char *name)
{
    return LLVMDIBuilderCreateFile(d->builder, name, strlen(name), "", 0);
}

static void set_flag(struct jit *j, const char *name, unsigned value)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(j->context);
    LLVMAddModuleFlag(j->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(type, value, 0)));
}

static struct jit_debug *start(struct jit *j)
{
    struct jit_debug *d = pt_arena_alloc(j->arena, sizeof *d);
    set_flag(j, "Debug Info Version", LLVMDebugMetadataVersion());
    set_flag(j, "Dwarf Version", 4);
    d->builder = LLVMCreateDIBuilder(j->module);
    d->file = make_file(d, "ptx");
    d->unit = LLVMDIBuilderCreateCompileUnit(
        d->builder, LLVMDWARFSourceLanguageC99, d->file, "ptera", 5, 1, "", 0, 0, "", 0,
        LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
    return d;
}

static LLVMMetadataRef subprogram(struct jit_debug *d, LLVMValueRef function)
{
    LLVMMetadataRef found = LLVMGetSubprogram(function);
    if (found)
        return found;
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(d->builder, d->file, NULL, 0, LLVMDIFlagZero);
    found = LLVMDIBuilderCreateFunction(d->builder, d->file, name, n, name, n, d->file, 1, type, 0,
                                        1, 1, LLVMDIFlagZero, 1);
    LLVMSetSubprogram(function, found);
    return found;
}

static void set_scope(struct jit *j, struct jit_debug *d, LLVMValueRef function)
{
    char name[16];
    snprintf(name, sizeof name, "%u", (unsigned)(j->f - j->m->funcs.v));
    d->function = function;
    d->f = j->f;
    d->scope = LLVMDIBuilderCreateLexicalBlockFile(d->builder, subprogram(d, function),
                                                   make_file(d, name), 0);
}

void jit_debug_place(struct jit *j, uint32_t insn)
{
    if (!j->debug)
        j->debug = start(j);
    struct jit_debug *d = j->debug;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(j->b));
    if (d->function != function || d->f != j->f)
        set_scope(j, d, function);
    unsigned line = insn + 1; /* 0: no place */
    LLVMSetCurrentDebugLocation2(
        j->b, LLVMDIBuilderCreateDebugLocation(j->context, line, 0, d->scope, NULL));
}

void jit_debug_finish(struct jit *j)
{
    if (!j->debug)
        return;
    LLVMDIBuilderFinalize(j->debug->builder);
    LLVMDisposeDIBuilder(j->debug->builder);
    j->debug = NULL;
}
