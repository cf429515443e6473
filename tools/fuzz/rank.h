/* Which part of a campaign this process is: one of many that a launcher started. */
#ifndef PTERA_TOOLS_FUZZ_RANK_H
#define PTERA_TOOLS_FUZZ_RANK_H

#include <stdbool.h>

/* As the launcher's variables in the environment say: of Open MPI, of MPICH and others by PMI, of
 * Slurm, whose job arrays count as well. False: there are none, or they contradict themselves. */
bool rank_find(unsigned *rank, unsigned *size);

#endif
