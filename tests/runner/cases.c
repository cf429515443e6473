/* Runs one-file cases: PTX or CUDA files whose comments say what to run and what must come out.
 *
 *   run_cases [--interpreted] [--sample N] [--day D] [--with OPTION | --but OPTION] ROOT DIR
 *             PTERA...
 *
 * Every *.ptx and *.cu under DIR; paths are relative to ROOT. PTERA may have the words of an
 * emulator before it. OPTION is given to every `ptera run`; other commands and files that name it
 * themselves are left out, and with --isolate what asks for native code, as isolated launches are
 * interpreted. --but: only what --with leaves out so. --interpreted: PTERA has no compiler;
 * commands that ask for it are skipped. --sample: of N cases one, others each day; --day D, days
 * since 1970, repeats another day's.
 *
 *   // RUN: ptera run %s -k k -b 4 iota:u32:4@u32    a command (%s: this file; %t: a scratch
 * folder); begins a case
 *   // EXPECT: 0 1 2 3      a line of standard output; all of them, in order. No EXPECT: output is
 * not looked at
 *   // EXPECT-ERR: text     standard error holds this
 *   // EXIT: 1              exit status (default 0)
 *   // SKIP: reason         the file is not run; counted and printed
 *
 * A file without RUN is a diagnostic case: `ptera verify` must print exactly the EXPECT lines
 * `LINE:COL: error: text` (or warning), in order, and exit with 3 if one of them is an error.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CASES = 256, MAX_LINES = 64, MAX_WORDS = 256 };

struct test_case {
    char *command; /* NULL: a diagnostic case */
    char *expect[MAX_LINES], *expect_err[MAX_LINES];
    int n_expect, n_expect_err;
    int exit_status;
    bool has_error; /* an EXPECT line of a diagnostic case is an error */
};

static char **tool; /* what `ptera` stands for: words, then NULL */
static const char *option;
static bool is_interpreted, is_rest;          /* is_rest: of --but */
static unsigned long sample = 1, day, n_seen; /* of `sample` cases the `day`-th is run */
static char scratch[] = "/tmp/ptera-cases-XXXXXX";
static int passed, failed, skipped;

static char *read_stream(FILE *f)
{
    size_t n = 0, cap = 4096;
    char *s = malloc(cap);
    for (size_t got; (got = fread(s + n, 1, cap - n - 1, f)) > 0;) {
        n += got;
        if (n + 1 == cap)
            s = realloc(s, cap *= 2);
    }
    s[n] = 0;
    return s;
}

/* ---- reading cases --------------------------------------------------------------------------- */

static char *after(char *line, const char *key)
{
    char *p = strstr(line, "// ");
    size_t n = strlen(key);
    if (!p || strncmp(p + 3, key, n) || p[3 + n] != ':')
        return NULL;
    p += 4 + n;
    return *p == ' ' ? p + 1 : p;
}

static void too_many(const char *what)
{
    fprintf(stderr, "run_cases: too many %s lines in a file\n", what);
    exit(2);
}

/* Splits the text into lines in place and collects the cases. Returns their number; *skip is the
 * SKIP reason. */
static int read_cases(char *text, struct test_case *cases, int max, char **skip)
{
    int n = 0;
    memset(cases, 0, sizeof *cases);
    *skip = NULL;
    for (char *line = text, *next; line; line = next) {
        char *v;
        if ((next = strchr(line, '\n')))
            *next++ = 0;
        struct test_case *c = &cases[n ? n - 1 : 0];
        if ((v = after(line, "RUN"))) {
            if (n == max)
                too_many("RUN");
            c = &cases[n++];
            memset(c, 0, sizeof *c);
            c->command = v;
        } else if ((v = after(line, "EXPECT"))) {
            if (c->n_expect == MAX_LINES)
                too_many("EXPECT");
            c->expect[c->n_expect++] = v;
            c->has_error |= strstr(v, ": error: ") != NULL;
        } else if ((v = after(line, "EXPECT-ERR"))) {
            if (c->n_expect_err == MAX_LINES)
                too_many("EXPECT-ERR");
            c->expect_err[c->n_expect_err++] = v;
        } else if ((v = after(line, "EXIT"))) {
            c->exit_status = atoi(v);
        } else if ((v = after(line, "SKIP"))) {
            *skip = v;
        }
    }
    return n ? n : cases->n_expect > 0;
}

