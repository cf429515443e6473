/* The options of `compare`. */
#define _GNU_SOURCE
#include "tests/bench/plan.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    bool has_levels; /* built for each CPU level */
} peers[] = {{"openmp-gcc", true}, {"openmp-clang", true}, {"pocl", false}, {"ispc", false}};

enum { N_PEERS = sizeof peers / sizeof *peers };

static const char *const levels[] = {LEVELS, NULL};

static const char usage[] =
    "usage: compare [options]      runs the kernels of tests/bench/kernels by Ptera and by others\n"
    "      --set SET          first, second, textures, all: a set of cases; default: first\n"
    "  -k, --kernels LIST     cases of any set, by name (--list); default: all of the set\n"
    "  -e, --engine LIST      engines of Ptera: interp, jit, jit-fast (--math fast), auto; "
    "default: interp,jit; none;\n"
    "                         check-mem and its like: interpreted under a checker; profile: and "
    "counted;\n"
    "                         coverage: natively, counting what runs\n"
    "  -p, --peers LIST       openmp-gcc, openmp-clang, pocl, ispc; default: all that are "
    "installed; none\n"
    "  -c, --cpu LEVEL        v2, v3, v4: a CPU level, of Ptera and of the OpenMP twins; "
    "default: all "
    "that the machine has\n"
    "  -t, --threads LIST     numbers of threads; default: 1 and one for each core\n"
    "  -n, --rounds N         rounds of which the median is taken; default 7\n"
    "      --seconds S        a case's rounds end after S seconds, but three are done; default 20\n"
    "      --full             sizes that fit no cache; default: small ones, for a quick run\n"
    "      --size N           one size for all selected cases\n"
    "      --first            instead: time to the first result, with an empty cache and from the "
    "cache\n"
    "      --check            instead: only compares results\n"
    "      --once             instead: runs each case twice in this process, by Ptera; under "
    "callgrind it is the\n"
    "                         second run that is counted (callgrind.sh)\n"
    "      --tsv FILE         also writes each variant's figures to FILE\n"
    "      --list             prints the cases and their sizes\n";

static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p; p = strchr(p, ','), p += p != NULL)
        if (!strncmp(p, name, n) && (p[n] == ',' || p[n] == 0))
            return true;
    return false;
}

static bool fail_usage(const char *what, const char *value)
{
    fprintf(stderr, "compare: %s '%s'\n%s", what, value, usage);
    return false;
}

/* Every name of a list is a known one, so that a misspelt one is not silently left out. */
static bool check_list(const char *list, bool (*is_known)(const char *name), const char *what)
{
    char *copy = strdup(list ? list : ""), *rest = copy;
    for (char *name; (name = strsep(&rest, ","));)
        if (*name && !is_known(name))
            return fail_usage(what, name);
    free(copy);
    return true;
}

static bool is_case(const char *name)
{
    for (int i = 0; bench_kind(i); i++)
        if (!strcmp(bench_kind(i)->name, name))
            return true;
    return false;
}

static bool is_set(const char *name)
{
    return !strcmp(name, "first") || !strcmp(name, "second") || !strcmp(name, "textures") ||
           !strcmp(name, "all");
}

static bool is_peer(const char *name)
{
    for (int i = 0; i < N_PEERS; i++)
        if (!strcmp(peers[i].name, name))
            return true;
    return !strcmp(name, "none");
}

static bool is_engine(const char *name)
{
    for (int i = 0; ptera_engines[i]; i++)
        if (!strcmp(ptera_engines[i], name))
            return true;
    return !strcmp(name, "none");
}

static bool is_level(const char *name)
{
    for (int i = 0; levels[i]; i++)
        if (!strcmp(levels[i], name))
            return true;
    return false;
}

static bool is_count(const char *name)
{
    return atoi(name) > 0 && atoi(name) <= 1024;
}

static bool is_of_set(const struct plan *p, const struct bench_kind *kind)
{
    return !p->set || !strcmp(bench_set_of(kind), p->set);
}

static bool is_chosen(const struct plan *p, const struct bench_kind *kind)
{
    return p->cases ? is_listed(p->cases, kind->name) : is_of_set(p, kind);
}

static void list_cases(const struct plan *p)
{
    printf("case          full size  quick size\n");
    for (int i = 0; bench_kind(i); i++)
        if (bench_kind(i)->is_limit || is_of_set(p, bench_kind(i)))
            printf("%-12s %10u  %10u  %s\n", bench_kind(i)->name, bench_kind(i)->full,
                   bench_kind(i)->quick,
                   bench_kind(i)->is_limit ? "a limit of the machine"
                                           : bench_group_of(bench_kind(i)));
}

static void add_variant(struct plan *p, const char *name, const char *object, const char *engine,
                        unsigned threads)
{
    if (p->n_variants == MAX_VARIANTS)
        return;
    struct variant *v = &p->variant[p->n_variants++];
    *v = (struct variant){.object = object, .engine = engine, .threads = threads};
    snprintf(v->name, sizeof v->name, "%s", name);
}

/* The peer's shared object; lives as long as the plan. */
static const char *object_of(const struct plan *p, int peer)
{
    char *path;
    bool has_level = p->level && peers[peer].has_levels;
    if (asprintf(&path, PEERS "/%s%s%s.so", peers[peer].name, has_level ? "-" : "",
                 has_level ? p->level : "") < 0)
        abort();
    return path;
}

