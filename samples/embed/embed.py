#!/usr/bin/env python3
"""Runs a kernel in place on an array of this program, through libptera's C API. Needs nothing but Python; arrays of numpy
work as well: their `ctypes.data` is the address.

    python3 embed.py [LIBPTERA]
"""
import ctypes
import sys
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_size_t, c_uint, c_void_p

ptera = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libptera.so.0")
ptera.ptera_engine_error.restype = c_char_p
ptera.ptera_result_text.restype = c_char_p


class Launch(ctypes.Structure):  # ptera_launch, as far as it is needed here: its size says so
    _fields_ = [("size", c_size_t), ("grid", c_uint * 3), ("block", c_uint * 3), ("cluster", c_uint * 3),
                ("shared_bytes", c_uint), ("cooperative", c_int), ("timeout_seconds", c_double),
                ("parameters", ctypes.POINTER(c_void_p)), ("n_parameters", c_uint)]


def check(result):
    if result:
        raise RuntimeError(f"{ptera.ptera_result_text(result).decode()}: {ptera.ptera_engine_error(engine).decode()}")


TEXT = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 values, .param .f32 factor, .param .u32 n)
{
    .reg .u64 %p, %a; .reg .u32 %i, %n, %b, %t; .reg .f32 %x, %f; .reg .pred %out;
    ld.param.u64 %p, [values];
    ld.param.f32 %f, [factor];
    ld.param.u32 %n, [n];
    mov.u32 %b, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %b, %t, %i;
    setp.ge.u32 %out, %i, %n;
    @%out ret;
    mad.wide.u32 %a, %i, 4, %p;
    ld.f32 %x, [%a];
    mul.f32 %x, %x, %f;
    st.f32 [%a], %x;
    ret;
}
"""

engine, module, kernel = c_void_p(), c_void_p(), c_void_p()
check(ptera.ptera_engine_create(None, byref(engine)))
check(ptera.ptera_module_load(engine, b"text", TEXT, c_size_t(len(TEXT)), byref(module)))
check(ptera.ptera_module_kernel(module, b"scale", 0, byref(kernel)))

count = 1000
try:
    import numpy
    values = numpy.arange(count, dtype=numpy.float32)
    address = values.ctypes.data
except ImportError:
    values = (c_float * count)(*range(count))
    address = ctypes.addressof(values)

arguments = [c_void_p(address), c_float(0.5), c_uint(count)]
launch = Launch()
launch.size = ctypes.sizeof(Launch)
launch.grid[:] = [(count + 255) // 256, 1, 1]
launch.block[:] = [256, 1, 1]
launch.parameters = (c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
launch.n_parameters = len(arguments)
check(ptera.ptera_kernel_launch(kernel, byref(launch)))
print(*[f"{values[i]:g}" for i in (0, 1, 2, 999)])
ptera.ptera_engine_destroy(engine)
