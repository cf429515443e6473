"""What ptxas does with so many live values: kernels made for the purpose, and the registers that it
says they have. What README.md says of pairs and steps of occupancy comes from here.

    python3 probe.py [PTXAS]
"""

import os, re, subprocess, sys, tempfile

ptxas = (
    sys.argv[1]
    if len(sys.argv) > 1
    else os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin/ptxas"
)
COUNTS = (4, 8, 12, 16, 24, 28, 36, 40, 48, 56, 64, 80, 96)


def registers(body, declared, directives="", shared=0):
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)
{directives}
{{ .shared .align 16 .b8 window[{max(shared, 4096)}];
.reg .b64 %from, %to; {declared}
ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
{body}
ret; }}
"""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        said = subprocess.run(
            [ptxas, "-v", "-arch=sm_90", f.name, "-o", "/dev/null"], capture_output=True, text=True
        ).stderr
    return int(re.search(r"Used (\d+) registers", said)[1])


def live(n, load, bits=32, group=1, directives="", shared=0):
    """n values of so many bits that are live at once."""
    bytes_ = bits // 8
    base = "window" if "shared" in load else "%from"
    vector = f".v{group}" if group > 1 else ""
    body = ""
    for i in range(0, n, group):
        values = ", ".join(f"%x{i + k}" for k in range(group))
        values = f"{{{values}}}" if group > 1 else values
        body += f"{load}{vector}.b{bits} {values}, [{base}+{bytes_ * i}];\n"
    body += "bar.sync 0;\n"
    body += "".join(f"st.global.b{bits} [%to+{bytes_ * i}], %x{i};\n" for i in range(n))
    return registers(body, f".reg .b{bits} %x<{n}>;", directives, shared)


def show(name, **options):
    print(f"{name:36}", *(f"{live(n, **options):4}" for n in COUNTS), flush=True)


print(f"{'values':36}", *(f"{n:4}" for n in COUNTS))
show("of 32 bits, global", load="ld.global")
show("of 32 bits, shared", load="ld.volatile.shared")
show("of 64 bits", load="ld.global", bits=64)
show("of 32 bits, in fours", load="ld.global", group=4)
for directives in (
    ".maxntid 256",
    ".maxntid 512",
    ".maxntid 1024",
    ".maxntid 256\n.minnctapersm 1",
    ".maxnreg 64",
):
    show(directives.replace("\n", " "), load="ld.global", directives=directives)
show(".maxntid 128, 32 KB shared", load="ld.global", directives=".maxntid 128", shared=32768)
show("32 KB shared", load="ld.global", shared=32768)
