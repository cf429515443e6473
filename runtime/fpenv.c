/* The floating-point environment of a thread: rounding, denormals, exceptions. */
#include "runtime/fpenv.h"

#if defined(__x86_64__)
/* MXCSR: round to nearest, all exceptions masked, no FTZ, no DAZ. Above it the x87 control word,
 * which only what host functions do can change. */
static const uint64_t fp_default = UINT64_C(0x37f) << 32 | 0x1f80;

static uint64_t get_fp(void)
{
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | __builtin_ia32_stmxcsr();
}

static void set_fp(uint64_t control)
{
    uint16_t x87 = (uint16_t)(control >> 32);
    __asm__ volatile("fldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((unsigned)control);
}
#elif defined(__aarch64__)
static const uint64_t fp_default = 0;

static uint64_t get_fp(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void set_fp(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#endif

uint64_t pt_fpenv_save(void)
{
    return get_fp();
}

void pt_fpenv_restore(uint64_t control)
{
    set_fp(control);
}

void pt_fpenv_reset(void)
{
    set_fp(fp_default);
}
