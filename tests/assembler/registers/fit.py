"""Fits runtime/registers/trees.def, which corrects what runtime/registers/allocation.c tells, to
what ptxas says of the kernels that are not held out (make.py). Needs lightgbm.

    python3 fit.py DATA.tsv trees.def      writes the table
    python3 fit.py DATA.tsv                states the errors: without trees, of the kernels held
                                           out, of each fifth of the kernels and of each eighth of
                                           the sources by a fit to the rest
"""

import csv, sys, zlib
import numpy as np
import lightgbm

TREES, LEAVES, UNIT, FOLDS, PARTS = 250, 31, 4096, 8, 5
USUAL = 256  # threads of a block, where directives say nothing
SMALL = 0.05  # log2: a correction that does not change the step of occupancy
STEPS = np.array([32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255])

HEAD = f"""\
/* What fit.py (tests/assembler/registers) has fitted: trees, each TREE(nodes) and its nodes.
 * N(feature, most, nodes) is followed by so many nodes for features up to `most`, then by those for
 * what is above; L(n): log2 of a factor of the registers, times {UNIT}. */"""

rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
names = list(rows[0])[list(rows[0]).index("registers") :]
x = np.array([[int(r[n]) for n in names] for r in rows], float)
y = np.array([int(r["ptxas"]) for r in rows])
least = x[:, names.index("least")]
allocation, bound = x[:, names.index("registers")], x[:, names.index("bound")]
source = np.array([r["source"] for r in rows])
is_own = np.array([r["own"] == "1" for r in rows])
held_out = np.array([r["held"] == "1" for r in rows])
threads = np.array([int(r["threads"]) or USUAL for r in rows])
shared = np.array([int(r["shared"]) for r in rows])


def fit(chosen):
    model = lightgbm.LGBMRegressor(
        objective="huber",
        alpha=0.2,
        n_estimators=TREES,
        num_leaves=LEAVES,
        learning_rate=0.07,
        min_child_samples=2,
        subsample=0.7,
        subsample_freq=1,
        colsample_bytree=0.4,
        verbose=-1,
        n_jobs=1,
        seed=1,
        deterministic=True,
    )
    # Small kernels matter less: occupancy does not see them.
    return model.fit(
        x[chosen],
        np.log2(y[chosen] / allocation[chosen]),
        sample_weight=np.where(y[chosen] > 24, 1.0, 0.4),
    )


def corrected(log, chosen):
    """As estimate.c."""
    n, start = np.rint(allocation[chosen] * 2**log), allocation[chosen]
    k = np.searchsorted(STEPS, start)
    within = np.clip(n, np.where(k > 0, STEPS[np.maximum(k - 1, 0)] + 1, 1), STEPS[k])
    snapped = np.where((n > 32) & (n % 8 <= 2), n // 8 * 8, n)
    n = np.where(np.abs(log) < SMALL, within, snapped)
    exhausted = (start == bound[chosen]) & (least[chosen] >= 100)
    return np.where(exhausted, start, np.maximum(np.minimum(n, bound[chosen]), 8))


def blocks(registers, threads, shared=0):
    """On an SM of an H200."""
    warps = np.ceil(threads / 32)
    by_registers = 16384 // (np.ceil(registers / 8) * 256) * 4 // warps
    return np.minimum(np.minimum(by_registers, 64 // warps), 233472 // (shared + 1024))


def report(name, chosen, p):
    t = y[chosen]
    big = t > 24
    near = np.mean(np.abs(p - t)[big] <= 0.1 * t[big]) if big.any() else 1
    own = threads[chosen], shared[chosen]
    same = np.mean(blocks(p, *own) == blocks(t, *own))
    sizes = np.mean([np.mean(blocks(p, n) == blocks(t, n)) for n in (128, 256, 512, 1024)])
    print(
        f"{name:30} {len(t):5} kernels, {big.sum():5} above 24: {near:6.1%} within 10 %; "
        f"occupancy {same:6.1%}, of four sizes {sizes:6.1%}",
        flush=True,
    )


def judged(part):
    """Each part of the kernels by a fit to the others."""
    p = np.zeros(len(y))
    for k in np.unique(part):
        p[part == k] = corrected(fit(part != k).predict(x[part == k]), part == k)
    return p


def report_all():
    every = np.ones(len(y), bool)
    report("allocation.c alone", every, allocation)
    report("allocation.c alone, held out", held_out, allocation[held_out])
    report("held out", held_out, corrected(fit(~held_out).predict(x[held_out]), held_out))
    kernels = [f"{r['file']} {r['kernel']}" for r in rows]
    for what, keys, parts in ("kernels", kernels, PARTS), ("sources", source, FOLDS):
        p = judged(np.array([zlib.crc32(k.encode()) // 6 % parts for k in keys]))
        report(f"{what} not seen", every, p)
        report("  our own", is_own, p[is_own])
        for s in sorted(set(source[~is_own])):
            report("  " + s, source == s, p[source == s])


def preorder(node):
    """The nodes of a tree: N(feature, most, nodes of the left side), L(leaf)."""
    if "leaf_value" in node:
        return [f"L({round(node['leaf_value'] * UNIT)})"]
    left, right = preorder(node["left_child"]), preorder(node["right_child"])
    most = min(int(np.floor(node["threshold"])), 2**31 - 1)
    return [f"N({names[node['split_feature']]},{most},{len(left)})"] + left + right


def write(path):
    model = fit(~held_out).booster_.dump_model()
    with open(path, "w") as out:
        print(HEAD, file=out)
        print("/* clang-format off */", file=out)
        for t in model["tree_info"]:
            nodes = preorder(t["tree_structure"])
            print(f"TREE({len(nodes)}) " + " ".join(nodes), file=out)
        print("/* clang-format on */", file=out)


if len(sys.argv) > 2:
    write(sys.argv[2])
else:
    report_all()
