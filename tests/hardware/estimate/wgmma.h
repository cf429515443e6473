// wgmma whose accumulators are registers of the PTX, for micro.cu and units.cu.
#ifndef ESTIMATE_WGMMA_H
#define ESTIMATE_WGMMA_H

#define LIST_4 "d0, d1, d2, d3"
#define LIST_8 "d0, d1, d2, d3, d4, d5, d6, d7"
#define LIST_16 "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15"
#define LIST_32 "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, " \
    "d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31"
#define LIST_64 "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, " \
    "d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, " \
    "d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47, " \
    "d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63"
#define LIST_96 "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, " \
    "d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, " \
    "d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47, " \
    "d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63, " \
    "d64, d65, d66, d67, d68, d69, d70, d71, d72, d73, d74, d75, d76, d77, d78, d79, " \
    "d80, d81, d82, d83, d84, d85, d86, d87, d88, d89, d90, d91, d92, d93, d94, d95"
#define LIST_128 "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, " \
    "d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, " \
    "d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47, " \
    "d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63, " \
    "d64, d65, d66, d67, d68, d69, d70, d71, d72, d73, d74, d75, d76, d77, d78, d79, " \
    "d80, d81, d82, d83, d84, d85, d86, d87, d88, d89, d90, d91, d92, d93, d94, d95, " \
    "d96, d97, d98, d99, d100, d101, d102, d103, d104, d105, d106, d107, d108, d109, d110, d111, " \
    "d112, d113, d114, d115, d116, d117, d118, d119, d120, d121, d122, d123, d124, d125, d126, d127"
// A group of `per` products at a time, all into the same registers; the first of them all forgets what these had.
#define WGMMA(sum, place, turns, word, list, per, type, shape, operands, tail)                     \
    asm volatile("{\n\t.reg " type " " list ";\n\t.reg .pred p, q;\n\t.reg .u32 t, u;\n\t"        \
                 "setp.ne.u32 p, 0, 0;\n\tmov.u32 t, 0;\n"                                        \
                 "again:\n\twgmma.fence.sync.aligned;\n\tmov.u32 u, 0;\n"                         \
                 "next:\n\twgmma.mma_async.sync.aligned." shape " {" list "}, "                  \
                 operands ", p" tail ";\n\t"                                                     \
                 "setp.eq.u32 p, 0, 0;\n\tadd.u32 u, u, 1;\n\t"                                 \
                 "setp.lt.u32 q, u, " #per ";\n\t@q bra next;\n\t"                              \
                 "wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n\t"       \
                 "add.u32 t, t, 1;\n\tsetp.lt.u32 q, t, %2;\n\t@q bra again;\n\t"                 \
                 "mov.b32 %0, d0;\n\t}"                                                           \
                 : "=r"(sum)                                                                      \
                 : "l"(place), "r"(turns), "r"(word)                                              \
                 : "memory");

#endif
