/* Files of docs/findings and tools/html, which the build puts into the program. */
#ifndef PTERA_TOOLS_PAGES_H
#define PTERA_TOOLS_PAGES_H

/* The text, by its folder and its name without its ending. NULL: there is none. */
const char *page_find(const char *folder, const char *name);

#endif
