/* Findings in words: the message, who takes part, what they did, where. */
#include "runtime/finding_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/observer.h"
#include "ir/print.h"
#include "runtime/job.h"
#include "runtime/near.h"
#include "runtime/words.h"

const ptera_finding_kind pt_finding_text_kinds[PT_FINDING_KINDS] = {
#define FINDING(tool_, id, name_, summary_) \
    [PT_FINDING_##id] = {.tool = (tool_), .name = (name_), .summary = (summary_)},
#define NOTE(tool_, id, name_, summary_) \
    [PT_FINDING_##id] = {.tool = (tool_), .name = (name_), .summary = (summary_), .is_note = 1},
#include "backend/findings.def"
#undef FINDING
};

/* What texts are made from. */
struct filling {
    struct pt_arena *arena;
    const struct pt_finding *finding;
    const struct pt_finding_source *from;
    struct pt_words words; /* of its job, which may be NULL */
};

static const char *copy(const struct filling *f, const char *text)
{
    return pt_arena_text(f->arena, text, strlen(text));
}

/* Of its kernel; NULL: it has none. */
static const ptera_module *module_of(const struct filling *f, const struct pt_party *p)
{
    const ptera_kernel *kernel = f->from->kernels[p == &f->finding->other];
    return kernel ? kernel->module : NULL;
}

static const struct pt_insn *insn_of(const struct filling *f, const struct pt_party *p)
{
    const ptera_module *module = module_of(f, p);
    return module ? pt_words_insn(module, p->func, p->insn) : NULL;
}

/* ---- parties --------------------------------------------------------------------------------- */

static const char *action_of(const struct pt_party *p)
{
    if (p->use & PT_USE_ATOMIC)
        return "updates";
    return p->use & PT_USE_WRITE ? "writes" : p->use & PT_USE_READ ? "reads" : "";
}

/* "shared address 0x400" */
static const char *what_of(struct filling *f, const struct pt_party *p)
{
    char what[80] = "";
    const struct pt_warp *warp = f->from->warp;
    uint64_t shared = warp ? (uintptr_t)warp->cta->shared : 0;
    if (p->has_register && module_of(f, p))
        pt_print_reg(&module_of(f, p)->ir.funcs.v[p->func], p->reg, what, sizeof what);
    else if (p->has_address && warp && p->address - shared < UINT64_C(1) << 32)
        snprintf(what, sizeof what, "shared address 0x%" PRIx64, p->address - shared);
    else if (p->has_address)
        snprintf(what, sizeof what, "global address 0x%" PRIx64, p->address);
    return copy(f, what);
}

/* Of the source: its line, and where it was inlined. */
static void fill_source(struct filling *f, const struct pt_module *ir, ptera_party *party,
                        uint32_t index)
{
    enum { FRAMES_MAX = 32 };
    struct pt_words *w = &f->words;
    w->n = 0;
    for (unsigned n = 0; index != PT_NONE && index && index < ir->locs.n && n < FRAMES_MAX; n++) {
        const struct pt_loc *loc = &ir->locs.v[index];
        const char *name = loc->file < ir->files.n ? ir->files.v[loc->file].name : NULL;
        name = name ? name : "?";
        if (!n) {
            party->source = copy(f, name);
            party->source_line = loc->line;
        }
        pt_words_put(w, "%s%s:%" PRIu32, n ? "\n" : "", name, loc->line);
        index = loc->inlined_at;
    }
    if (w->n)
        party->frames = copy(f, w->text);
}

static void fill_place(struct filling *f, ptera_party *party, const struct pt_party *p)
{
    const struct pt_insn *insn = p->place ? NULL : insn_of(f, p);
    const ptera_module *module = module_of(f, p);
    party->file = copy(f, p->place ? p->place : module ? module->name : "");
    if (!insn)
        return;
    uint32_t line;
    party->function = copy(f, module->ir.funcs.v[p->func].name);
    party->file = copy(f, pt_diag_place(&module->ir.diags, insn->line, &line));
    party->line = line;
    party->column = insn->col;
    size_t n;
    const char *text = pt_words_line(module, insn->line, &n);
    party->instruction = pt_arena_text(f->arena, text, n);
    fill_source(f, &module->ir, party, insn->loc);
}

static void fill_party(struct filling *f, ptera_party *party, const struct pt_party *p)
{
    party->function = party->file = party->source = party->frames = "";
    party->instruction = party->action = party->what = party->allocation = "";
    if (p->who == PT_PARTY_NONE)
        return;
    party->is_thread = p->who == PT_PARTY_THREAD;
    fill_place(f, party, p);
    memcpy(party->cta, p->cta, sizeof party->cta);
    memcpy(party->thread, p->thread, sizeof party->thread);
    party->is_access = p->use != 0;
    party->action = action_of(p);
    party->what = what_of(f, p);
    party->address = p->has_address ? p->address : 0;
    party->bytes = p->bytes;
    party->has_value = p->has_value;
    party->value = p->value;
    f->words.n = 0;
    bool is_near = p->has_address &&
                   (f->from->warp ? pt_near_put(&f->words, f->from->warp->cta, p->address, "")
                                  : pt_near_put_record(&f->words, f->from->engine, p->address, ""));
    if (is_near)
        party->allocation = copy(f, f->words.text);
}

/* ---- the message ----------------------------------------------------------------------------- */

/* "thread (0,0,0), CTA (0,0,0)" */
static void put_thread(struct pt_words *w, const ptera_party *p)
{
    pt_words_put(w, "thread (%u,%u,%u), CTA (%u,%u,%u)", p->thread[0], p->thread[1], p->thread[2],
                 p->cta[0], p->cta[1], p->cta[2]);
}

static void put_access(struct pt_words *w, const ptera_party *p)
{
    if (!*p->action)
        return;
    pt_words_put(w, ", %s ", p->action);
    if (p->bytes)
        pt_words_put(w, "%" PRIu64 " byte%s at ", p->bytes, p->bytes > 1 ? "s" : "");
    pt_words_put(w, "%s", p->what);
    if (p->has_value)
        pt_words_put(w, " (0x%" PRIx64 ")", p->value);
}

static void put_source(struct pt_words *w, const ptera_party *p)
{
    if (*p->source)
        pt_words_put(w, " (%s:%u)", p->source, p->source_line);
}

/* The other: what it does, and where. */
static void put_other(struct filling *f, const ptera_party *p, const struct pt_party *other)
{
    struct pt_words *w = &f->words;
    const struct pt_insn *insn = other->place ? NULL : insn_of(f, other);
    if (insn)
        pt_words_put(w, ", which %s at %s:%u:%u",
                     pt_insn_form(&module_of(f, other)->ir, insn)->spelling, p->file, p->line,
                     p->column);
    else
        pt_words_put(w, ", which %s", p->file);
    put_source(w, p);
    if (p->is_thread) {
        pt_words_put(w, ", ");
        put_thread(w, p);
    }
    if (*p->action)
        pt_words_put(w, "%s%s", p->is_thread ? ", " : " ", p->action);
    if (p->has_value)
        pt_words_put(w, " (0x%" PRIx64 ")", p->value);
}

static const char *message_of(struct filling *f, const struct pt_found *found,
                              const struct pt_finding *x)
{
    struct pt_words *w = &f->words;
    const ptera_party *by = &found->parties[0];
    w->n = 0;
    pt_words_put(w, "%s: ", found->data.tool);
    if (by->is_thread)
        put_thread(w, by);
    else
        pt_words_put(w, "%s", by->file);
    put_access(w, by);
    put_source(w, by);
    if (found->data.parties > 1)
        put_other(f, &found->parties[1], &x->other);
    if (*found->data.detail)
        pt_words_put(w, "; %s", found->data.detail);
    return copy(f, w->text);
}

/* As a diagnostic of the text; without a place there, the message alone. */
static const char *text_of(const struct filling *f, const struct pt_found *found,
                           const struct pt_party *by)
{
    const struct pt_insn *insn = by->place ? NULL : insn_of(f, by);
    bool is_note = found->data.is_note;
    if (!insn) {
        size_t n = strlen(found->data.message) + sizeof "error: \n";
        char *text = pt_arena_alloc(f->arena, n);
        snprintf(text, n, "%s: %s\n", is_note ? "note" : "error", found->data.message);
        return text;
    }
    struct pt_diag diag = {.severity = is_note ? PT_SEV_NOTE : PT_SEV_ERROR,
                           .line = insn->line,
                           .col = insn->col,
                           .len = 1,
                           .message = found->data.message};
    return pt_diag_format(&module_of(f, by)->ir.diags, &diag, f->arena);
}

void pt_finding_text_fill(struct pt_found *found, const struct pt_finding *x,
                          const struct pt_finding_source *from, struct pt_arena *arena)
{
    char text[PT_ERROR_BYTES] = "";
    struct filling f = {arena, x, from, {from->job, text, 0}};
    const ptera_kernel *kernel = from->kernels[0] ? from->kernels[0] : from->kernels[1];
    const ptera_finding_kind *kind = &pt_finding_text_kinds[x->kind];
    ptera_finding *data = &found->data;
    data->tool = kind->tool;
    data->kind = kind->name;
    data->is_note = kind->is_note;
    data->kernel = kernel ? copy(&f, kernel->module->ir.funcs.v[kernel->func].name) : "";
    data->detail = x->detail ? copy(&f, x->detail) : "";
    data->parties = x->other.who == PT_PARTY_NONE ? 1 : 2;
    fill_party(&f, &found->parties[0], &x->by);
    fill_party(&f, &found->parties[1], &x->other);
    data->message = message_of(&f, found, x);
    data->text = text_of(&f, found, &x->by);
}
