"""Print the tables of rates in docs/verdicts.md: ``python tests/rate_tables.py NAME [SAMPLES]``.

The tests measure the same cells; here they stand in rows.
"""

import sys
from collections.abc import Callable, Iterable

from populations import NOISE, RATED, Null, graded
from rates import (
    BETTING,
    FAIL_ALPHAS,
    NEW,
    OLD,
    PLAIN,
    UNSCALED,
    VARIANTS,
    Columns,
    Rule,
    Variant,
    drawn,
    fails,
    false_fails,
    false_passes,
    passes,
    suite_fails,
    verdicts,
)

NOISY, MIRRORED_NOISY = VARIANTS["noisy"], VARIANTS["mirrored, noisy"]
FAR = (
    "normal",
    "graded, half of them 0",
    "Student t, 3 degrees of freedom",
    "exponential losses",
    "95% zeros, gains of .2 in 3%, losses of .3 in 2%",
    "90% zeros, gains of .1 in 8%, losses of .4 in 2%",
    "a loss of .49 in 2%",
    "a loss of .49 in 2%, sd .08",
    "a loss of .97 in 1%",
    "lambdarank, seed",
    "lambdarank, ten more rounds",
)
RULES: dict[str, Rule] = {"limit .1": UNSCALED, "scaled limit": NEW, "betting only": BETTING}


def told(rate: float, digits: int = 3) -> str:
    """Return a rate without the zero before its point."""
    return f"{rate:.{digits}f}".removeprefix("0")


