"""Quadrants (Taichi's successor): fields, kernels, reductions, by its own LLVM's PTX."""
import numpy as np
import quadrants as qd

qd.init(arch=qd.cuda)
x = qd.field(qd.f32, shape=1000)
total = qd.field(qd.f32, shape=())
grid = qd.field(qd.i32, shape=(30, 20))


@qd.kernel
def fill():
    for i in x:
        x[i] = i * 2.0


@qd.kernel
def add_up():
    for i in x:
        qd.atomic_add(total[None], x[i])


@qd.kernel
def number():
    for i, j in grid:
        grid[i, j] = i * 20 + j if i % 2 == 0 else -1


fill()
add_up()
number()
rows = np.arange(600).reshape(30, 20)
rows[1::2] = -1
results = [
    qd.lang.impl.current_cfg().arch == qd.cuda,
    np.array_equal(x.to_numpy(), np.arange(1000) * np.float32(2)),
    total[None] == 999000,
    np.array_equal(grid.to_numpy(), rows),
]
print(f"client_quadrants: {results.count(True)} passed, {results.count(False)} failed, 0 skipped")
raise SystemExit(not all(results))
