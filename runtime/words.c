/* Text about a launch that is being written: places in PTX and in sources, CTAs. */
#include "runtime/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pt_words_put(struct pt_words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = PT_ERROR_BYTES - w->n;
    int n = vsnprintf(w->text + w->n, left, format, args);
    va_end(args);
    if (n > 0)
        w->n += (size_t)n < left ? (size_t)n : left - 1;
}

const struct pt_insn *pt_words_insn(const ptera_module *module, uint32_t func, uint32_t insn)
{
    if (func == PT_NONE || func >= module->ir.funcs.n || insn >= module->ir.funcs.v[func].insns.n)
        return NULL;
    return &module->ir.funcs.v[func].insns.v[insn];
}

const char *pt_words_line(const ptera_module *module, uint32_t number, size_t *n)
{
    const char *p = module->text, *end = p + module->text_len;
    for (uint32_t line = 1; line < number && p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline ? newline + 1 : end;
    }
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    end = newline ? newline : end;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (p < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    *n = (size_t)(end - p);
    return p;
}

static const char *file_name(const struct pt_module *ir, uint32_t file)
{
    return file < ir->files.n && ir->files.v[file].name ? ir->files.v[file].name : "?";
}

bool pt_words_find_source(const struct pt_module *ir, const struct pt_insn *insn, const char **file,
                          uint32_t *line)
{
    if (insn->loc == PT_NONE || insn->loc >= ir->locs.n)
        return false;
    const struct pt_loc *loc = &ir->locs.v[insn->loc];
    *file = file_name(ir, loc->file);
    *line = loc->line;
    return true;
}

void pt_words_source(struct pt_words *w, const struct pt_insn *insn)
{
    const char *file;
    uint32_t line;
    if (pt_words_find_source(&w->job->kernel->module->ir, insn, &file, &line))
        pt_words_put(w, " (%s:%" PRIu32 ")", file, line);
}

void pt_words_place(struct pt_words *w, uint32_t func, uint32_t index, bool has_column)
{
    const ptera_module *module = w->job->kernel->module;
    const struct pt_insn *insn = pt_words_insn(module, func, index);
    if (!insn) {
        pt_words_put(w, "%s", module->name);
        return;
    }
    uint32_t line;
    const char *name = pt_diag_place(&module->ir.diags, insn->line, &line);
    pt_words_put(w, "%s:%" PRIu32, name, line);
    if (has_column)
        pt_words_put(w, ":%u", insn->col);
    pt_words_source(w, insn);
}

void pt_words_cta(struct pt_words *w, const struct pt_cta *cta)
{
    pt_words_put(w, ", CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", cta->id[0], cta->id[1],
                 cta->id[2]);
}
