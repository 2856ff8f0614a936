"""Print the tables of rates in docs/verdicts.md: ``python tests/rate_tables.py NAME [SAMPLES]``.

The tests measure the same cells; this prints them in rows.
"""

import sys
from collections.abc import Callable, Iterable

import attackers
import budgets as budgeted
from drawn_rates import SKILLS, Of, decisions, table_rows
from drawn_worlds import with_holes
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


def judges(worlds: int) -> None:
    """How often the bounds of drawn queries miss under a judge: the mean over all worlds, and the highest."""
    drawn_queries("judges", worlds)


def holes(worlds: int) -> None:
    """The same where people's labels have holes, and PASS / FAIL at a margin of .02 by the number of answers."""
    drawn_queries("holes", worlds)
    print()
    budgets = (50, 100, 200, 400)
    head("candidate, queries", (f"{budget} answers" for budget in budgets))
    for name in SKILLS:
        facts = with_holes(name).facts()
        for n_queries in (150, 300):
            cells = []
            for budget in budgets:
                found = decisions(facts, n_queries, budget, worlds)
                few = f", {found.too_few:.0%} too few" if found.too_few > 0.005 else ""
                cells.append(f"{told(found.passed, 2)} / {told(found.failed, 3)} ({found.n_answered:.0f}{few})")
            row(f"{name} ({facts.truth:+.3f}), {n_queries}", *cells)


def drawn_queries(of: Of, worlds: int) -> None:
    head("drawn queries", ("worlds", "lower bound", "upper bound", "95% interval", "half-width of ndcg@10"))
    for name, cells, _ in table_rows(of, worlds):
        found = [cell.rates for cell in cells]
        deciding = [one for one in found if one.decided >= 0.5]
        widths = [cell.rates.width for cell in cells if cell.name.endswith(", ndcg")]
        row(
            name,
            len(cells),
            *(
                f"{told(sum(rates) / len(rates))} ({told(max(every))})" if rates[0] == rates[0] else ""
                for rates, every in (
                    ([getattr(one, bound) for one in deciding], [getattr(one, bound) for one in found])
                    for bound in ("lower", "upper", "either")
                )
            ),
            told(sum(widths) / len(widths)) if widths and widths[0] == widths[0] else "",
        )


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
    "holes": (holes, 2_000),
    "budget": (budget, 2_000),
    "far": (far, 1_000),
    "sealed": (sealed, 1_000),
}

if __name__ == "__main__":
    table, usual = TABLES[sys.argv[1]]
    table(int(sys.argv[2]) if len(sys.argv) > 2 else usual)
