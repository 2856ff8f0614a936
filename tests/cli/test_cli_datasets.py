"""``ndcg-track datasets``: a dataset that only gates read."""

from pathlib import Path

import pytest
from command_line import CommandLine
from small_shop import write_qrels

pytestmark = pytest.mark.both_engines
ON_FILES = (
    "note: anyone who can read the file can read the labels: keep it where only CI can read it, and name it there with "
    "NDCG_TRACK_SEALED_DB\n"
)


@pytest.fixture
def labelled(shop: CommandLine, folder: Path) -> CommandLine:
    """A shop with a second dataset that has labels alone."""
    shop("labels", "add", write_qrels(folder / "held.qrels"), "--dataset", "held")
    return shop


def test_seal(labelled: CommandLine) -> None:
    note = ON_FILES if labelled.url.startswith("sqlite") else ""
    told = "sealed dataset 'held': all looks share a budget of 0.05; only gate and ingest may use it\n"
    assert labelled.said("datasets", "seal", "held") == told + note
    assert labelled.refused("datasets", "seal", "held") == "dataset 'held' is sealed already; choose another dataset"
    assert labelled.refused("labels", "list", "--dataset", "held") == (
        "dataset 'held' is sealed: only gate and ingest may use it; see the open ones with: ndcg-track runs list"
    )
    assert {row["dataset"] for row in labelled.rows("runs", "list")} == {"shop"}


def test_seal_with_looks(labelled: CommandLine) -> None:
    assert labelled.said("datasets", "seal", "held", "--budget", ".1", "--looks", "40").startswith(
        "sealed dataset 'held': 40 looks share a budget of 0.1; "
    )


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("shop",), "dataset 'shop' has recorded results, so it was already seen; seal one before its first run"),
        (("heldd",), "no dataset 'heldd'; did you mean 'held'?"),
        (("held", "--budget", "1"), "a budget must lie between 0 and 0.5, not at 1.0; give for example 0.05"),
        (("held", "--budget", "nan"), "a budget must lie between 0 and 0.5, not at nan; give for example 0.05"),
        (("held", "--looks", "0"), "a budget needs 1 look or more, not 0"),
    ],
)
def test_what_is_not_sealed(labelled: CommandLine, given: tuple[str, ...], line: str) -> None:
    assert labelled.refused("datasets", "seal", *given) == line
    assert labelled.rows("labels", "list", "--dataset", "held")
