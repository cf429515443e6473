/* Ranks from the environment: no MPI library is needed to know them. */
#include "tools/fuzz/rank.h"

#include <stddef.h>
#include <stdlib.h>

static bool read_number(const char *name, unsigned *n)
{
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    unsigned long value = strtoul(text, &end, 10);
    *n = (unsigned)value;
    return !*end && value < 1u << 24;
}

/* A job array, whose tasks may have processes each. */
static bool find_slurm(unsigned *rank, unsigned *size)
{
    unsigned id = 0, least = 0, step = 1, tasks = 1, process = 0, processes = 1;
    bool is_array = read_number("SLURM_ARRAY_TASK_ID", &id) &&
                    read_number("SLURM_ARRAY_TASK_MIN", &least) &&
                    read_number("SLURM_ARRAY_TASK_COUNT", &tasks);
    bool is_step = read_number("SLURM_PROCID", &process) && read_number("SLURM_NTASKS", &processes);
    if (is_array && read_number("SLURM_ARRAY_TASK_STEP", &step) && !step)
        return false;
    *rank =
        (is_array ? (id - least) / step : 0) * (is_step ? processes : 1) + (is_step ? process : 0);
    *size = (is_array ? tasks : 1) * (is_step ? processes : 1);
    return is_array || is_step;
}

bool rank_find(unsigned *rank, unsigned *size)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"}};
    bool is_found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !is_found; i++)
        is_found = read_number(names[i][0], rank) && read_number(names[i][1], size);
    is_found = is_found || find_slurm(rank, size);
    return is_found && *rank < *size;
}
