/* Runs the labelled set: labelled [--native|--all] DIR PTERA... (README.md says what the files
 * hold). With --native: the cases of `mem` alone, in native code. With --all: those in which there
 * is nothing to find, under all checkers. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptera.h"

enum { MAX_FINDS = 16, WORD = 64, MAX_MARKS = 256 };

struct party {
    char line[WORD], thread[WORD], cta[WORD]; /* "-": any */
};

struct finds {
    char kind[WORD];
    struct party parties[2];
    unsigned n_parties;
    char text[256];           /* "": not looked at */
    unsigned long long count; /* 0: likewise */
    bool is_found;
};

/* A finding as the file has it. */
struct found {
    char kind[WORD], text[2048];
    unsigned n_parties;
    struct party parties[2];
    unsigned long long count;
};

static const char *tool;
static bool is_native, is_all;
static char scratch[] = "/tmp/ptera-labelled-XXXXXX";
static unsigned passed, failed;
static struct {
    char name[WORD];
    unsigned line;
} marks[MAX_MARKS];
static unsigned n_marks;

/* ---- the file of findings -------------------------------------------------------------------- */

static void put_place(char *to, const char *value) /* "1 0 0" -> "(1,0,0)" */
{
    unsigned x = 0, y = 0, z = 0;
    if (sscanf(value, "%u %u %u", &x, &y, &z) == 3)
        snprintf(to, WORD, "(%u,%u,%u)", x, y, z);
}

static void take(struct found *f, const char *name, const char *value)
{
    struct party *p = &f->parties[name[0] == '1'];
    const char *member = name[1] == '.' ? name + 2 : "";
    size_t n = strlen(f->text);
    if (!strcmp(name, "kind"))
        snprintf(f->kind, sizeof f->kind, "%s", value);
    else if (!strcmp(name, "count"))
        f->count = strtoull(value, NULL, 10);
    else if (!strcmp(name, "parties"))
        f->n_parties = (unsigned)atoi(value);
    else if (!strcmp(name, "message") || !strcmp(member, "allocation"))
        snprintf(f->text + n, sizeof f->text - n, "%s ", value);
    else if (!strcmp(member, "line"))
        snprintf(p->line, sizeof p->line, "%s", value);
    else if (!strcmp(member, "thread"))
        put_place(p->thread, value);
    else if (!strcmp(member, "cta"))
        put_place(p->cta, value);
}

static unsigned read_found(struct found *found)
{
    char line[8192];
    unsigned n = 0;
    FILE *in = fopen(scratch, "r");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        char *value = strchr(line, ' ');
        if (!strcmp(line, "finding") && n < MAX_FINDS)
            memset(&found[n++], 0, sizeof *found);
        if (!value || !n)
            continue;
        *value = 0;
        take(&found[n - 1], line, value + 1);
    }
    if (in)
        fclose(in);
    return n;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static unsigned line_of(const char *mark)
{
    for (unsigned i = 0; i < n_marks; i++)
        if (!strcmp(marks[i].name, mark))
            return marks[i].line;
    return 0;
}

static bool is_same(const char *want, const char *have)
{
    return !strcmp(want, "-") || !strcmp(want, have);
}

static bool is_party(const struct party *want, const struct party *have)
{
    bool is_line = !strcmp(want->line, "-") || line_of(want->line) == (unsigned)atoi(have->line);
    return is_line && is_same(want->thread, have->thread) && is_same(want->cta, have->cta);
}

static bool is_it(const struct finds *want, const struct found *have)
{
    return !want->is_found && !strcmp(want->kind, have->kind) &&
           want->n_parties == have->n_parties && is_party(&want->parties[0], &have->parties[0]) &&
           (want->n_parties < 2 || is_party(&want->parties[1], &have->parties[1])) &&
           strstr(have->text, want->text) && (!want->count || want->count == have->count);
}

static bool compare(const char *path, const char *command, struct finds *finds, unsigned n_finds)
{
    struct found found[MAX_FINDS];
    unsigned n = read_found(found);
    bool is_good = true;
    for (unsigned i = 0; i < n; i++) {
        bool is_known = false;
        for (unsigned k = 0; k < n_finds && !is_known; k++) {
            is_known = is_it(&finds[k], &found[i]);
            finds[k].is_found |= is_known;
        }
        if (is_known)
            continue;
        is_good = false;
        printf("FAILED %s: CHECK %s: not expected: %s line %s %s %s / line %s %s %s: %s (%llu)\n",
               path, command, found[i].kind, found[i].parties[0].line, found[i].parties[0].thread,
               found[i].parties[0].cta, found[i].parties[1].line, found[i].parties[1].thread,
               found[i].parties[1].cta, found[i].text, found[i].count);
    }
    for (unsigned k = 0; k < n_finds; k++) {
        if (finds[k].is_found)
            continue;
        is_good = false;
        printf("FAILED %s: CHECK %s: not found: %s %s\n", path, command, finds[k].kind,
               finds[k].parties[0].line);
    }
    return is_good;
}

