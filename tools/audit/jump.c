#include "tools/audit/jump.h"

#include <elf.h>
#include <string.h>

static size_t put_words(unsigned char *code, const uint32_t *words, size_t n)
{
    memcpy(code, words, n * sizeof *words); /* both machines are little-endian */
    return n * sizeof *words;
}

size_t audit_jump_return(unsigned machine, unsigned char *code)
{
    if (machine == EM_AARCH64)
        return put_words(code, (uint32_t[]){0xd65f03c0}, 1); /* ret */
    code[0] = 0xc3;                                          /* ret */
    return 1;
}

size_t audit_jump_far(unsigned machine, unsigned char *code, uint64_t target)
{
    if (machine == EM_AARCH64) { /* x16 is free between a call and a function: AAPCS64, 6.1.1 */
        put_words(code, (uint32_t[]){0x58000050, 0xd61f0200}, 2); /* ldr x16, .+8; br x16 */
        memcpy(code + 8, &target, 8);
        return 16;
    }
    memcpy(code, (unsigned char[]){0xff, 0x25, 0, 0, 0, 0}, 6); /* jmp *0(%rip) */
    memcpy(code + 6, &target, 8);
    return 14;
}

size_t audit_jump_with(unsigned machine, unsigned char *code, uint64_t argument, uint64_t target)
{
    if (machine == EM_AARCH64) { /* ldr x0, .+16; ldr x16, .+20; br x16; nop */
        put_words(code, (uint32_t[]){0x58000080, 0x580000b0, 0xd61f0200, 0xd503201f}, 4);
        memcpy(code + 16, &argument, 8);
        memcpy(code + 24, &target, 8);
        return 32;
    }
    memcpy(code, (unsigned char[]){0x48, 0xbf}, 2); /* movabs $argument, %rdi */
    memcpy(code + 2, &argument, 8);
    return 10 + audit_jump_far(machine, code + 10, target);
}

size_t audit_jump_near(unsigned machine, unsigned char *code, uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);
    if (machine == EM_AARCH64) {
        if (distance % 4 || distance < -(1 << 27) || distance >= 1 << 27)
            return 0;
        uint32_t b = 0x14000000 | ((uint32_t)(distance / 4) & 0x3ffffff); /* b to */
        return put_words(code, &b, 1);
    }
    int32_t relative = (int32_t)(distance - 5);
    if (relative != distance - 5)
        return 0;
    code[0] = 0xe9; /* jmp to */
    memcpy(code + 1, &relative, 4);
    return 5;
}
