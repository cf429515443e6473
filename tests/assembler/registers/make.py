"""Makes what fit.py reads, and kernels.tar.xz: kernels compiled by nvcc and, where it is installed,
Triton, with what ptxas says of each and its features.

    python3 make.py FOLDER PROGRAM [OTHERS]

FOLDER keeps what is made; PROGRAM is build/.../tests/registers; OTHERS has PTX of other people's
programs, PROGRAM.FILE.ptx, to fit to as well (`cuobjdump -xptx all` takes it out of a library):
none of it is kept.
"""

import csv, glob, io, math, os, re, subprocess, sys, tarfile, zlib

here = os.path.dirname(os.path.abspath(__file__))
folder, program = sys.argv[1].rstrip("/"), sys.argv[2]
others = sys.argv[3] if len(sys.argv) > 3 else None
CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin/"
ARCHIVE_BYTES = 2 << 20  # of PTX; 280 KiB compressed


def nvcc(source, ptx, *options):
    if not os.path.exists(ptx):
        subprocess.run(
            [CUDA + "nvcc", "-O3", "-std=c++17", "-w", "-ptx", *options, source, "-o", ptx],
            check=True,
        )


def copy_for_sm_90(ptx, copy):
    """PTX for newer GPUs or assemblers than these; what only they take ptxas will refuse."""
    text = re.sub(r"^\.version\s+9\.\d", ".version 9.0", open(ptx).read(), flags=re.M)
    newer = r"^\.target\s+sm_(?:1\d\d|9[1-9])[af]?.*"
    open(copy, "w").write(re.sub(newer, ".target sm_90", text, flags=re.M))


def compile_all():
    os.makedirs(folder, exist_ok=True)
    for source in sorted(glob.glob(f"{here}/kernels/*.cu")):
        name = os.path.basename(source)[:-3]
        nvcc(source, f"{folder}/{name}.ptx", "-arch=compute_90")
        if name not in ("cub", "device", "gemm", "hash", "sort"):  # to them it makes no difference
            nvcc(source, f"{folder}/{name}.fast.ptx", "-arch=compute_80", "-use_fast_math")
    if subprocess.run([sys.executable, "-c", "import triton"], capture_output=True).returncode == 0:
        subprocess.run(
            [sys.executable, f"{here}/kernels/triton_kernels.py", f"{folder}/triton"], check=True
        )
        for ptx in glob.glob(f"{folder}/triton/*.ptx"):
            copy_for_sm_90(ptx, f"{folder}/triton.{os.path.basename(ptx)}")
    for ptx in glob.glob(f"{here}/../../../samples/*/*.ptx"):
        open(f"{folder}/samples.{os.path.basename(ptx)}", "w").write(open(ptx).read())
    os.makedirs(f"{folder}/others", exist_ok=True)
    for ptx in glob.glob(f"{others}/*.ptx") if others else []:
        copy_for_sm_90(ptx, f"{folder}/others/{os.path.basename(ptx)}")


def ptxas(ptx):
    """What it says of each kernel, by name: registers, bytes of static shared memory."""
    arch = "sm_90a" if re.search(r"^\.target sm_90a", open(ptx).read(), re.M) else "sm_90"
    r = subprocess.run(
        [CUDA + "ptxas", "-v", "-arch=" + arch, ptx, "-o", "/dev/null"],
        capture_output=True,
        text=True,
    )
    used = r"entry function '([^']*)'.*?Used (\d+) registers([^\n]*)"
    said = re.findall(used, r.stderr, re.S)
    smem = re.compile(r"(\d+) bytes smem")
    return {k: (int(n), int(m[1]) if (m := smem.search(rest)) else 0) for k, n, rest in said}


def declared_threads(file):
    """Of a block, by kernel: what directives say; 0: nothing."""
    threads = {}
    for m in re.finditer(r"\.entry\s+([\w$]+)[^{]*", open(file).read()):
        n = re.search(r"\.(?:maxntid|reqntid)\s+([\d, ]+)", m[0])
        threads[m[1]] = math.prod(map(int, n[1].split(","))) if n else 0
    return threads