static void run(const char *path, const char *command, struct finds *finds, unsigned n_finds)
{
    char line[4096];
    size_t n = strcspn(command, " ");
    if ((is_native && strncmp(command, "mem ", 4) != 0) || (is_all && n_finds))
        return;
    if (truncate(scratch, 0) != 0)
        perror(scratch);
    snprintf(line, sizeof line, "%s check %.*s --save %s %s %s%s >/dev/null 2>&1", tool,
             is_all ? 3 : (int)n, is_all ? "all" : command, scratch,
             is_native ? "--engine jit" : "", path, command + n);
    int status = system(line);
    bool is_good = compare(path, command, finds, n_finds);
    if (!n_finds && status != 0) {
        printf("FAILED %s: CHECK %s: ends with %d\n", path, command, WEXITSTATUS(status));
        is_good = false;
    }
    *(is_good ? &passed : &failed) += 1;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void read_finds(struct finds *f, const char *text)
{
    struct party *a = &f->parties[0], *b = &f->parties[1];
    memset(f, 0, sizeof *f);
    int n = sscanf(text, "%63s %63s %63s %63s %63s %63s %63s", f->kind, a->line, a->thread, a->cta,
                   b->line, b->thread, b->cta);
    f->n_parties = n == 7 ? 2 : 1;
    if (n != 4 && n != 7) {
        printf("FAILED a FINDS line is not complete: %s\n", text);
        failed++;
    }
}

static void find_marks(FILE *in)
{
    char line[1024];
    n_marks = 0;
    for (unsigned number = 1; fgets(line, sizeof line, in); number++) {
        const char *at = strstr(line, "// @");
        if (at && n_marks < MAX_MARKS && sscanf(at + 3, "%63s", marks[n_marks].name) == 1)
            marks[n_marks++].line = number;
    }
    rewind(in);
}

static void run_file(const char *path)
{
    struct finds finds[MAX_FINDS];
    unsigned n = 0;
    char line[1024], command[1024] = "";
    FILE *in = fopen(path, "r");
    if (!in)
        return;
    find_marks(in);
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "// CHECK: ", 10)) {
            if (*command)
                run(path, command, finds, n);
            n = 0;
            snprintf(command, sizeof command, "%s", line + 10);
        } else if (!strncmp(line, "// FINDS: ", 10) && n < MAX_FINDS) {
            read_finds(&finds[n++], line + 10);
        } else if (!strncmp(line, "// TEXT: ", 9) && n) {
            snprintf(finds[n - 1].text, sizeof finds->text, "%.255s", line + 9);
        } else if (!strncmp(line, "// COUNT: ", 10) && n) {
            finds[n - 1].count = strtoull(line + 10, NULL, 10);
        }
    }
    if (*command)
        run(path, command, finds, n);
    fclose(in);
}

static void run_folder(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        const char *name = entries[i]->d_name, *end = strrchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (*name != '.' && entries[i]->d_type == DT_DIR)
            run_folder(path);
        else if (end && !strcmp(end, ".ptx"))
            run_file(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Every kind of finding has a page. */
static void check_pages(void)
{
    ptera_finding_kind kind = {.size = sizeof kind};
    for (unsigned i = 0; ptera_finding_kind_get(i, &kind) == PTERA_OK; i++) {
        char line[1024];
        snprintf(line, sizeof line, "%s check --explain %s | grep -q '^# %s$'", tool, kind.name,
                 kind.name);
        bool is_good = system(line) == 0;
        if (!is_good)
            printf("FAILED there is no page of %s\n", kind.name);
        *(is_good ? &passed : &failed) += 1;
    }
}

int main(int argc, char **argv)
{
    static char words[4096];
    is_native = argc > 1 && !strcmp(argv[1], "--native");
    is_all = argc > 1 && !strcmp(argv[1], "--all");
    argc -= is_native || is_all;
    argv += is_native || is_all;
    if (argc < 3)
        return 2;
    for (int i = 2; i < argc; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s'%s'", i > 2 ? " " : "",
                 argv[i]);
    tool = words;
    int fd = mkstemp(scratch);
    if (fd < 0)
        return 2;
    close(fd);
    if (!is_native && !is_all)
        check_pages();
    run_folder(argv[1]);
    unlink(scratch);
    printf("labelled: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
