/* Text about a launch that is being written. */
#ifndef PTERA_RUNTIME_WORDS_H
#define PTERA_RUNTIME_WORDS_H

#include "runtime/job.h"

/* Text of PT_ERROR_BYTES that is being written. */
struct pt_words {
    struct pt_job *job;
    char *text;
    size_t n;
};
__attribute__((format(printf, 2, 3))) void pt_words_put(struct pt_words *w, const char *format,
                                                        ...);
/* The line of the source, where that is known: " (k.cu:12)". */
void pt_words_source(struct pt_words *w, const struct pt_insn *insn);
/* Where the source is that an instruction was made of. False: that is not known. */
bool pt_words_find_source(const struct pt_module *ir, const struct pt_insn *insn, const char **file,
                          uint32_t *line);
/* "FILE:LINE", with ":COL" if it is asked for, and the line of the source. */
void pt_words_place(struct pt_words *w, uint32_t func, uint32_t insn, bool has_column);
/* ", CTA (X,Y,Z)" */
void pt_words_cta(struct pt_words *w, const struct pt_cta *cta);
/* A line of the PTX, of *n bytes, without the spaces around it. */
const char *pt_words_line(const ptera_module *module, uint32_t line, size_t *n);
/* NULL: it is not known. */
const struct pt_insn *pt_words_insn(const ptera_module *module, uint32_t func, uint32_t insn);

#endif
