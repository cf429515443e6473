"""Where the elements of array-likes lie: no copies are made."""

from __future__ import annotations

from typing import Any

from ptera._library import ffi

__all__ = ["In", "extent"]

_READ_ONLY = "the array is read-only: ptera.In(array) is for arrays that kernels only read"
_FOREIGN = "the array's elements are not in the machine's order of bytes"
_from_buffer, _cast = ffi.from_buffer, ffi.cast
_CHARS, _UINTPTR = ffi.typeof("char[]"), ffi.typeof("uintptr_t")


class In:
    """An argument that the kernel only reads: arrays that may not be written are taken, too."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array


def extent(array: Any, *, writable: bool = True) -> tuple[int, int, Any]:
    """Address and size in bytes of an array's elements, and what keeps them alive.

    Takes whatever has the buffer protocol (NumPy's arrays, bytearray, array.array, memoryview),
    __cuda_array_interface__, __array_interface__, PyTorch's tensors, or DLPack (with NumPy).
    Elements must be contiguous.

    Raises:
        TypeError: it is no array.
        ValueError: it is not contiguous, or read-only while `writable`.
    """
    if isinstance(array, In):
        array, writable = array.array, False
    dtype = getattr(array, "dtype", None)
    if getattr(dtype, "hasobject", False):
        raise TypeError("the array's elements are Python's objects")
    if not getattr(dtype, "isnative", True):
        raise TypeError(_FOREIGN)
    try:
        view = _from_buffer(_CHARS, array, writable)
    except (TypeError, ValueError, BufferError) as error:
        return _other_extent(array, writable, error)
    return int(_cast(_UINTPTR, view)), len(view), view


def _other_extent(array: Any, writable: bool, error: Exception) -> tuple[int, int, Any]:
    for name in ("__cuda_array_interface__", "__array_interface__"):
        interface = getattr(array, name, None)
        if interface is not None:
            return _interface_extent(interface, writable, array)
    if hasattr(array, "data_ptr"):
        return _tensor_extent(array)
    if writable and _is_read_only(array):
        raise ValueError(_READ_ONLY)
    if hasattr(array, "__dlpack__"):
        import numpy

        # Before version 1 DLPack did not tell whether memory may be written.
        return extent(numpy.from_dlpack(array), writable=False)
    if isinstance(error, TypeError):
        raise TypeError(f"{type(array).__name__} is no array") from None
    raise ValueError("the array is not contiguous") from None


def _is_read_only(array: Any) -> bool:
    try:
        return memoryview(array).readonly
    except (TypeError, ValueError, BufferError):
        return False


def _interface_extent(interface: Any, writable: bool, array: Any) -> tuple[int, int, Any]:
    try:
        address, is_read_only = interface["data"]
        typestr, shape = interface["typestr"], tuple(interface["shape"])
    except (KeyError, TypeError, ValueError):
        raise TypeError(f"{type(array).__name__} has no data, typestr and shape") from None
    size = _size_of(typestr)
    if typestr[0] == ">":
        raise TypeError(_FOREIGN)
    if is_read_only and writable:
        raise ValueError(_READ_ONLY)
    strides = interface.get("strides")
    if strides is not None and not _is_contiguous(shape, strides, size):
        raise ValueError("the array is not contiguous")
    for n in shape:
        size *= n
    return address or 0, size, array


def _size_of(typestr: str) -> int:
    """Bytes of an element: "<f4", "<M8[ns]"; "<U3" counts characters."""
    size = int(typestr[2:].partition("[")[0])
    return 4 * size if typestr[1] == "U" else size


def _is_contiguous(shape: Any, strides: Any, size: int) -> bool:
    """In C's order, or in Fortran's."""
    for axes in (range(len(shape) - 1, -1, -1), range(len(shape))):
        expected = size
        for axis in axes:
            if shape[axis] != 1 and strides[axis] != expected:
                break
            expected *= shape[axis]
        else:
            return True
    return 0 in shape


def _tensor_extent(tensor: Any) -> tuple[int, int, Any]:
    if not tensor.is_contiguous():
        raise ValueError("the tensor is not contiguous")
    for name in ("conj", "neg"):
        if getattr(tensor, "is_" + name, bool)():
            raise ValueError(f"the tensor's memory is not its value: resolve_{name}() makes it so")
    if tensor.device.type not in ("cpu", "cuda"):
        raise ValueError(f"the tensor is on device {tensor.device}")
    return tensor.data_ptr(), tensor.numel() * tensor.element_size(), tensor
