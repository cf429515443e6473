"""Fits runtime/registers/trees.def to what ptxas says of the kernels that are not held out
(make.py). Needs scikit-learn.

    python3 fit.py DATA.tsv trees.def    writes the table
    python3 fit.py DATA.tsv              states the error: of those held out, and of each source by
                                         a fit to the others
"""

import csv, sys
import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

TREES, DEPTH, UNIT = 200, 5, 4096

rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
names = list(rows[0])[list(rows[0]).index("text") :]
x = np.array([[int(r[n]) for n in names] for r in rows])
y = np.array([int(r["ptxas"]) for r in rows])
bound = np.array([int(r["bound"]) for r in rows])
source = np.array([r["source"] for r in rows])
held_out = np.array([r["held"] == "1" for r in rows])


def fit(chosen):
    model = GradientBoostingRegressor(
        n_estimators=TREES,
        max_depth=DEPTH,
        learning_rate=0.08,
        subsample=0.7,
        min_samples_leaf=5,
        max_features=0.4,
        random_state=0,
        loss="absolute_error",
    )
    # What a bound has cut says little; small kernels matter less: occupancy does not see them.
    return model.fit(x[chosen], np.log2(y[chosen]), np.where(y[chosen] > 24, 1.0, 0.4))


def predict(model, chosen):
    n = np.rint(2 ** model.predict(x[chosen]))
    n = np.where((n > 32) & (n % 8 <= 2), n // 8 * 8, n)  # as registers.c
    return np.maximum(np.minimum(n, bound[chosen]), 8)


def blocks(registers, threads):
    warps = threads // 32
    return np.minimum(16384 // (np.ceil(registers / 8) * 256) * 4 // warps, 64 // warps)


def report(name, chosen, p):
    t = y[chosen]
    big = t > 24
    near = np.mean(np.abs(p[big] - t[big]) <= 0.1 * t[big]) if big.any() else 1
    same = np.mean([np.mean(blocks(p, n) == blocks(t, n)) for n in (128, 256, 512, 1024)])
    print(
        f"{name:16} {len(t):5} kernels, {big.sum():5} above 24: {near:6.1%} within 10 %; occupancy"
        f" {same:6.1%}",
        flush=True,
    )


def tree_rows(tree, node=0, depth=0):
    """The splits level by level and the leaves of a complete tree."""
    level, splits, leaves = [0], [], []
    for d in range(DEPTH):
        below = []
        for n in level:
            inner = tree.children_left[n] >= 0
            splits.append(
                (names[tree.feature[n]], int(np.floor(tree.threshold[n])))
                if inner
                else (names[0], 0)
            )
            below += [tree.children_left[n], tree.children_right[n]] if inner else [n, n]
        level = below
    return splits, level


def write(path):
    model = fit(~held_out)
    with open(path, "w") as out:
        print(
            "/* Trees that tests/assembler/registers/fit.py has fitted: TREE(splits level by level,"
            " leaves). A split S(what, n) goes left where",
            file=out,
        )
        print(
            " * what <= n. Their leaves and START add up to the logarithm to base 2 of the"
            " registers, times %d. */" % UNIT,
            file=out,
        )
        print("/* clang-format off */", file=out)
        print(f"START({round(float(model.init_.constant_.ravel()[0]) * UNIT)})", file=out)
        for t in model.estimators_.ravel():
            splits, leaves = tree_rows(t.tree_)
            value = [
                round(float(t.tree_.value[n].ravel()[0]) * model.learning_rate * UNIT)
                for n in leaves
            ]
            print(
                "TREE("
                + " ".join(f"S({n},{k})" for n, k in splits)
                + ", "
                + " ".join(f"L({v})" for v in value)
                + ")",
                file=out,
            )
        print("/* clang-format on */", file=out)


if len(sys.argv) > 2:
    write(sys.argv[2])
else:
    report("held out", held_out, predict(fit(~held_out), held_out))
    everything = np.zeros(len(y))
    for s in sorted(set(source)):
        held = source == s
        everything[held] = predict(fit(~held), held)
        report(s, held, everything[held])
    report("all", np.ones(len(y), bool), everything)
