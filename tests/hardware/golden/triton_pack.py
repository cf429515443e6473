"""triton_pack.py FOLDER ARCHIVE: cases for tests/api/real.c of what triton_record.py recorded on a
GPU. Each kernel with an instruction that those before it have not, and some of each kind of test.
"""

import collections
import io
import json
import pathlib
import random
import re
import sys
import tarfile

#: How many of a kind of test; 3 of the others.
MOST = {
    "test_scaled_dot": 40, "test_dot": 40, "test_cast": 40, "test_bin_op": 40, "test_math_op": 30,
    "test_reduce1d": 25, "test_compare_op": 15, "test_bitwise_op": 15, "test_scan2d": 12,
    "test_reduce": 12, "test_dot3d": 10,
}  # fmt: skip
#: Clocks; and arguments that are one memory, which a case cannot say.
LEFT_OUT = {"test_smid", "test_globaltimer", "test_const", "test_aliasing"}
BYTES = 20000  # of a launch's arrays
INSTRUCTION = re.compile(r"^\s*(?:@!?%p\d+ )?([a-z][\w.:]*\.[\w.:]+)\s+[^:]", re.M)
NOISE = re.compile(r"\s*(\.loc|\.file)\b|^\$L__(tmp|func)|^\s*//")


def kind_of(launch):
    return launch["test"].split("::")[1].split("[")[0]


def fits(store, j):
    is_float_atomic = "atomic" in kind_of(j) and "float" in j["test"]  # in no certain order
    return (
        j["parameters"]
        and j["grid"]
        and j["ctas"] == 1
        and kind_of(j) not in LEFT_OUT
        and not is_float_atomic
        and sum(j["sizes"]) <= BYTES
        and not any(size % 4 for size in j["sizes"])
        and all(p[2] == 0 if len(p) == 3 else p[0] in ("i32", "fp32") for p in j["parameters"])
        and all((store / d).exists() for d in j["before"] + j["after"])
    )


def choose(launches, text_of):
    seen, chosen, count = set(), [], collections.Counter()
    for is_cover in (True, False):
        for j in launches if is_cover else sorted(launches, key=lambda j: sum(j["sizes"])):
            instructions = set(INSTRUCTION.findall(text_of(j)))
            most = 0 if is_cover else MOST.get(kind_of(j), 3)
            if instructions <= seen and count[kind_of(j)] >= most or j in chosen:
                continue
            chosen.append(j)
            count[kind_of(j)] += 1
            seen |= instructions
    return sorted(chosen, key=lambda j: (j["test"], j["n"]))


def case_of(j, entry):
    grid = [*j["grid"], 1, 1][:3]
    lines = [
        f"# {j['test']} {j['n']}",
        f"entry {entry}",
        f"grid {grid[0]} {grid[1]} {grid[2]}",
        f"block {32 * j['warps']} 1 1",
        f"shared {j['shared']}",
    ]
    for parameter in j["parameters"]:
        if len(parameter) == 3:
            place = parameter[1]
            lines.append(f"buffer ../data/{j['before'][place]} ../data/{j['after'][place]}")
        elif parameter[0] == "fp32":
            lines.append(f"f32 {parameter[1]:.9g}")
        else:
            lines.append(f"i32 {int(parameter[1])}")
    return "\n".join(lines) + "\n"


def main(folder, archive):
    store = pathlib.Path(folder) / "store"
    lines = (line for path in pathlib.Path(folder).glob("launches-*.jsonl") for line in path.open())
    launches = [j for j in map(json.loads, lines) if fits(store, j)]
    launches.sort(key=lambda j: (j["test"], j["n"]))
    random.Random(1).shuffle(launches)
    texts = {}

    def text_of(j):
        if j["ptx"] not in texts:
            text = (store / (j["ptx"] + ".ptx")).read_text().split("\t.section\t.debug")[0]
            texts[j["ptx"]] = "\n".join(s for s in text.split("\n") if not NOISE.match(s)) + "\n"
        return texts[j["ptx"]]

    files = {}
    for k, j in enumerate(choose(launches, text_of)):
        name = f"{kind_of(j)[5:]}_{k}"
        entry = re.search(r"\.entry (\w+)", text_of(j))[1]
        files[f"{name}/kernel.ptx"] = text_of(j).encode()
        files[f"{name}/case"] = case_of(j, entry).encode()
        for digest in j["before"] + j["after"]:
            files[f"data/{digest}"] = (store / digest).read_bytes()
    with tarfile.open(archive, "w:xz", preset=9) as out:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            out.addfile(entry, io.BytesIO(files[name]))


if __name__ == "__main__":
    main(*sys.argv[1:])