/* ---- running --------------------------------------------------------------------------------- */

/* True if the command begins with `ptera run`. */
static bool is_run(const char *command)
{
    return command && !strncmp(command, "ptera run ", 10);
}

static bool needs_compiler(const char *command)
{
    return command && (strstr(command, "--engine both") || strstr(command, "--engine jit"));
}

/* OPTION can be given to the command. */
static bool takes_option(const char *command)
{
    bool is_native = command && strstr(command, "--engine jit");
    return is_run(command) && !(is_native && !strcmp(option, "--isolate"));
}

static char *substitute(const char *command, const char *file)
{
    char *out =
        malloc(strlen(command) * 64 + strlen(file) * 16 + (option ? strlen(option) : 0) + 64);
    char *p = out;
    if (option && !is_rest && is_run(command)) {
        p += sprintf(p, "ptera run %s ", option);
        command += 10;
    }
    for (; *command; command++) {
        if (command[0] == '%' && (command[1] == 's' || command[1] == 't'))
            p += sprintf(p, "%s", *++command == 's' ? file : scratch);
        else
            *p++ = *command;
    }
    *p = 0;
    return out;
}

static void split(char *s, char **words)
{
    int n = 0;
    while (*s && n < MAX_WORDS - 1) {
        while (*s == ' ')
            s++;
        char stop = *s == '\'' ? *s++ : ' ';
        if (!*s)
            break;
        words[n++] = s;
        while (*s && *s != stop)
            s++;
        if (*s)
            *s++ = 0;
    }
    words[n] = NULL;
}

