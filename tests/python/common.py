"""What the tests share."""

import pathlib

SAMPLES = pathlib.Path()

try:
    import numpy
except ImportError:
    numpy = None

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

#: out[i] = f(in) of parameters of many kinds, for one thread.
KINDS = (
    HEAD
    + """
.visible .entry kinds(.param .u8 a, .param .s16 b, .param .u32 c, .param .s64 d, .param .f32 e,
                      .param .f64 f, .param .align 4 .b8 g[12], .param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .reg .b16 %h<3>;
    .reg .f32 %f<2>;
    .reg .f64 %d<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u8 %h1, [a];
    st.global.u8 [%rd1], %h1;
    ld.param.s16 %h2, [b];
    st.global.u16 [%rd1+2], %h2;
    ld.param.u32 %r1, [c];
    st.global.u32 [%rd1+4], %r1;
    ld.param.s64 %rd2, [d];
    st.global.u64 [%rd1+8], %rd2;
    ld.param.f32 %f1, [e];
    st.global.f32 [%rd1+16], %f1;
    ld.param.u32 %r2, [g+8];
    st.global.u32 [%rd1+20], %r2;
    ld.param.f64 %d1, [f];
    st.global.f64 [%rd1+24], %d1;
    ret;
}
"""
)
