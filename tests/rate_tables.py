"""Print the tables of rates in docs/verdicts.md: ``python tests/rate_tables.py NAME [SAMPLES]``.

The tests measure the same cells; this prints them in rows.
"""

import sys
from collections.abc import Callable, Iterable

import attackers
import budgets as budgeted
import judged_scenarios as scenarios
from judged_rates import BIASED, BUDGETS, JUDGES, KINDS, SIZES, UNBIASED, Cell, cells
from populations import NOISE, RATED, Null, graded
from rates import (
    BEFORE,
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
RULES: dict[str, Rule] = {"limit .1": UNSCALED, "scaled limit": BEFORE, "the rule": NEW, "betting only": BETTING}


def told(rate: float, digits: int = 3) -> str:
    """Return a rate without the zero before its point."""
    return f"{rate:z.{digits}f}".replace("-0.", "-.").removeprefix("0")


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
    """False FAILs at far levels by four rules, with noise: the worst of both mirror images and 350, 500, 1,000."""
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
    """FAILs of a true drop at far levels, by four rules."""
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


def mean_and_highest(rates: Iterable[float | None]) -> str:
    """Return the mean of rates and in parentheses the highest; nothing where the gate decides in too few worlds."""
    known = [rate for rate in rates if rate is not None]
    return f"{told(sum(known) / len(known))} ({told(max(known))})" if known else "-"


def span(numbers: Iterable[float], digits: int) -> str:
    """Return the lowest and the highest of some numbers, without the zero before the point."""
    known = list(numbers)
    low, high = (f"{end:,.{digits}f}" for end in (min(known), max(known)))
    low, high = (end.removeprefix("0") if digits else end for end in (low, high))
    return low if low == high else f"{low} to {high}"


def judges(worlds: int) -> None:
    """Verdicts under a judge that people checked, over judges without and with bias, of equal and different systems."""
    columns = ("informative", "false verdicts", "false PASS", "false FAIL", "equal in ndcg, called different")
    head(
        "groups, agreement, labels",
        (*columns, "judge alone, by bias", "people alone", "width", "width, people alone", "worth"),
    )
    for n in SIZES:
        for agreement in (0.5, 0.7, 0.9):
            alike = [judge for judge in JUDGES if judge.agreement == agreement]
            found = {(judge.bias, kind): cells(judge, kind, n, worlds) for judge in alike for kind in KINDS}
            for place, budget in enumerate(BUDGETS):
                every = {key: of[place] for key, of in found.items()}
                in_ndcg = [cell for (_, kind), cell in every.items() if kind != "equal in dcg"]
                row(
                    f"{n:,}, {told(agreement, 1)}, {budget}",
                    span((cell.informative for cell in every.values()), 0),
                    mean_and_highest(cell.false for cell in every.values()),
                    mean_and_highest(cell.false_pass for cell in every.values()),
                    mean_and_highest(cell.false_fail for cell in every.values()),
                    mean_and_highest(cell.verdicts for (_, kind), cell in every.items() if kind == "equal in ndcg"),
                    " / ".join(told(every[judge.bias, "equal"].false_by_judge, 2) for judge in alike),
                    mean_and_highest(cell.false_by_people for cell in every.values()),
                    span((cell.corrected.width for cell in in_ndcg), 3),
                    span((cell.people.width for cell in in_ndcg), 3),
                    span((cell.work for cell in in_ndcg), 0),
                )


def answers(worlds: int) -> None:
    """What may be done with the answers to a drawn sample, under a judge without bias / with bias."""
    head("groups, labels, what is done", ("coverage", "false PASS", "false FAIL", "bias", "width"))
    judges = (UNBIASED, BIASED)

    def row_of(name: str, found: list[Cell]) -> None:
        rates = [(cell.coverage, cell.false_pass, cell.false_fail, cell.bias, cell.corrected.width) for cell in found]
        row(name, *(" / ".join("-" if one is None else told(one) for one in both) for both in zip(*rates, strict=True)))

    for n, budget in ((600, 800), (100, 400)):
        of = (n, budget, worlds)
        plans: dict[tuple[str, ...], list[tuple[Cell, ...]]] = {
            ("a second candidate, its own design", "- both designs"): [
                scenarios.second_candidate(it, *of) for it in judges
            ],
            ("users of five groups, by clusters", "- by groups"): [scenarios.users(it, *of) for it in judges],
            ("tuned by .3, the same numbers", "- fresh ones"): [scenarios.tuned(it, *of, 0.3) for it in judges],
            ("tuned by 1, the same numbers", "- fresh ones"): [scenarios.tuned(it, *of, 1.0) for it in judges],
            ("best of 40, the same numbers", "- in these groups", "- fresh numbers"): [
                scenarios.best_of_many(it, *of) for it in judges
            ],
        }
        for names, found in plans.items():
            for place, name in enumerate(names):
                row_of(f"{n}, {budget}, {name}", [cells[place] for cells in found])
        for k in (5, 20):
            seen = [scenarios.looks(it, *of, k) for it in judges]
            for name, rates in (
                (f"{k} looks that share 5%", [1 - one.shared for one in seen]),
                ("- at 5% each", [1 - one.each for one in seen]),
            ):
                row(f"{n}, {budget}, {name}", " / ".join(map(told, rates)), "", "", "", "")


def budget(worlds: int) -> None:
    """Worlds in which any of 40 candidates PASSes / FAILs falsely: without a budget, by t alone at .05/40, under it."""
    ways = ("PASS at 5% each", "PASS by t alone", "PASS under the budget", "FAIL at 1% each", "FAIL under the budget")
    head("differences, candidates, groups", ways)
    for name, null in budgeted.POPULATIONS.items():
        for shared, kind in ((0.0, "independent"), (0.7, "sharing groups")):
            for n in budgeted.SIZES:
                found = budgeted.any_false(null, n, worlds, shared=shared)
                rates = (found.without, found.by_t, found.passed, found.failed_without, found.failed)
                row(f"{name}, {kind}, {n:,}", *map(told, rates))


def far(samples: int) -> None:
    """PASSes of one look at far levels where few groups lose much, by half of the information / by the rule."""
    head("losses of .3 to 1, groups", (f"{rule} at {alpha}" for alpha in budgeted.FAR for rule in ("before", "rule")))
    for share in (0.01, 0.02):
        for sd in (0.0, 0.05, 0.14):
            for n in (350, 500, 700, 1000):
                null = budgeted.RareLosses(share, sd or NOISE)
                before, now = (null.passed(n, budgeted.FAR, samples, rule) for rule in (BEFORE, NEW))
                both = zip(before, now, strict=True)
                row(f"{share:.0%}, sd {told(sd, 2)}, {n:,}", *(told(rate, 5) for pair in both for rate in pair))


def sealed(worlds: int) -> None:
    """Worlds in which an author gets a false PASS: on sealed data, the highest of three spreads / open, the lowest."""
    head("author, looks", (f"n = {n:,}" for n in attackers.SIZES))
    for author in attackers.AUTHORS:
        for looks in attackers.LOOKS:
            cells = []
            for n in attackers.SIZES:
                closed, opened = (
                    [
                        attackers.any_false_pass(author, sd, n, looks, worlds // part, is_open=part > 1)
                        for sd in attackers.SPREADS
                    ]
                    for part in (1, 5)
                )
                cells.append(f"{told(max(closed))} / {told(min(opened))}")
            row(f"{author}, {looks}", *cells)


TABLES: dict[str, tuple[Callable[[int], None], int]] = {
    "compare": (compare, 20_000),
    "flagged": (flagged, 5_000),
    "gate": (gate, 20_000),
    "levels": (levels, 100_000),
    "power": (power, 5_000),
    "suites": (suites, 2_000),
    "price": (price, 5_000),
    "judges": (judges, 2_000),
    "answers": (answers, 1_000),
    "budget": (budget, 2_000),
    "far": (far, 1_000),
    "sealed": (sealed, 1_000),
}

if __name__ == "__main__":
    table, usual = TABLES[sys.argv[1]]
    table(int(sys.argv[2]) if len(sys.argv) > 2 else usual)
