/* Diagnostics: positions in PTX text, the list of findings, and how one is shown. */
#ifndef PTERA_IR_DIAG_H
#define PTERA_IR_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/arena.h"

enum { PT_DIAG_MAX = 20 }; /* errors reported before the reader gives up */

enum pt_severity { PT_SEV_NOTE, PT_SEV_WARNING, PT_SEV_ERROR };

struct pt_diag {
    enum pt_severity severity;
    bool unsupported;    /* valid PTX that Ptera does not implement yet */
    uint32_t line, col;  /* from 1; 0 where there is no position */
    uint32_t len;        /* bytes the caret line underlines, at least 1 */
    const char *message; /* in the arena */
};

/* A part of the text that has a name of its own: one of several modules that are linked. */
struct pt_source {
    const char *name;
    uint32_t lines_before; /* line 1 of the source is line lines_before + 1 of the text */
};

/* Collects the diagnostics of one input. `file` and `text` are borrowed and must outlive the
 * list. */
struct pt_diags {
    struct pt_arena *arena;
    const char *file;
    const char *text;
    size_t text_len;
    uint32_t errors;
    PT_VEC(struct pt_diag) list;
    PT_VEC(struct pt_source) sources; /* in order of their lines; none: the text is `file` */
};

void pt_diags_init(struct pt_diags *diags, struct pt_arena *arena, const char *file,
                   const char *text, size_t text_len);
/* True once PT_DIAG_MAX errors are in: stop reading. */
bool pt_diags_full(const struct pt_diags *diags);

__attribute__((format(printf, 5, 6))) void pt_diag_error(struct pt_diags *diags, uint32_t line,
                                                         uint32_t col, uint32_t len,
                                                         const char *format, ...);
__attribute__((format(printf, 5, 6))) void pt_diag_warning(struct pt_diags *diags, uint32_t line,
                                                           uint32_t col, uint32_t len,
                                                           const char *format, ...);
/* A warning that names a known form Ptera does not implement: the module loads, and only a kernel
 * that may reach the form is refused. Reported once for each form. */
__attribute__((format(printf, 5, 6))) void pt_diag_unsupported(struct pt_diags *diags,
                                                               uint32_t line, uint32_t col,
                                                               uint32_t len, const char *format,
                                                               ...);

/* The source that a line of the text lies in, and its number there. */
const char *pt_diag_place(const struct pt_diags *diags, uint32_t line, uint32_t *line_there);

/* `FILE:LINE:COL: error: message`, the line and a caret, as text in `arena`. */
char *pt_diag_format(const struct pt_diags *diags, const struct pt_diag *diag,
                     struct pt_arena *arena);

#endif
