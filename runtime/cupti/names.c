/* Names: of calls, which CUPTI gives numbers, and of kernels, which records point to. */
#include "runtime/cupti/names.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* ---- calls ----------------------------------------------------------------------------------- */

struct call {
    const char *symbol; /* NULL: there is no call of the number */
    const char *name;   /* as CUPTI has it */
};

#define GONE {NULL, NULL},
static const struct call driver_calls[] = {GONE
#define CALL(symbol) {#symbol, #symbol},
#include "runtime/cupti/driver.def"
#undef CALL
};

#if PT_CUPTI_MAJOR >= 13
#define LATER(before, symbol, version) CALL(symbol, version)
#else
#define LATER(before, symbol, version) CALL(before, version)
#endif
static const struct call runtime_calls[] = {GONE
#define CALL(symbol, version) {#symbol, #symbol "_v" #version},
#include "runtime/cupti/runtime.def"
#undef CALL
};
#undef GONE

enum {
    N_DRIVER = sizeof driver_calls / sizeof *driver_calls,
    N_RUNTIME = sizeof runtime_calls / sizeof *runtime_calls
};

/* In the order of symbols; of one that has several numbers, the last one is the first. */
static const struct call *by_symbol[N_DRIVER + N_RUNTIME];
static size_t n_by_symbol;

static int compare(const void *a, const void *b)
{
    const struct call *x = *(const struct call *const *)a, *y = *(const struct call *const *)b;
    int order = strcmp(x->symbol, y->symbol);
    return order ? order : (x < y) - (x > y);
}

static void sort(void)
{
    for (size_t i = 0; i < N_DRIVER; i++)
        if (driver_calls[i].symbol)
            by_symbol[n_by_symbol++] = &driver_calls[i];
    for (size_t i = 0; i < N_RUNTIME; i++)
        if (runtime_calls[i].symbol)
            by_symbol[n_by_symbol++] = &runtime_calls[i];
    qsort(by_symbol, n_by_symbol, sizeof *by_symbol, compare);
}

uint32_t pt_cupti_names_number(enum pt_cu_api api, const char *symbol)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, sort);
    size_t low = 0, high = n_by_symbol; /* the first that is not before it */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(by_symbol[middle]->symbol, symbol) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n_by_symbol || strcmp(by_symbol[low]->symbol, symbol) != 0)
        return 0;
    const struct call *first = api == PT_CU_API_DRIVER ? driver_calls : runtime_calls;
    size_t n = api == PT_CU_API_DRIVER ? N_DRIVER : N_RUNTIME;
    return by_symbol[low] >= first && by_symbol[low] < first + n
               ? (uint32_t)(by_symbol[low] - first)
               : 0;
}

uint32_t pt_cupti_names_end(CUpti_CallbackDomain domain)
{
    switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
        return N_DRIVER;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
        return N_RUNTIME;
    case CUPTI_CB_DOMAIN_RESOURCE:
        return CUPTI_CBID_RESOURCE_SIZE;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
        return CUPTI_CBID_SYNCHRONIZE_SIZE;
    case CUPTI_CB_DOMAIN_NVTX:
        return CUPTI_CBID_NVTX_SIZE;
    case CUPTI_CB_DOMAIN_STATE:
        return CUPTI_CBID_STATE_SIZE;
    case CUPTI_CB_DOMAIN_SIZE:
        break;
    }
    return 0;
}

const char *pt_cupti_names_callback(CUpti_CallbackDomain domain, uint32_t number)
{
    static const char none[] = "INVALID";
    if (number >= pt_cupti_names_end(domain))
        return NULL;
    const struct call *call = domain == CUPTI_CB_DOMAIN_DRIVER_API    ? &driver_calls[number]
                              : domain == CUPTI_CB_DOMAIN_RUNTIME_API ? &runtime_calls[number]
                                                                      : NULL;
    return call && call->name ? call->name : call && !number ? none : NULL;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *texts;

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *pt_cupti_names_keep(const char *text)
{
    pthread_mutex_lock(&lock);
    char **found = tfind(text, &texts, compare_texts);
    if (!found) {
        char *copy = strdup(text);
        found = copy ? tsearch(copy, &texts, compare_texts) : NULL;
        if (!found)
            free(copy);
    }
    pthread_mutex_unlock(&lock);
    return found ? *found : NULL;
}
