/* What reports in HTML have alike: one page that needs nothing else, dark or light as the reader
 * has it. */
#ifndef PTERA_TOOLS_HTML_H
#define PTERA_TOOLS_HTML_H

#include <stdio.h>

/* To where the text of the page begins, and from where it ends. */
void html_begin(FILE *out, const char *title);
void html_end(FILE *out);
void html_put_text(FILE *out, const char *text);

#endif
