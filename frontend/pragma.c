/* .pragma (PTX ISA, "Performance-Tuning Directives"): in modules, functions and bodies. */
#include "frontend/pragma.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/cubin.h"

/* Ptera's own, which `ptera ptxas` writes; unknown ones mean nothing (PTX ISA 11.6.1). */
static bool is_fmad_off(const struct pt_token *t)
{
    static const char word[] = "\"" PT_PRAGMA_FMAD_OFF "\"";
    return t->len == sizeof word - 1 && memcmp(t->text, word, t->len) == 0;
}

/* The most registers that kernels without a directive of their own may have; 0: not said. */
static uint32_t read_registers(const struct pt_token *t)
{
    static const char word[] = "\"" PT_PRAGMA_REGISTERS;
    size_t n = sizeof word - 1;
    if (t->len <= n || memcmp(t->text, word, n) != 0)
        return 0;
    unsigned long value = strtoul(t->text + n, NULL, 10); /* the quote ends it */
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

bool pt_pragma_parse(struct pt_parser *p)
{
    static const struct {
        const char *word;
        uint8_t ptx, sm;
    } known[] = {{"enable_smem_spilling", 87, 75},
                 {"used_bytes_mask", 83, 50},
                 {"frequency", 90, 0},
                 {"mma_throughput", 93, 0}};
    struct pt_token at = p->tok;
    pt_token_advance(p);
    if (!pt_token_needs(p, &at, 20, 0, ".pragma"))
        return false;
    do {
        struct pt_token t = p->tok;
        if (t.kind != PT_TOK_STRING)
            return pt_token_unexpected(p, "a string");
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            size_t n = strlen(known[i].word);
            if (t.len >= n + 2 && memcmp(t.text + 1, known[i].word, n) == 0 &&
                !pt_token_needs(p, &t, known[i].ptx, known[i].sm, known[i].word))
                return false;
        }
        p->keeps_products |= is_fmad_off(&t);
        if (read_registers(&t))
            p->registers = read_registers(&t);
        pt_token_advance(p);
    } while (pt_token_accept(p, ','));
    return pt_token_expect(p, ';');
}
