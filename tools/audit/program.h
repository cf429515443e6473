#ifndef PTERA_AUDIT_PROGRAM_H
#define PTERA_AUDIT_PROGRAM_H

/* Where the process is NVIDIA's assembler, whoever started it by whatever path (nvcc, a framework
 * with one in its wheel), it becomes `ptera ptxas` with the same arguments: does not return then.
 * Called before anything of the process runs. */
void audit_program_replace(void);

#endif
