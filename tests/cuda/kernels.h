/* Kernels that the tests of both of CUDA's libraries can do with. */
#ifndef PTERA_TESTS_CUDA_KERNELS_H
#define PTERA_TESTS_CUDA_KERNELS_H

#define PTX_ADD_AND_WAIT                                                                         \
    /* p[i] += value for i < n */                                                                \
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 value)\n{\n"                  \
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %q;\n"                                    \
    "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [value];\n"            \
    "    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"                    \
    "    mad.lo.u32 %r6, %r3, %r4, %r5;\n"                                                       \
    "    setp.ge.u32 %q, %r6, %r1; @%q ret;\n"                                                   \
    "    mul.wide.u32 %rd2, %r6, 4; add.u64 %rd1, %rd1, %rd2;\n"                                 \
    "    ld.global.u32 %r7, [%rd1]; add.u32 %r7, %r7, %r2; st.global.u32 [%rd1], %r7; ret;\n}\n" \
    /* waits until *p is not 0 */                                                                \
    ".visible .entry wait(.param .u64 p)\n{\n"                                                   \
    "    .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %q;\n    ld.param.u64 %rd1, [p];\n"       \
    "L:  ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %q, %r1, 0; @%q bra L;\n    ret;\n}\n"

/* Adds v to *p; the condition h becomes what remains of the sum when it is divided by n. */
#define PTX_TURN                                                                            \
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"                \
    ".visible .entry turn(.param .u64 p, .param .u64 h, .param .u32 v, .param .u32 n)\n{\n" \
    "    .reg .b64 %p, %h; .reg .b32 %v, %n;\n"                                             \
    "    ld.param.u64 %p, [p]; ld.param.u64 %h, [h];\n"                                     \
    "    ld.param.u32 %v, [v]; ld.param.u32 %n, [n];\n"                                     \
    "    { .reg .b32 %old; ld.global.u32 %old, [%p]; add.u32 %v, %v, %old; }\n"             \
    "    st.global.u32 [%p], %v; rem.u32 %v, %v, %n;\n"                                     \
    "    { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %v;\n"     \
    "      call.uni cudaGraphSetConditional, (a, b); }\n"                                   \
    "    ret;\n}\n"

#endif