/* Thread counts within engines and peers, Ptera first. */
static void make_variants(struct plan *p)
{
    unsigned threads[8], n_threads = 0;
    char *copy = strdup(p->threads), *rest = copy;
    for (char *t; (t = strsep(&rest, ",")) && n_threads < 8;)
        if (*t && (n_threads == 0 || threads[n_threads - 1] != (unsigned)atoi(t)))
            threads[n_threads++] = (unsigned)atoi(t);
    free(copy);
    for (int e = 0; ptera_engines[e]; e++)
        for (unsigned t = 0; t < n_threads && is_listed(p->engines, ptera_engines[e]); t++)
            add_variant(p, ptera_engines[e], NULL, ptera_engines[e], threads[t]);
    p->n_ptera = p->n_variants;
    for (int i = 0; i < N_PEERS; i++) {
        if (p->peers && !is_listed(p->peers, peers[i].name))
            continue;
        const char *object = object_of(p, i);
        if (access(object, R_OK)) {
            printf("%s is left out: its tools are not installed (./dev bench --peers installs what "
                   "Debian has)\n",
                   peers[i].name);
            continue;
        }
        for (unsigned t = 0; t < n_threads; t++)
            add_variant(p, peers[i].name, object, NULL, threads[t]);
    }
}

enum {
    OPT_SECONDS = 256,
    OPT_FULL,
    OPT_SIZE,
    OPT_FIRST,
    OPT_CHECK,
    OPT_ONCE,
    OPT_TSV,
    OPT_SET,
    OPT_LIST,
    OPT_HELP
};

static bool read_option(struct plan *p, int option, const char *value)
{
    switch (option) {
    case 'k':
        p->cases = value;
        return check_list(value, is_case, "no case");
    case 'e':
        p->engines = value;
        return check_list(value, is_engine, "no engine");
    case 'p':
        p->peers = value;
        return check_list(value, is_peer, "no peer");
    case 'c':
        p->level = value;
        setenv("PTERA_CPU", value, true);
        return is_level(value) ? true : fail_usage("no CPU level", value);
    case 't':
        p->threads = value;
        return check_list(value, is_count, "not a number of threads:");
    case 'n':
        p->rounds = atoi(value);
        return p->rounds > 0 && p->rounds <= MAX_ROUNDS
                   ? true
                   : fail_usage("not a number of rounds:", value);
    case OPT_SECONDS:
        p->seconds = atof(value);
        return true;
    case OPT_FULL:
        return p->is_full = true;
    case OPT_SIZE:
        p->size = (unsigned)strtoul(value, NULL, 0);
        return p->size ? true : fail_usage("not a size:", value);
    case OPT_FIRST:
        return p->first_results = true;
    case OPT_CHECK:
        return p->check_only = true;
    case OPT_ONCE:
        return p->once = true;
    case OPT_TSV:
        p->tsv = fopen(value, "w");
        return p->tsv ? true : fail_usage("cannot write", value);
    case OPT_SET:
        p->set = strcmp(value, "all") ? value : NULL;
        return is_set(value) ? true : fail_usage("no set", value);
    case OPT_LIST:
        return p->list = true;
    case OPT_HELP:
        fputs(usage, stdout);
        exit(0);
    default:
        fputs(usage, stderr);
        return false;
    }
}

bool plan_read(struct plan *p, int argc, char **argv)
{
    static const struct option options[] = {{"kernels", 1, NULL, 'k'},
                                            {"engine", 1, NULL, 'e'},
                                            {"peers", 1, NULL, 'p'},
                                            {"cpu", 1, NULL, 'c'},
                                            {"threads", 1, NULL, 't'},
                                            {"rounds", 1, NULL, 'n'},
                                            {"seconds", 1, NULL, OPT_SECONDS},
                                            {"full", 0, NULL, OPT_FULL},
                                            {"size", 1, NULL, OPT_SIZE},
                                            {"first", 0, NULL, OPT_FIRST},
                                            {"check", 0, NULL, OPT_CHECK},
                                            {"once", 0, NULL, OPT_ONCE},
                                            {"tsv", 1, NULL, OPT_TSV},
                                            {"set", 1, NULL, OPT_SET},
                                            {"list", 0, NULL, OPT_LIST},
                                            {"help", 0, NULL, OPT_HELP},
                                            {0}};
    static char cores[32];
    snprintf(cores, sizeof cores, "1,%ld", sysconf(_SC_NPROCESSORS_ONLN));
    *p = (struct plan){.kernels = KERNELS,
                       .set = "first",
                       .engines = "interp,jit",
                       .threads = cores,
                       .rounds = 7,
                       .seconds = 20};
    for (int option; (option = getopt_long(argc, argv, "k:e:p:c:t:n:", options, NULL)) != -1;)
        if (!read_option(p, option, optarg))
            return false;
    if (optind < argc)
        return fail_usage("unexpected argument", argv[optind]);
    if (p->list) {
        list_cases(p);
        exit(0);
    }
    make_variants(p);
    return true;
}

/* Limits are measured with the cases they limit, and alone if asked for; bandwidth only with full
 * sizes, as small ones stay in the caches. */
bool plan_has_case(const struct plan *p, const struct bench_kind *kind)
{
    if (kind->is_limit && kind->limit != LIMIT_FMA && !p->is_full)
        return false;
    if (is_chosen(p, kind))
        return true;
    for (int i = 0; kind->is_limit && bench_kind(i); i++)
        if (bench_kind(i)->limit == kind->limit && is_chosen(p, bench_kind(i)))
            return true;
    return false;
}

unsigned plan_size(const struct plan *p, const struct bench_kind *kind)
{
    if (p->size && !kind->is_limit)
        return p->size;
    return p->is_full ? kind->full : kind->quick;
}

const struct variant *plan_reference(void)
{
    static const struct variant reference = {
        .name = "openmp-gcc", .object = PEERS "/openmp-gcc.so", .threads = 1};
    return &reference;
}

bool plan_is_column(const struct plan *p, int v)
{
    return v >= p->n_ptera && p->variant[v].threads == p->variant[p->n_ptera].threads;
}
