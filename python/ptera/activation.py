"""ptera.activate(): what `python -m ptera` does, as far as a Python that runs already can."""

import ctypes
import os
import pathlib
import sys

from ptera._library import PACKAGE
from ptera.program import program, start_path

__all__ = ["activate"]

#: What Ptera's libraries stand in for, by the start of their names.
_REPLACED = ("libcuda.so.", "libcudart.so.", "libcudart-", "libnvidia-ml.so.", "libcupti.so.")


def activate() -> None:
    """Puts Ptera's libraries in the place of NVIDIA's, here and in the processes started later.

    To be called before CUDA clients are imported: who asks for libcuda.so.1, libcudart.so.N or
    libnvidia-ml.so.1 by name from now on gets Ptera's. Only `python -m ptera` can serve clients
    that open libraries by their paths, that have a runtime library inside, as CuPy and Warp, or
    that look for device nodes, as JAX does. Where that has been done, or this, nothing is left.

    Raises:
        RuntimeError: a library of NVIDIA's is loaded already (by a CUDA build of PyTorch, say),
            or the program `ptera` cannot be run.
    """
    environment = _environment_of_exec()
    preloaded = [pathlib.Path(file) for file in environment["LD_PRELOAD"].split(":")]
    driver = next(file.resolve() for file in preloaded if file.name == "libcuda.so.1")
    loaded = _loaded()
    for file in loaded:
        if file.name.startswith(_REPLACED) and file.parent != driver.parent:
            raise RuntimeError(f"{file} is loaded already: activate Ptera before what loads it")
    if driver in loaded:
        return
    os.environ.update(environment)
    os.environ["PYTHONPATH"] = start_path()
    for library in [*preloaded, driver.parent / "libnvidia-ml.so.1"]:
        if library.name.startswith(_REPLACED) and library.exists():
            ctypes.CDLL(str(library))  # whoever asks for it by name gets it from now on
    sys.path.insert(0, str(PACKAGE / "start"))
    try:
        import ptera_clients
    finally:
        sys.path.pop(0)
    ptera_clients.install()


def _environment_of_exec() -> dict[str, str]:
    """What `ptera exec` sets."""
    import subprocess  # here: the package is imported in less time without

    try:
        done = subprocess.run([program(), "exec", "env", "-0"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"the program {program()} cannot be run: {error}") from error
    pairs = (pair.split("=", 1) for pair in os.fsdecode(done.stdout).split("\0") if pair)
    return {name: value for name, value in pairs if os.environ.get(name) != value}


def _loaded() -> set[pathlib.Path]:
    """The files that are mapped into this process."""
    lines = pathlib.Path("/proc/self/maps").read_text(errors="replace").splitlines()
    return {pathlib.Path(line.split(None, 5)[5]).resolve() for line in lines if "/" in line}
