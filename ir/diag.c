/* Diagnostics. */
#include "ir/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pt_diags_init(struct pt_diags *diags, struct pt_arena *arena, const char *file,
                   const char *text, size_t text_len)
{
    memset(diags, 0, sizeof *diags);
    diags->arena = arena;
    diags->file = file;
    diags->text = text;
    diags->text_len = text_len;
}

bool pt_diags_full(const struct pt_diags *diags)
{
    return diags->errors >= PT_DIAG_MAX;
}

static char *format_text(struct pt_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *s = pt_arena_alloc(arena, (size_t)(n < 0 ? 0 : n) + 1);
    if (n > 0)
        vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    return s;
}

static void add(struct pt_diags *diags, struct pt_diag diag, const char *format, va_list args)
{
    if (pt_diags_full(diags))
        return;
    diag.message = format_text(diags->arena, format, args);
    if (diag.severity == PT_SEV_ERROR)
        diags->errors++;
    *pt_vec_push(diags->arena, &diags->list) = diag;
}

void pt_diag_error(struct pt_diags *diags, uint32_t line, uint32_t col, uint32_t len,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, (struct pt_diag){PT_SEV_ERROR, false, line, col, len, NULL}, format, args);
    va_end(args);
}

void pt_diag_warning(struct pt_diags *diags, uint32_t line, uint32_t col, uint32_t len,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, (struct pt_diag){PT_SEV_WARNING, false, line, col, len, NULL}, format, args);
    va_end(args);
}

void pt_diag_unsupported(struct pt_diags *diags, uint32_t line, uint32_t col, uint32_t len,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(diags, (struct pt_diag){PT_SEV_WARNING, true, line, col, len, NULL}, format, args);
    va_end(args);
}

/* The text of line `line`, without its end. */
static const char *find_line(const struct pt_diags *diags, uint32_t line, size_t *len)
{
    const char *p = diags->text, *end = diags->text + diags->text_len;
    for (uint32_t l = 1; l < line && p < end; l++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
    }
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    *len = (size_t)((nl ? nl : end) - p);
    if (*len && p[*len - 1] == '\r')
        --*len;
    return p;
}

/* One character for each byte, so that the caret stands right, and nothing a terminal could act
 * on. */
static char *put_bytes(char *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *out++ = (s[i] >= ' ' && s[i] <= '~') || s[i] == '\t' ? s[i] : '?';
    return out;
}

const char *pt_diag_place(const struct pt_diags *diags, uint32_t line, uint32_t *line_there)
{
    const struct pt_source *source = NULL;
    for (uint32_t i = 0; i < diags->sources.n && diags->sources.v[i].lines_before < line; i++)
        source = &diags->sources.v[i];
    *line_there = source ? line - source->lines_before : line;
    return source ? source->name : diags->file;
}

char *pt_diag_format(const struct pt_diags *diags, const struct pt_diag *diag,
                     struct pt_arena *arena)
{
    static const char *const names[] = {"note", "warning", "error"};
    char head[64] = "";
    uint32_t line_there;
    const char *file = pt_diag_place(diags, diag->line, &line_there);
    if (diag->line)
        snprintf(head, sizeof head, "%u:%u: ", line_there, diag->col);
    size_t len = 0, shown = 0;
    const char *line = diag->line ? find_line(diags, diag->line, &len) : NULL;
    if (len > 400)
        len = 400; /* generated PTX has lines of any length */
    size_t caret = diag->col ? diag->col - 1 : 0;
    if (line && caret <= len) {
        shown = diag->len ? diag->len : 1;
        if (shown > len - caret)
            shown = len > caret ? len - caret : 1;
    }
    size_t size = strlen(file) + strlen(head) + strlen(diag->message) + 2 * len + shown + 32;
    char *s = pt_arena_alloc(arena, size);
    char *p = s + snprintf(s, size, "%s:%s%s%s: %s\n", file, diag->line ? "" : " ", head,
                           names[diag->severity], diag->message);
    if (!shown)
        return s;
    p = put_bytes(p, line, len);
    *p++ = '\n';
    for (size_t i = 0; i < caret; i++)
        *p++ = line[i] == '\t' ? '\t' : ' ';
    *p++ = '^';
    for (size_t i = 1; i < shown; i++)
        *p++ = '~';
    *p++ = '\n';
    *p = 0;
    return s;
}
