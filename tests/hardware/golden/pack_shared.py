#!/usr/bin/env python3
"""Packs golden vectors for tests/hardware/golden/shared.c.

    pack_shared.py FOLDER GROUP,GROUP... OUT.tar.xz

FOLDER holds what the device runs gave: index.tsv, ran.tsv, out.bin, the modules and the input
tables. The archive has the modules and tables of the groups and index.tsv with one line a kernel:
kernel, module, group, form, input, bytes in a CTA, 32-bit words out a thread, CTAs, and the FNV-1a
hash of the words of each CTA."""
import io, os, struct, sys, tarfile

folder, groups, target = sys.argv[1], sys.argv[2].split(','), sys.argv[3]
results = open(os.path.join(folder, 'out.bin'), 'rb').read()
where = {}
for line in open(os.path.join(folder, 'ran.tsv')):
    kernel, offset, size = line.split('\t')
    where[kernel] = (int(offset), int(size))

def hash_of(data):
    h = 0xcbf29ce484222325
    for word in struct.unpack('<%dI' % (len(data) // 4), data):
        h = (h ^ word) * 0x100000001b3 & (1 << 64) - 1
    return '%016x' % h

index, files = [], set()
for line in open(os.path.join(folder, 'index.tsv')):
    f = line.rstrip('\n').split('\t')
    kernel, module, group, form, _, _, table, bytes_in, words, ctas = f[:10]
    if group not in groups or kernel not in where:
        continue
    offset, size = where[kernel]
    part = size // int(ctas)
    hashes = [hash_of(results[i:i + part]) for i in range(offset, offset + size, part)]
    index.append('\t'.join([kernel, module, group, form, table, bytes_in, words, ctas] + hashes))
    files |= {module, table}
with tarfile.open(target, 'w:xz', preset=9) as tar:
    def add(name, data):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    add('index.tsv', ('\n'.join(index) + '\n').encode())
    for name in sorted(files):
        add(name, open(os.path.join(folder, name), 'rb').read())
print(len(index), 'kernels', os.path.getsize(target), 'bytes')
