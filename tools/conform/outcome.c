/* Outcomes of litmus tests. */
#include "tools/conform/outcome.h"

#include <string.h>

bool conform_outcome_is_listed(const char *outcomes, uint32_t values)
{
    bool holds = true;
    for (const char *p = outcomes; *p; p++) {
        if (*p == '|') {
            if (holds)
                return true;
            holds = true;
        } else if (p[1] == '=' || (*p == 'r' && p[2] == '=')) {
            unsigned index =
                *p == 'r' ? (unsigned)p[1] - '0' : OUTCOME_REGISTERS + (unsigned)(*p - 'x');
            const char *value = strchr(p, '=') + 1;
            holds &= outcome_value(values, index) == (unsigned)*value - '0';
            p = value;
        }
    }
    return holds;
}
