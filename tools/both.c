/* The interpreter's outcome of a launch, and the comparison with the compiler's. */
#include "tools/both.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void text_add(void *ud, const char *bytes, size_t n)
{
    struct text *text = ud;
    if (n > text->cap - text->n) {
        size_t cap = (text->n + n) * 2;
        char *more = realloc(text->bytes, cap);
        if (!more) {
            fputs("ptera: no memory to keep what the kernel made\n", stderr);
            exit(1);
        }
        text->bytes = more;
        text->cap = cap;
    }
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
}

static bool text_equal(const struct text *a, const struct text *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->bytes, b->bytes, a->n));
}

/* ---- what a launch can change ---------------------------------------------------------------- */

struct place {
    const char *kind, *name;
    uint8_t *address;
    size_t bytes;
};

/* Place `index` of all that a launch can change, buffers first. */
static bool find_place(const struct subject *s, unsigned index, struct place *place)
{
    for (unsigned i = 0; i < s->n_args; i++) {
        if (!s->args[i].is_buffer || index-- > 0)
            continue;
        *place = (struct place){"buffer", s->args[i].text, s->args[i].data, s->args[i].bytes};
        return true;
    }
    void *address;
    place->kind = "variable";
    if (ptera_module_variable_at(s->module, index, &place->name, &address, &place->bytes) !=
        PTERA_OK)
        return false;
    place->address = address;
    return true;
}

/* ---- the other process ----------------------------------------------------------------------- */

static bool put(FILE *file, const void *bytes, size_t n)
{
    return fwrite(&n, sizeof n, 1, file) == 1 && (!n || fwrite(bytes, 1, n, file) == n);
}

static bool put_contents(FILE *file, const struct subject *s)
{
    struct place p;
    struct text all = {0};
    for (unsigned i = 0; find_place(s, i, &p); i++)
        text_add(&all, (const char *)p.address, p.bytes);
    bool ok = put(file, all.bytes, all.n);
    free(all.bytes);
    return ok;
}

static bool get(FILE *file, struct text *text)
{
    size_t n;
    if (fread(&n, sizeof n, 1, file) != 1 || !(text->bytes = malloc(n + 1)))
        return false;
    text->n = text->cap = fread(text->bytes, 1, n, file);
    text->bytes[text->n] = 0;
    return text->n == n;
}

static int interpret(FILE *file, const struct subject *s)
{
    ptera_launch launch = *s->launch;
    launch.backend = PTERA_BACKEND_INTERP;
    ptera_result result = ptera_kernel_launch(s->kernel, &launch);
    const char *error = ptera_engine_error(s->engine);
    bool ok = fwrite(&result, sizeof result, 1, file) == 1 && put(file, error, strlen(error)) &&
              put(file, s->text->bytes, s->text->n) && put_contents(file, s) && fflush(file) == 0;
    return ok ? 0 : 1;
}

static bool wait_for(pid_t child)
{
    int status;
    if (child < 0) {
        perror("ptera: the interpreter's process");
        return false;
    }
    while (waitpid(child, &status, 0) < 0)
        continue;
    if (WIFSIGNALED(status))
        fprintf(stderr, "ptera: the interpreter's process ended by signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fputs("ptera: the interpreter's process could not hand over its results\n", stderr);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool outcome_interpret(struct outcome *outcome, const struct subject *s)
{
    memset(outcome, 0, sizeof *outcome);
    FILE *file = tmpfile();
    if (!file) {
        perror("ptera: a temporary file");
        return false;
    }
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0)
        _exit(interpret(file, s));
    bool ok = wait_for(child);
    if (ok) {
        rewind(file);
        ok = fread(&outcome->result, sizeof outcome->result, 1, file) == 1 &&
             get(file, &outcome->error) && get(file, &outcome->printed) &&
             get(file, &outcome->contents);
        if (!ok)
            fputs("ptera: the interpreter's results cannot be read\n", stderr);
    }
    fclose(file);
    return ok;
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->error.bytes);
    free(outcome->printed.bytes);
    free(outcome->contents.bytes);
}

/* ---- the comparison -------------------------------------------------------------------------- */

/* The aligned 8 bytes around the first byte that differs. */
static void tell(const struct place *p, const uint8_t *interpreted)
{
    size_t at = 0;
    while (p->address[at] == interpreted[at])
        at++;
    uint64_t one = 0, other = 0;
    size_t word = at & ~(size_t)7, n = p->bytes - word < 8 ? p->bytes - word : 8;
    memcpy(&one, interpreted + word, n);
    memcpy(&other, p->address + word, n);
    fprintf(stderr,
            "ptera: the engines differ in %s '%s' at byte %zu: bytes %zu to %zu are 0x%0*" PRIx64
            " interpreted, 0x%0*" PRIx64 " compiled\n",
            p->kind, p->name, at, word, word + n - 1, (int)n * 2, one, (int)n * 2, other);
}

static bool contents_agree(const struct outcome *interpreted, const struct subject *s)
{
    struct place p;
    const uint8_t *from = (const uint8_t *)interpreted->contents.bytes;
    for (unsigned i = 0; find_place(s, i, &p); from += p.bytes, i++) {
        if (!memcmp(p.address, from, p.bytes))
            continue;
        tell(&p, from);
        return false;
    }
    return true;
}

bool outcome_agrees(const struct outcome *interpreted, const struct subject *s, ptera_result result)
{
    if (result != interpreted->result) {
        fprintf(stderr, "ptera: the engines differ: %s interpreted, %s compiled\n",
                ptera_result_text(interpreted->result), ptera_result_text(result));
        return false;
    }
    if (!text_equal(s->text, &interpreted->printed)) {
        fputs("ptera: the engines differ in what the kernel prints\n", stderr);
        return false;
    }
    return result != PTERA_OK || contents_agree(interpreted, s);
}
