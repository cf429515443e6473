/* How a library of ours that stands in front of one of NVIDIA's has the dynamic loader open that,
 * under `ptera exec`: by this and its own name. The auditor (tools/audit) knows which file it
 * stands in front of. */
#ifndef PTERA_COMPILERS_BEHIND_H
#define PTERA_COMPILERS_BEHIND_H

#define AUDIT_BEHIND "ptera-behind:"

#endif
