/* The environment in which a CUDA program finds Ptera's libraries. */
#ifndef PTERA_TOOLS_EXEC_H
#define PTERA_TOOLS_EXEC_H

#include <stdbool.h>

/* Sets it in this process, for the program at `path`. False (and a message) if Ptera's libraries
 * are not where it is. */
bool set_environment(const char *path);
/* The folder of Ptera's libraries. */
const char *library_folder(void);

#endif
