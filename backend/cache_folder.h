/* The folder of what is kept from one process to the next. */
#ifndef PTERA_BACKEND_CACHE_FOLDER_H
#define PTERA_BACKEND_CACHE_FOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

/* The name of a profile: so many hexadecimal digits, and this. */
enum { PT_PROFILE_DIGITS = 32 };
#define PT_PROFILE_SUFFIX ".prof"

/* PTERA_CACHE, else CUDA_CACHE_PATH, else ptera in $XDG_CACHE_HOME or ~/.cache; NULL: there is none
 * (PTERA_CACHE is no absolute path, or CUDA_CACHE_DISABLE is 1), or it is not used: then
 * pt_cache_folder_refusal says which, and why. */
const char *pt_cache_folder_path(void);
const char *pt_cache_folder_refusal(void);
/* The bytes that objects may have in it: CUDA_CACHE_MAXSIZE, `otherwise` where that is not set. */
off_t pt_cache_folder_most(off_t otherwise);

/* The folder, open, or -1 with *why. Each use of it looks anew: it may have become another's. */
int pt_cache_folder_open(const char **why);
/* This user's, and nobody else may write to it. */
bool pt_cache_folder_is_safe(const struct stat *st);

#endif
