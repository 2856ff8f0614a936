"""References to runs as people type them, and the errors for unknown ones."""

import pytest

from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.storage.records import AliasRecord
from ndcg_tracker.storage.references import RunName, referenced_run, unknown_dataset

RUNS = [
    RunName(1, "bm25", "shop"),
    RunName(2, "dense", "shop"),
    RunName(3, "dense-v2", "shop"),
    RunName(4, "bm25", "books"),
    RunName(7, "2", "shop"),
    RunName(8, "latest~1", "books"),
    RunName(9, "2024-run", "books"),
]
SHOP = [run for run in RUNS if run.dataset == "shop"]
STORE = "store one with: ndcg-track ingest FILE"


def alias(name: str, run_id: int, dataset: str = "shop") -> AliasRecord:
    return AliasRecord(1, dataset, name, run_id, "run", "", "")


ALIASES = [alias("baseline", 1), alias("prod", 2), alias("prod", 4, "books")]


@pytest.mark.parametrize(
    ("reference", "run_id"),
    [
        ("dense", 2),  # exact name before prefix
        ("2", 7),  # exact name before id
        ("1", 1),
        ("0009", 9),
        ("@baseline", 1),
        ("latest", 9),
        ("latest~0", 9),
        ("latest~1", 8),  # exact name before latest
        ("latest~2", 7),
        ("latest~6", 1),
        ("dense-", 3),
        ("2024", 9),
    ],
)
def test_references(reference: str, run_id: int) -> None:
    assert referenced_run(reference, RUNS, lambda: ALIASES) == run_id


NIGHTS = [RunName(n, f"night-{n}", "shop", f"2026-09-0{n}T02:00:00.000000Z") for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("reference", "run_id"),
    [
        ("before:2026-09-03", 2),
        ("before:2026-09-03T02:00:00Z", 2),
        ("before:2026-09-03T04:00:01+02:00", 3),
        ("before:2027-01-01", 3),
    ],
)
def test_the_last_run_before_a_day(reference: str, run_id: int) -> None:
    assert referenced_run(reference, NIGHTS, list) == run_id


def test_nothing_before_a_day_and_no_day() -> None:
    with pytest.raises(ReferenceNotFoundError) as told:
        referenced_run("before:2026-09-01", NIGHTS, list, "shop")
    assert str(told.value) == "no run 'before:2026-09-01' in dataset 'shop'; the first one is of 2026-09-01"
    with pytest.raises(ReferenceNotFoundError) as told_of_time:
        referenced_run("before:yesterday", NIGHTS, list)
    assert str(told_of_time.value) == "'before:yesterday' has no date; write it as before:2026-09-01"


def test_a_dataset_narrows() -> None:
    assert referenced_run("bm25", SHOP, lambda: ALIASES[:2], "shop") == 1
    assert referenced_run("latest", SHOP, lambda: ALIASES[:2], "shop") == 7
    assert referenced_run("@prod", SHOP, lambda: ALIASES[:2], "shop") == 2


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("bm25", "run 'bm25' exists in several datasets (books, shop); choose with dataset="),
        ("bm", "run 'bm25' exists in several datasets (books, shop); choose with dataset="),
        ("den", "'den' matches several runs (dense, dense-v2); give more of the name"),
        ("dens2", "no run 'dens2'; did you mean 'dense' or 'dense-v2'?"),
        ("@prod", "alias '@prod' exists in several datasets (books, shop); choose with dataset="),
        ("@none", "no alias '@none'; the aliases are: @baseline, @prod"),
        ("@", "no alias '@'; the aliases are: @baseline, @prod"),
        ("latest~7", "no run 'latest~7': there are only 7 runs; go back fewer steps"),
        ("zzz", "no run 'zzz'; there are 2, 2024-run, bm25, dense, dense-v2, latest~1"),
        ("", "no run ''; there are 2, 2024-run, bm25, dense, dense-v2, latest~1"),
        ("99", "no run '99'; there are 2, 2024-run, bm25, dense, dense-v2, latest~1"),
        ("9" * 40, f"no run '{'9' * 40}'; there are 2, 2024-run, bm25, dense, dense-v2, latest~1"),
        ("\u0662", "no run '\u0662'; there are 2, 2024-run, bm25, dense, dense-v2, latest~1"),
        ("a\nb", r"no run 'a\nb'; there are 2, 2024-run, bm25, dense, dense-v2, latest~1"),
    ],
)
def test_references_that_name_no_run(reference: str, message: str) -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        referenced_run(reference, RUNS, lambda: ALIASES)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("reference", "runs", "message"),
    [
        ("x", [], f"no run 'x' in dataset 'shop'; there are no runs in dataset 'shop' yet; {STORE}"),
        ("latest", [], f"no run 'latest': there are no runs in dataset 'shop' yet; {STORE}"),
        ("@x", [], "no alias '@x' in dataset 'shop'; create it with: ndcg-track alias set x RUN"),
        ("latest~1", SHOP[:1], "no run 'latest~1': there is only 1 run in dataset 'shop'; go back fewer steps"),
        ("x", SHOP[:1], "no run 'x' in dataset 'shop'; there is only 'bm25'"),
        (
            "x",
            [RunName(n, f"run{n}", "shop") for n in range(20)],
            "no run 'x' in dataset 'shop'; list all with: ndcg-track runs list",
        ),
        (
            "run",
            [RunName(n, f"run{n}", "shop") for n in range(10)],
            "'run' matches several runs (run0, run1, run2, run3, run4, run5, run6, run7 and 2 more); "
            "give more of the name",
        ),
    ],
)
def test_references_within_a_dataset(reference: str, runs: list[RunName], message: str) -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        referenced_run(reference, runs, list, "shop")
    assert str(caught.value) == message


def test_unknown_datasets() -> None:
    assert str(unknown_dataset("shp", ["shop", "books"])) == "no dataset 'shp'; did you mean 'shop'?"
    assert str(unknown_dataset("x", ["shop", "books"])) == "no dataset 'x'; there are books, shop"
    assert str(unknown_dataset("default", ["shop", "a"])) == "no dataset 'default'; name one with dataset=: a, shop"
    unnamed = unknown_dataset("default", ["shop", "a"], is_named=False)
    assert str(unnamed) == "there are 2 datasets (a, shop); name one with dataset="
    assert str(unknown_dataset("x", [])) == "no dataset 'x'; there are none yet; ingest a run"


def test_an_alias_without_its_sign_is_pointed_at() -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        referenced_run("prod", SHOP, lambda: ALIASES[:2], "shop")
    assert str(caught.value) == "no run 'prod' in dataset 'shop'; did you mean @prod?"