static int execute(char **words, FILE *out, FILE *err)
{
    char *all[2 * MAX_WORDS];
    int n = 0;
    if (!strcmp(words[0], "ptera")) {
        for (; tool[n] && n < MAX_WORDS; n++)
            all[n] = tool[n];
        words++;
    }
    while ((all[n++] = *words++))
        ;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        execvp(all[0], all);
        _exit(127);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -1;
    rewind(out);
    rewind(err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The lines of `output` are exactly `expect`. With a prefix, only lines that begin with it count,
 * without it. */
static bool lines_match(char *output, char **expect, int n, const char *prefix)
{
    int i = 0;
    size_t skip = strlen(prefix);
    for (char *line = output, *next; line && *line; line = next) {
        if ((next = strchr(line, '\n')))
            *next++ = 0;
        if (strncmp(line, prefix, skip))
            continue;
        line += skip;
        if (skip && (*line < '0' || *line > '9'))
            continue;
        if (i == n || strcmp(line, expect[i])) {
            printf("  got      %s\n  expected %s\n", line, i < n ? expect[i] : "(nothing)");
            return false;
        }
        i++;
    }
    if (i < n)
        printf("  missing  %s\n", expect[i]);
    return i == n;
}

static bool check_output(const struct test_case *c, const char *file, char *out, char *err)
{
    for (int i = 0; i < c->n_expect_err; i++)
        if (!strstr(err, c->expect_err[i])) {
            printf("  standard error lacks: %s\n  it is: %s\n", c->expect_err[i], err);
            return false;
        }
    if (c->command)
        return !c->n_expect || lines_match(out, (char **)c->expect, c->n_expect, "");
    char *prefix = substitute("%s:", file);
    bool ok = lines_match(err, (char **)c->expect, c->n_expect, prefix);
    free(prefix);
    return ok;
}

static void run_case(const struct test_case *c, const char *file)
{
    char *words[MAX_WORDS];
    char *command = substitute(c->command ? c->command : "ptera verify %s", file);
    char *shown = strdup(command);
    int want = c->command ? c->exit_status : c->has_error ? 3 : 0;
    split(command, words);
    FILE *out = tmpfile(), *err = tmpfile();
    int status = execute(words, out, err);
    char *out_text = read_stream(out), *err_text = read_stream(err);
    bool ok = status == want;
    if (!ok)
        printf("  exit status %d, expected %d\n%s", status, want, err_text);
    ok = ok && check_output(c, file, out_text, err_text);
    if (ok)
        passed++;
    else
        failed++;
    if (!ok)
        printf("FAILED %s: %s\n", file, shown);
    fclose(out);
    fclose(err);
    free(out_text);
    free(err_text);
    free(command);
    free(shown);
}

enum together { UNDECIDED, SAMPLED, LEFT_OUT };

/* Whether the day's sample has the case. Those of a file that leave each other something go
 * together, as its first one does. */
static bool is_sampled(const struct test_case *c, enum together *together)
{
    bool has_files = c->command && strstr(c->command, "%t");
    if (has_files && *together != UNDECIDED)
        return *together == SAMPLED;
    bool is_in = n_seen++ % sample == day % sample;
    if (has_files)
        *together = is_in ? SAMPLED : LEFT_OUT;
    return is_in;
}

static void run_file(const char *file)
{
    static struct test_case cases[MAX_CASES];
    enum together together = UNDECIDED;
    char *skip = NULL;
    FILE *f = fopen(file, "rb");
    if (!f) {
        perror(file);
        failed++;
        return;
    }
    char *text = read_stream(f);
    fclose(f);
    bool leaves_out = option && strstr(text, option);
    int n = leaves_out && !is_rest ? 0 : read_cases(text, cases, MAX_CASES, &skip);
    if (skip) {
        printf("skipped %s: %s\n", file, skip);
        skipped++;
        n = 0;
    }
    for (int i = 0; i < n; i++) {
        if (is_interpreted && needs_compiler(cases[i].command)) {
            printf("skipped %s: it needs the compiler\n", file);
            skipped++;
        } else if (!option || (!leaves_out && takes_option(cases[i].command)) != is_rest) {
            if (is_sampled(&cases[i], &together))
                run_case(&cases[i], file);
        }
    }
    free(text);
}

static bool is_case_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".ptx") || !strcmp(dot, ".cu"));
}

static void run_folder(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                run_folder(path);
            else if (is_case_file(path))
                run_file(path);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* The options before ROOT: the index of the first word after them. */
static int parse_options(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--interpreted")) {
            is_interpreted = true;
            continue;
        }
        if (++i == argc)
            break;
        if (!strcmp(name, "--sample")) {
            sample = strtoul(argv[i], NULL, 10);
        } else if (!strcmp(name, "--day")) {
            day = strtoul(argv[i], NULL, 10);
        } else {
            is_rest = !strcmp(name, "--but");
            option = argv[i];
        }
    }
    return i;
}

int main(int argc, char **argv)
{
    day = (unsigned long)(time(NULL) / 86400);
    int first = parse_options(argc, argv);
    if (argc < first + 3 || sample == 0 || chdir(argv[first]) || !mkdtemp(scratch)) {
        fprintf(stderr, "usage: run_cases [--interpreted] [--sample N] [--day D] "
                        "[--with OPTION | --but OPTION] ROOT DIR PTERA...\n");
        return 2;
    }
    const char *folder = argv[first + 1];
    tool = argv + first + 2;
    run_folder(folder);
    char *remove_scratch[] = {"rm", "-rf", scratch, NULL};
    execute(remove_scratch, stdout, stderr);
    if (sample > 1)
        printf("%s: one case of %lu; the same ones: --sample %lu --day %lu\n", folder, sample,
               sample, day);
    printf("%s: %d passed, %d failed, %d skipped\n", folder, passed, failed, skipped);
    return failed > 0 || passed == 0;
}
