/* What stands in the way of a program, as `ptera doctor` tells it. */
#ifndef PTERA_TOOLS_DOCTOR_PROBLEM_H
#define PTERA_TOOLS_DOCTOR_PROBLEM_H

/* Tells, and counts, something that stands in the way. */
__attribute__((format(printf, 1, 2))) void doctor_problem(const char *format, ...);
/* Those told so far. */
unsigned doctor_problem_count(void);

#endif
