/* What stands in the way of a program, as `ptera doctor` tells it. */
#include "tools/doctor_problem.h"

#include <stdarg.h>
#include <stdio.h>

static unsigned n_problems;

void doctor_problem(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("  problem: ");
    vprintf(format, args);
    va_end(args);
    n_problems++;
}

unsigned doctor_problem_count(void)
{
    return n_problems;
}
