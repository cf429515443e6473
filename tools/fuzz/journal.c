/* Journals: a rank's own, which it goes on with, and all of a campaign, of which a report is
 * made. */
#include "tools/fuzz/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 400 };

/* What a file says. */
struct account {
    struct campaign campaign;
    unsigned long long next; /* the seed that has to end next */
    unsigned long long begun, ended;
    unsigned long verdicts[VERDICTS];
    long bytes;        /* of whole lines */
    const char *wrong; /* with it; NULL: nothing */
};

struct journal {
    int fd;
    const char *path;
    struct account account;
};

static bool parse_head(const char *line, struct campaign *c)
{
    return sscanf(line, "ptera-fuzz 1 seed %llu count %llu rank %u size %u %199[^\n]", &c->seed,
                  &c->count, &c->rank, &c->size, c->what) == 5 &&
           c->rank < c->size;
}

static bool parse_verdict(const char *text, unsigned *verdict)
{
    for (unsigned v = 0; v < VERDICTS; v++) {
        size_t n = strlen(verdict_text(v));
        *verdict = v;
        if (!strncmp(text, verdict_text(v), n) && (text[n] == ':' || text[n] == '\n'))
            return true;
    }
    return false;
}

/* A line behind the head. `tell`: the verdicts that are failures are printed. */
static void take_line(struct account *a, const char *line, bool tell)
{
    unsigned long long seed;
    unsigned verdict;
    int at = 0;
    if (sscanf(line, "begin %llu", &seed) == 1 && seed == a->next) {
        a->begun++;
    } else if (sscanf(line, "end %llu %n", &seed, &at) == 1 && at && seed == a->next &&
               a->begun > a->ended && parse_verdict(line + at, &verdict)) {
        a->ended++;
        a->next += a->campaign.size;
        a->verdicts[verdict]++;
        if (tell && verdict > VERDICT_INTERPRETED)
            printf("seed %llu: %s", seed, line + at);
    } else {
        a->wrong = "a line that does not follow the one before";
    }
}

/* Lines that end: of the last one only a part may be there. */
static void read_account(FILE *file, struct account *a, bool tell)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    memset(a, 0, sizeof *a);
    while (!a->wrong && (n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
        if (a->bytes)
            take_line(a, line, tell);
        else if (parse_head(line, &a->campaign))
            a->next = a->campaign.seed + a->campaign.rank;
        else
            a->wrong = "no journal of ptera fuzz";
        a->bytes += n;
    }
    free(line);
}

/* ---- one that is written --------------------------------------------------------------------- */

static bool put(struct journal *j, const char *line)
{
    size_t n = strlen(line);
    ssize_t written = write(j->fd, line, n);
    if (written == (ssize_t)n)
        return true;
    fprintf(stderr, "ptera fuzz: %s: %s\n", j->path,
            written < 0 ? strerror(errno) : "no room for a whole line");
    return false;
}

/* A lock that ends with this process, whoever else has the file open. */
static bool lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &whole) == 0;
}

/* Reads what is there, and cuts off a line that a killed run has not finished. */
static bool resume(struct journal *j, const struct campaign *c)
{
    struct account *a = &j->account;
    char head[HEAD];
    int copy = dup(j->fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (!file) {
        perror(j->path);
        return false;
    }
    read_account(file, a, false);
    rewind(file);
    bool is_cut = ftruncate(j->fd, a->bytes) == 0;
    fclose(file);
    /* closing any descriptor of a file gives up the lock */
    if (!is_cut || !lock(j->fd)) {
        perror(j->path);
        return false;
    }
    if (a->wrong || (a->bytes && memcmp(&a->campaign, c, sizeof *c) != 0)) {
        fprintf(stderr, "ptera fuzz: %s: %s\n", j->path,
                a->wrong ? a->wrong : "the journal of another campaign");
        return false;
    }
    if (a->bytes)
        return true;
    a->campaign = *c;
    a->next = c->seed + c->rank;
    snprintf(head, sizeof head, "ptera-fuzz 1 seed %llu count %llu rank %u size %u %s\n", c->seed,
             c->count, c->rank, c->size, c->what);
    return put(j, head);
}

struct journal *journal_open(const char *path, const struct campaign *campaign,
                             unsigned long ended[VERDICTS])
{
    struct journal *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->path = path;
    j->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (j->fd < 0)
        perror(path);
    else if (!lock(j->fd))
        fprintf(stderr, "ptera fuzz: %s: another process writes it\n", path);
    else if (resume(j, campaign)) {
        memcpy(ended, j->account.verdicts, sizeof j->account.verdicts);
        return j;
    }
    journal_close(j);
    return NULL;
}

unsigned long long journal_next(const struct journal *j)
{
    return j->account.next;
}

bool journal_begin(struct journal *j, unsigned long long seed)
{
    char line[40];
    snprintf(line, sizeof line, "begin %llu\n", seed);
    return put(j, line);
}

bool journal_end(struct journal *j, unsigned long long seed, const struct trial *trial)
{
    char line[TRIAL_TEXT + 80];
    int n = snprintf(line, sizeof line - 1, "end %llu %s%s%s", seed, verdict_text(trial->verdict),
                     *trial->text ? ": " : "", trial->text);
    for (char *at = line; (at = strchr(at, '\n'));)
        *at = ' ';
    line[n] = '\n';
    line[n + 1] = 0;
    return put(j, line);
}

void journal_close(struct journal *j)
{
    if (j && j->fd >= 0)
        close(j->fd);
    free(j);
}

/* ---- all of a campaign ----------------------------------------------------------------------- */

char *journal_path(const char *path, const struct campaign *c)
{
    size_t bytes = strlen(path) + 16;
    char *name = malloc(bytes);
    if (name && c->size > 1)
        snprintf(name, bytes, "%s.%u", path, c->rank);
    else if (name)
        snprintf(name, bytes, "%s", path);
    return name;
}

static bool read_file_account(const char *path, struct account *a, bool tell)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    read_account(file, a, tell);
    fclose(file);
    return true;
}

