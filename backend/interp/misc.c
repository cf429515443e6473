/* Instructions that change nothing here. PTX ISA 9.7.19. */
#include "backend/interp/interp.h"

PT_HANDLER(nothing)
{
    (void)f;
    return c + 1;
}

/* A loop around it lets others run at its back edge. */
pt_handler PT_DO(nanosleep)(struct pt_select *s)
{
    (void)s;
    return nothing;
}

pt_handler PT_DO(pmevent)(struct pt_select *s)
{
    (void)s;
    return nothing;
}

/* Registers are the compiler's to give away; here every warp has all it names. */
pt_handler PT_DO(setmaxnreg)(struct pt_select *s)
{
    (void)s;
    return nothing;
}