def source_of(file):
    """What is held out together: a .cu file, a kernel of Triton's, or another's program."""
    part = os.path.basename(file).split(".")
    if os.path.dirname(file) != folder:
        return "other_" + part[0]
    return "triton_" + re.split(r"_(?:fp|bf|i32)", part[1])[0] if part[0] == "triton" else part[0]


def is_held(file, kernel):
    return zlib.crc32(f"{file} {kernel}".encode()) % 6 == 0


def features(file):
    shown = subprocess.run([program, "--show", file], capture_output=True, text=True)
    return (
        list(csv.DictReader(io.StringIO(shown.stdout), delimiter="\t"))
        if shown.returncode == 0
        else []
    )


def read_all():
    """A row for each kernel unlike all before it, of its source or of all others' programs."""
    files = sorted(glob.glob(f"{folder}/*.ptx")) + sorted(glob.glob(f"{folder}/others/*.ptx"))
    rows, seen = [], set()
    for file in files:
        own, said, threads = os.path.dirname(file) == folder, ptxas(file), declared_threads(file)
        for r in features(file):
            r.pop("file")
            kernel, base = r.pop("kernel"), os.path.basename(file)
            registers, shared = said.get(kernel, (0, 0))
            key = source_of(file) if own else "other", registers, *r.values()
            if not registers or key in seen:
                continue
            seen.add(key)
            rows.append(
                dict(
                    source=source_of(file),
                    own=int(own),
                    file=base,
                    kernel=kernel,
                    held=int(own and is_held(base, kernel)),
                    ptxas=registers,
                    threads=threads.get(kernel, 0),
                    shared=shared,
                    **r,
                )
            )
    return rows


def alone(text, kernel):
    """The module with this kernel only, without what only debuggers read."""
    text = re.sub(r"//.*|^\s*\.(loc|file)\s.*|^\s*\.section\s[^{]*\{[^}]*\}", "", text, flags=re.M)
    head, *bodies = re.split(r"^(?=(?:\.visible |\.weak )?\.(?:entry|func)\b)", text, flags=re.M)
    keep = [
        b
        for b in bodies
        if re.match(r"(?:\.visible |\.weak )?\.func", b)
        or re.match(r"[^(]*\s" + re.escape(kernel) + r"\b", b)
    ]
    used = "".join(keep)
    variable = re.compile(
        r"^\.(?:visible |weak |extern )?\.?(?:global|const|shared)\b[^=;\[]*?(\w+)(?:\[|;| =)"
    )
    lines = [l for l in head.split("\n") if not (m := variable.match(l)) or m[1] in used]
    return re.sub(r"\n\s*\n+", "\n", "\n".join(lines) + "\n" + used)


def write_archive(rows):
    """Of those held out, as many as there is room for."""
    left, out, index = ARCHIVE_BYTES, tarfile.open(f"{here}/kernels.tar.xz", "w:xz", preset=9), []

    def add(name, text):
        info = tarfile.TarInfo(name)
        info.size = len(text.encode())
        out.addfile(info, io.BytesIO(text.encode()))

    for r in sorted((r for r in rows if r["held"]), key=lambda r: zlib.crc32(r["kernel"].encode())):
        text = alone(open(f"{folder}/{r['file']}").read(), r["kernel"])
        if len(text) <= min(left, 100000):
            left -= len(text)
            name = f"{len(index)}.ptx"
            add(name, text)
            index.append(f"{name}\t{r['kernel']}\t{r['ptxas']}\t{r['bound']}\n")
    add("kernels.tsv", "".join(index))
    out.close()


compile_all()
rows = read_all()
with open(f"{folder}/data.tsv", "w") as f:
    w = csv.DictWriter(f, rows[0].keys(), delimiter="\t")
    w.writeheader()
    w.writerows(rows)
write_archive(rows)
print(len(rows), "kernels,", sum(r["held"] for r in rows), "held out")
