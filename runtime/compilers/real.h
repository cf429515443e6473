/* NVIDIA's library behind one of ours. */
#ifndef PTERA_COMPILERS_REAL_H
#define PTERA_COMPILERS_REAL_H

/* A function of it by name; NULL, told of on standard error the first time, if there is no such
 * library or it has no such function. */
void *pt_real_find(const char *name);

#endif
