/* ptx_run of libgpuocelot.so, as its users call it: by name, values for arguments, the block before
 * the grid. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/check.h"

void ptx_run(const char *source, int n_args, void **args, int block_x, int block_y, int block_z,
             int grid_x, int grid_y, int grid_z, int shared_bytes);

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"

/* out[i] = n + i + the CTA's dimension, for i below n */
static const char text[] = HEAD
    ".visible .entry first(.param .u64 out, .param .u32 n, .param .f32 f)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<6>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\nld.param.f32 %f1, [f];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r5, %r2, "
    "%r3, %r4;\n"
    "setp.ge.u32 %p, %r5, %r1;\n@%p ret;\ncvt.rn.f32.u32 %f2, %r5;\nadd.f32 %f2, %f2, %f1;\n"
    "mul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f2;\nret;\n}\n"
    ".visible .entry second()\n{\ntrap;\n}\n";

static void *bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return (void *)(uintptr_t)u;
}

/* What a kernel prints is the program's output. */
static void check_print(void)
{
    static const char prints[] =
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
             ".global .align 1 .b8 hello[4] = {104, 105, 10, 0};\n"
             ".visible .entry say()\n{\n    .reg .b64 %a;\n    {\n"
             "    .param .b32 r; .param .b64 f; .param .b64 v;\n"
             "    mov.u64 %a, hello; cvta.global.u64 %a, %a;\n"
             "    st.param.b64 [f], %a; st.param.b64 [v], 0;\n"
             "    call (r), vprintf, (f, v);\n    }\n    ret;\n}\n";
    char have[16] = "";
    int fd = memfd_create("output", MFD_CLOEXEC), before = dup(1);
    fflush(stdout);
    CHECK(fd >= 0 && before >= 0 && dup2(fd, 1) == 1);
    ptx_run(prints, 0, NULL, 1, 1, 1, 1, 1, 1, 0);
    fflush(stdout);
    CHECK(dup2(before, 1) == 1);
    CHECK(pread(fd, have, sizeof have - 1, 0) == 3 && !strcmp(have, "hi\n"));
    close(before);
    close(fd);
}

/* More texts than are kept: all of them run, the first one once more. */
static void check_many(void)
{
    enum { TEXTS = 1100 };
    uint32_t sum = 0;
    void *args[] = {&sum};
    char one[300];
    for (int i = 0; i <= TEXTS; i++) {
        snprintf(one, sizeof one,
                 HEAD ".visible .entry k(.param .u64 p)\n{\n    .reg .b64 %%p;\n"
                      "    ld.param.u64 %%p, [p]; red.global.add.u32 [%%p], %d; ret;\n}\n",
                 i % TEXTS);
        ptx_run(one, 1, args, 1, 1, 1, 1, 1, 1, 0);
    }
    CHECK_INT(sum, TEXTS * (TEXTS - 1) / 2);
}

int main(void)
{
    float out[40] = {0};
    void *args[] = {out, (void *)35, bits(0.5f)};
    for (int round = 0; round < 3; round++) {
        args[2] = bits(0.5f + (float)round);
        ptx_run(text, 3, args, 16, 1, 1, 3, 1, 1, 256);
        for (int i = 0; i < 40; i++)
            CHECK(out[i] == (i < 35 ? (float)i + 0.5f + (float)round : 0));
    }
    /* What is wrong is told on standard error; the program and later calls go on. */
    out[0] = -1;
    ptx_run(NULL, 3, args, 16, 1, 1, 3, 1, 1, 0);
    ptx_run("nonsense", 0, NULL, 1, 1, 1, 1, 1, 1, 0);
    ptx_run(HEAD, 0, NULL, 1, 1, 1, 1, 1, 1, 0);
    ptx_run(text, 2, args, 16, 1, 1, 3, 1, 1, 0);
    ptx_run(text, 3, args, -1, 1, 1, 3, 1, 1, 0);
    ptx_run(HEAD ".entry k()\n{\ntrap;\n}\n", 0, NULL, 1, 1, 1, 1, 1, 1, 0);
    CHECK(out[0] == -1);
    ptx_run(text, 3, args, 16, 1, 1, 3, 1, 1, 0);
    CHECK(out[0] == 2.5f);
    check_print();
    check_many();
    return CHECK_DONE("ocelot");
}
