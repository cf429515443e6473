/* Loading a PTX file and showing its diagnostics, for every command. */
#ifndef PTERA_TOOLS_LOAD_H
#define PTERA_TOOLS_LOAD_H

#include "ptera.h"

/* Creates an engine, or says why not. `options` may be NULL. Returns an exit status. */
int create_engine(const ptera_options *options, ptera_engine **engine);
/* Loads a file. Returns an exit status; *module is set if there are diagnostics to show, which
 * the caller does. */
int load_module(ptera_engine *engine, const char *path, ptera_module **module);
/* The kernel of that name, or the only one if `name` is NULL; otherwise says which there are.
 * Returns an exit status. */
int find_kernel(ptera_module *module, const char *path, const char *name, ptera_kernel **kernel);
/* Prints the diagnostics of a module to standard error: all of them, or those at least as severe
 * as `severity`. */
void show_diagnostics(const ptera_module *module, ptera_severity severity);

#endif
