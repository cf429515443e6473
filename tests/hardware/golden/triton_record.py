"""Plug-in of pytest: records what launches of Triton's kernels read and wrote, test by test.

    SIDE=FOLDER TRITON_PTXAS_PATH=(a script that copies the PTX) pytest -n 16 -p triton_record \
        --device cuda python/test/unit/language/test_core.py

once on a GPU and once by `python -m ptera`, with one TRITON_CACHE_DIR: both drivers get the same
PTX. Inputs that PyTorch would make on the device come from the CPU, and memory that nobody wrote is
zero, so that both sides begin with the same words. Then

    python triton_record.py compare FOLDER FOLDER     tells tests and launches that differ
    python triton_pack.py FOLDER ARCHIVE              makes cases for tests/api/real.c
"""

import collections
import hashlib
import json
import os
import pathlib
import sys

KEPT = 65536  # bytes of an array that is kept, not only its digest
LARGEST = 1 << 27
launches = []  # of the current test
current = None


def keep(folder, data, suffix=""):
    """The digest of bytes, which names the file that has them."""
    digest = hashlib.blake2b(data, digest_size=12).hexdigest()
    path = folder / "store" / (digest + suffix)
    if len(data) <= KEPT or suffix:
        if not path.exists():
            own = path.with_name(f"{path.name}.{os.getpid()}")
            own.write_bytes(data)
            own.replace(path)
    return digest


def compare(first, second):
    sides = []
    for folder in map(pathlib.Path, (first, second)):
        outcomes, found = {}, {}
        for path in folder.glob("*.jsonl"):
            for line in path.open():
                j = json.loads(line)
                if "outcome" in j:
                    outcomes[j["test"]] = j["outcome"]
                else:
                    found[j["test"], j["n"]] = j
        sides.append((outcomes, found))
    (outcomes, found), (others, other) = sides
    both = outcomes.keys() & others.keys()
    print("outcomes:", dict(collections.Counter((outcomes[t], others[t]) for t in both)))
    for test in sorted(both):
        if outcomes[test] == "passed" != others[test]:
            print("failed only in the second:", test)
    told = collections.Counter()
    for key in sorted(found.keys() & other.keys()):
        a, b = found[key], other[key]
        if a["ptx"] != b["ptx"] or a["before"] != b["before"]:
            told["began otherwise"] += 1
            continue
        told["same" if a["after"] == b["after"] else "other words"] += 1
        if a["after"] != b["after"]:
            print("other words:", *key)
    print("launches:", dict(told))


def tensors_of(value, found):
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(getattr(value, "base", None), torch.Tensor):
        found.append(value.base)
    elif isinstance(value, (tuple, list)):
        for part in value:
            tensors_of(part, found)
    return found


def bytes_of(tensor):
    storage = tensor.untyped_storage()
    if storage.nbytes() > LARGEST:
        return b""
    raw = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
    return raw.cpu().numpy().tobytes()


def parameters_of(kernel, named, tensors):
    """[type, place of its tensor, offset] or [type, value] of each; None where one is neither."""
    found = []
    for name, kind in kernel.src.signature.items():
        if kind == "constexpr":
            continue
        value = named.get(name)
        value = getattr(value, "base", value)
        if isinstance(value, torch.Tensor):
            place = next(i for i, t in enumerate(tensors) if t is value)
            offset = value.data_ptr() - value.untyped_storage().data_ptr()
            found.append([str(kind), place, offset])
        elif isinstance(value, (bool, int, float)):
            found.append([str(kind), value])
        else:
            return None
    return found


def record(run, folder):
    def recorded(self, *args, grid, warmup, **kwargs):
        if warmup or current is None:
            return run(self, *args, grid=grid, warmup=warmup, **kwargs)
        tensors = tensors_of([*args, *kwargs.values()], [])
        before = [keep(folder, bytes_of(t)) for t in tensors]
        kernel = run(self, *args, grid=grid, warmup=warmup, **kwargs)
        torch.cuda.synchronize()
        named = {**dict(zip(self.arg_names, args)), **kwargs}
        launches.append(
            {
                "test": current,
                "n": len(launches),
                "ptx": keep(folder, kernel.asm["ptx"].encode(), ".ptx"),
                "before": before,
                "after": [keep(folder, bytes_of(t)) for t in tensors],
                "sizes": [t.untyped_storage().nbytes() for t in tensors],
                "grid": None if callable(grid) else list(grid),
                "warps": kernel.metadata.num_warps,
                "ctas": kernel.metadata.num_ctas,
                "shared": kernel.metadata.shared,
                "parameters": parameters_of(kernel, named, tensors),
            }
        )
        return kernel

    return recorded


def on_host(make):
    """Numbers drawn on the CPU, whatever the device."""

    def made(*args, device=None, **kwargs):
        tensor = make(*args, **kwargs)
        return tensor.to(device) if device is not None else tensor

    return made


def zeroed(make):
    return lambda *args, **kwargs: make(*args, **kwargs).zero_()


def pytest_configure(config):
    global folder
    folder = pathlib.Path(os.environ["SIDE"])
    (folder / "store").mkdir(parents=True, exist_ok=True)
    JITFunction.run = record(JITFunction.run, folder)
    for name in ("empty", "empty_like", "empty_strided"):
        setattr(torch, name, zeroed(getattr(torch, name)))
    numpy.empty, numpy.empty_like = numpy.zeros, numpy.zeros_like
    for name in ("randn", "rand", "randint", "randperm"):
        setattr(torch, name, on_host(getattr(torch, name)))


def name_of(nodeid):
    """Without the folders before it."""
    file, rest = nodeid.split("::", 1)
    return f"{pathlib.PurePath(file).name}::{rest}"


def pytest_runtest_setup(item):
    global current
    current = name_of(item.nodeid)
    launches.clear()
    torch.manual_seed(0)


def pytest_runtest_teardown(item):
    global current
    with open(folder / f"launches-{os.getpid()}.jsonl", "a") as out:
        out.writelines(json.dumps(launch) + "\n" for launch in launches)
    current = None


def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" in os.environ or report.when != "call" and report.passed:
        return
    test = name_of(report.nodeid)
    with open(folder / "outcomes.jsonl", "a") as out:
        out.write(json.dumps({"test": test, "outcome": report.outcome}) + "\n")


if __name__ == "__main__":
    assert sys.argv[1] == "compare"
    compare(*sys.argv[2:])
else:
    import numpy
    import torch
    from triton.runtime.jit import JITFunction