def row(*cells: object) -> None:
    """Print a row of a Markdown table."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def head(first: str, sizes: Iterable[object]) -> None:
    cells = [first, *sizes]
    row(*cells)
    print("|" + "---|" * len(cells))


def compare(samples: int) -> None:
    """Wrong and unflagged verdicts, in parentheses what the count alone leaves: the worse of a copy with noise."""
    sizes = (20, 35, 50, 100, 150, 200, 300, 1000)
    head("differences", (f"n = {n}" for n in sizes))
    for name, null in RATED.items():
        cells = []
        for n in sizes:
            both = [verdicts(null, n, samples, of) for of in (PLAIN, NOISY)]
            wrong, by_count = max(one.wrong for one in both), max(one.by_count for one in both)
            cells.append(told(wrong) + (f" ({told(by_count)})" if by_count > wrong + 0.004 else ""))
        row(name, *cells)


def flagged(samples: int) -> None:
    """Samples flagged by the count + by skewness alone."""
    sizes = (35, 50, 100, 150, 200, 300, 1000)
    head("differences", (f"n = {n}" for n in sizes))
    for name in RATED:
        if name.startswith(("normal", "graded", "Student", "exponential", "TREC", "lambda")):
            found = [verdicts(RATED[name], n, samples) for n in sizes]
            row(name, *(f"{told(one.few, 2)} + {told(one.skewed, 2)}" for one in found))


def gate(samples: int) -> None:
    """False PASSes / false FAILs at 1%: the worst of four images."""
    sizes = (20, 35, 50, 100, 150, 200, 300, 500, 1000)
    head("differences", (f"n = {n}" for n in sizes))
    for name, null in RATED.items():
        cells = []
        for n in sizes:
            passed = max(false_passes(null, n, samples, of) for of in VARIANTS.values())
            failed = max(false_fails(null, n, samples, of, alphas=[0.01])[0] for of in VARIANTS.values())
            cells.append(f"{told(passed)} / {told(failed)}")
        row(name, *cells)


def levels(samples: int) -> None:
    """False FAILs at far levels by three rules, with noise: the worst of both mirror images and 350, 500, 1,000."""
    head("differences", (f"{rule} at {alpha}" for alpha in FAIL_ALPHAS[2:] for rule in RULES))
    for name in FAR:
        null = RATED[name]
        worst = dict.fromkeys(((alpha, rule) for alpha in FAIL_ALPHAS[2:] for rule in RULES), (0.0, 0))
        for of in (NOISY, MIRRORED_NOISY):
            for n in (350, 500, 1000):
                counts = dict.fromkeys(worst, 0)
                for rows in drawn(null, n, samples, 0.0, of):
                    columns = Columns.of(rows)
                    for alpha, rule in counts:
                        counts[alpha, rule] += int(fails(rows, alpha, RULES[rule], columns).sum())
                for key, count in counts.items():
                    worst[key] = max(worst[key], (count / samples, n))
        row(name, *(f"{told(rate, 5)} ({n})" for rate, n in worst.values()))


def power(samples: int) -> None:
    """FAILs of a true drop at far levels, by three rules."""
    head("differences, drop, groups", (f"{rule} at {alpha}" for alpha in FAIL_ALPHAS[2:] for rule in RULES))
    graded_ones, real = Null(graded, 0.492), RATED["lambdarank, regression"]
    for name, null, scale, drops in (
        ("graded, sd .41", graded_ones, 1.0, (0.05, 0.1)),
        ("graded, sd .14", graded_ones, 1 / 3, (0.02, 0.03)),
        ("like lambdarank, regression", real, 1.0, (0.015, 0.02)),
    ):
        for drop in drops:
            for n in (500, 1000):
                counts = dict.fromkeys(((alpha, rule) for alpha in FAIL_ALPHAS[2:] for rule in RULES), 0)
                for rows in drawn(null, n, samples, -drop / scale):
                    scaled = (rows * scale).clip(-1, 1)
                    for alpha, rule in counts:
                        counts[alpha, rule] += int(fails(scaled, alpha, RULES[rule]).sum())
                row(f"{name}, {drop}, {n}", *(told(count / samples) for count in counts.values()))


def suites(samples: int) -> None:
    """Suites of 13 datasets at their margin of which some FAIL, by 100 differences / by the rule."""
    sizes = (100, 150, 200, 300, 400, 500, 1000)
    head("differences, mirrored", (f"n = {n}" for n in sizes))
    for name in ("graded, half of them 0", *(name for name, null in RATED.items() if null.losses)):
        null, cells = RATED[name], []
        for n in sizes:
            counts = {OLD: 0, NEW: 0}
            for start in range(0, samples, 50):
                of = Variant(is_mirrored=True, noise=NOISE)
                rows = next(drawn(null, n, 13 * 50, -0.02, of, seed=start))
                for rule in counts:
                    counts[rule] += int(suite_fails(rows, 13, 0.01, 0.02, rule).sum())
            cells.append(f"{told(counts[OLD] / samples)} / {told(counts[NEW] / samples)}")
        row(name, *cells)


def price(samples: int) -> None:
    """PASSes of a harmless change, by 100 differences / by the rule."""
    sizes = (50, 100, 150, 200, 300, 500, 1000, 2000)
    head("differences, margin", (f"n = {n}" for n in sizes))
    real = ("lambdarank, ten more rounds", "lambdarank, regression")
    sources = [("graded, sd .41", Null(graded), 1.0), ("graded, sd .14", Null(graded), 1 / 3)]
    for name, null, scale in [*sources, *((f"like {name}", RATED[name], 1.0) for name in real)]:
        counts = {(margin, n, rule): 0 for margin in (0.01, 0.02, 0.05) for n in sizes for rule in (OLD, NEW)}
        for n in sizes:
            for rows in drawn(null, n, samples):
                scaled, columns = rows * scale, Columns.of(rows * scale)
                for margin in (0.01, 0.02, 0.05):
                    for rule in (OLD, NEW):
                        counts[margin, n, rule] += int(passes(scaled, margin, rule, columns).sum())
        for margin in (0.01, 0.02, 0.05):
            rates = [[told(counts[margin, n, rule] / samples) for rule in (OLD, NEW)] for n in sizes]
            row(f"{name}, {margin}", *(old if old == new else f"{old} / {new}" for old, new in rates))


TABLES: dict[str, tuple[Callable[[int], None], int]] = {
    "compare": (compare, 20_000),
    "flagged": (flagged, 5_000),
    "gate": (gate, 20_000),
    "levels": (levels, 100_000),
    "power": (power, 5_000),
    "suites": (suites, 2_000),
    "price": (price, 5_000),
}

if __name__ == "__main__":
    table, usual = TABLES[sys.argv[1]]
    table(int(sys.argv[2]) if len(sys.argv) > 2 else usual)