/* How many kernels the rank has to run. */
static unsigned long long share_of(const struct campaign *c)
{
    return c->count > c->rank ? (c->count - c->rank - 1) / c->size + 1 : 0;
}

static bool is_same_campaign(const struct campaign *a, const struct campaign *b)
{
    return a->seed == b->seed && a->count == b->count && a->size == b->size &&
           !strcmp(a->what, b->what);
}

/* Adds the journal to the sum. False, having said why. */
static bool add_account(struct account *sum, const char *path, bool *ranks, bool is_first)
{
    struct account a;
    if (!read_file_account(path, &a, true)) {
        perror(path);
        return false;
    }
    if (is_first)
        sum->campaign = a.campaign;
    bool is_of_it = is_same_campaign(&sum->campaign, &a.campaign) && !ranks[a.campaign.rank];
    if (a.wrong || !a.bytes || !is_of_it) {
        const char *wrong = !a.bytes && !a.wrong ? "it is empty" : a.wrong;
        fprintf(stderr, "ptera fuzz: %s: %s\n", path,
                wrong ? wrong : "the journal of another campaign, or of a rank twice");
        return false;
    }
    ranks[a.campaign.rank] = true;
    sum->begun += a.begun;
    sum->ended += a.ended;
    for (unsigned v = 0; v < VERDICTS; v++)
        sum->verdicts[v] += a.verdicts[v];
    printf("rank %u of %u: %llu of %llu kernels, %llu begun again\n", a.campaign.rank,
           a.campaign.size, a.ended, share_of(&a.campaign), a.begun - a.ended);
    return true;
}

bool journal_report(char **paths, unsigned n)
{
    struct account first, sum = {0};
    if (!n || !read_file_account(paths[0], &first, false)) {
        fprintf(stderr, "ptera fuzz: %s\n", n ? strerror(errno) : "--report takes journals");
        return false;
    }
    bool *ranks = calloc((size_t)first.campaign.size + 1, sizeof *ranks), ok = ranks;
    for (unsigned i = 0; ok && i < n; i++)
        ok = add_account(&sum, paths[i], ranks, !i);
    free(ranks);
    if (!ok)
        return false;
    unsigned long failed = 0;
    for (unsigned v = VERDICT_INTERPRETED + 1; v < VERDICTS; v++)
        failed += sum.verdicts[v];
    printf("campaign: %llu of %llu kernels from seed %llu on, %s\n", sum.ended, sum.campaign.count,
           sum.campaign.seed, sum.campaign.what);
    printf("fuzz: %lu passed, %lu failed, %lu skipped\n", sum.verdicts[VERDICT_GOOD], failed,
           sum.verdicts[VERDICT_UNSUPPORTED] + sum.verdicts[VERDICT_INTERPRETED]);
    return !failed;
}

bool journal_report_last(const char *path, const struct campaign *campaign)
{
    char **paths = calloc(campaign->size, sizeof *paths);
    bool ok = true;
    bool have_ended = paths;
    for (unsigned i = 0; have_ended && i < campaign->size; i++) {
        struct campaign rank = *campaign;
        struct account a;
        rank.rank = i;
        paths[i] = journal_path(path, &rank);
        have_ended = paths[i] && read_file_account(paths[i], &a, false) && !a.wrong &&
                     a.ended == share_of(&rank);
    }
    if (have_ended)
        ok = journal_report(paths, campaign->size);
    for (unsigned i = 0; paths && i < campaign->size; i++)
        free(paths[i]);
    free(paths);
    return ok;
}
