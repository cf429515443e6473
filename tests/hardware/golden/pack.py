#!/usr/bin/env python3
"""Packs golden vectors for tests/hardware/golden/run.c.

    pack.py FOLDER GROUP,GROUP... OUT.tar.xz [PART]

FOLDER holds what the device runs gave: index.tsv, ran.tsv, out.bin, the modules m_*.ptx and the
input tables in_*.bin. The archive has the modules and tables of the groups, out.bin with their
results alone, and index.tsv with one line a kernel: kernel, module, group, form, input, words in
and out a row, rows, offset of its results in out.bin. With PART one warp in PART of each kernel is
kept: the first, the second ... in turn. Its kernels must have input tables of their own.

Left out: cvta of shared, local and parameter addresses, whose results are where that machine's
windows lie.
"""

import io, os, re, sys, tarfile

folder, groups, target = sys.argv[1], sys.argv[2].split(','), sys.argv[3]
part = int(sys.argv[4]) if len(sys.argv) > 4 else 1
where = {}
for line in open(os.path.join(folder, 'ran.tsv')):
    kernel, offset, size = line.split('\t')
    where[kernel] = (int(offset), int(size))
results = open(os.path.join(folder, 'out.bin'), 'rb').read()
index, out, files = [], bytearray(), {}


def read(name):
    return open(os.path.join(folder, name), 'rb').read()


def some(data, rows, phase):
    """the warps that are kept"""
    warp = len(data) // rows * 32
    return b''.join(data[i : i + warp] for i in range(warp * phase, len(data), warp * part))


for line in open(os.path.join(folder, 'index.tsv')):
    f = line.rstrip('\n').split('\t')
    kernel, module, group, form, _, table, nin, nout, _, _, rows = f[:11]
    if group not in groups or kernel not in where:
        continue
    if re.match(r'cvta(\.to)?\.(shared|local|param)', form):
        continue
    offset, size = where[kernel]
    phase, rows = len(index) % part, int(rows)
    index.append(
        '\t'.join((kernel, module, group, form, table, nin, nout, str(rows // part), str(len(out))))
    )
    out += some(results[offset : offset + size], rows, phase)
    files[module] = read(module)
    files[table] = some(read(table), rows, phase)
with tarfile.open(target, 'w:xz', preset=9) as tar:

    def add(name, data):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))

    add('index.tsv', ('\n'.join(index) + '\n').encode())
    for name in sorted(files):
        add(name, files[name])
    add('out.bin', bytes(out))
print(len(index), 'kernels', os.path.getsize(target), 'bytes')
