/* What `ptera check` and `ptera profile` have in common: a run, whose library writes what it sees
 * to a file, from which a report is made. */
#ifndef PTERA_TOOLS_OBSERVED_H
#define PTERA_TOOLS_OBSERVED_H

/* The file: an empty one of that name, or, if it is NULL, one that is deleted afterwards. NULL,
 * having said for `ptera COMMAND` why. */
const char *observed_open(const char *command, const char *name);
/* Deletes the file if it has no name of its own. */
void observed_close(const char *file, const char *name);
/* Runs a program with Ptera's libraries in place, as child_run does; then finish(options, file,
 * -1) is called, and returns the exit status. */
int observed_run(const char *command, char **argv,
                 int (*finish)(const void *options, const char *file, int status),
                 const void *options, const char *file);
/* Sets a variable of the environment. */
void observed_set_number(const char *name, double n);

#endif
