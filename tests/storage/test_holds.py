"""What is here of a stored run: every kind, the questions that it answers, and what it says to the others."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from runs_of_sums import store_sums
from small_shop import BM25, LABELS, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.bulk.protocol import packed
from ndcg_tracker.storage.records import Holds, Part
from ndcg_tracker.storage.store import Store

pytestmark = pytest.mark.both_engines

AT = "2025-01-31T00:00:00.000000Z"
GROUP = min(BM25)
RESTORE, ADD = (
    "to restore them, ingest its file again under the same name",
    "to add them, ingest all its rows under the same name",
)
SUMS = "to store a share of its groups, ingest its rows again with groups_share='1/100'"

KINDS: dict[Holds, tuple[set[Part], str]] = {
    Holds.WHOLE: (set(get_args(Part)), ""),
    Holds.SAMPLE: (
        {"means", "groups", "results"},
        f"was stored with the items of only 0.125 of its groups; {ADD}",
    ),
    Holds.NO_ITEMS: ({"means", "groups", "results"}, f"was stored without items; {ADD}"),
    Holds.SUMS: (
        {"means"},
        f"was stored as sums over its groups: the groups themselves are not here; {SUMS}",
    ),
    Holds.PRUNED: ({"means", "groups", "results"}, f"was pruned at {AT}: its items are gone; {RESTORE}"),
    Holds.MEANS: ({"means", "groups"}, f"was pruned at {AT}: its items and group results are gone; {RESTORE}"),
}

QUESTIONS: dict[str, tuple[Part, Callable[[nt.Tracker, str, Path], object]]] = {
    "show": ("means", lambda tracker, run, _: tracker.show(run)),
    "export of all": ("means", lambda tracker, run, folder: tracker.export_runs(folder / "all")),
    "rescore of all": ("means", lambda tracker, run, _: tracker.rescore(metrics="P@5")),
    "compare": ("results", lambda tracker, run, _: tracker.compare("other", run)),
    "plan": ("results", lambda tracker, run, _: tracker.plan("other", run)),
    "gate": ("results", lambda tracker, run, _: tracker.gate(run, baseline="other", margin=0.5, dry_run=True)),
    "leaderboard": ("results", lambda tracker, run, _: tracker.leaderboard("other", run)),
    "reproduce": ("results", lambda tracker, run, _: tracker.reproduce("other", run)),
    "explain": ("items", lambda tracker, run, _: tracker.explain("other", run, group=GROUP)),
    "diff": ("items", lambda tracker, run, _: tracker.diff("other", run)),
    "rescore": ("items", lambda tracker, run, _: tracker.rescore([run], metrics="P@5")),
    "export": ("items", lambda tracker, run, folder: tracker.export_runs(folder / "one", [run])),
}


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for holds in (None, *Holds):
            if holds is not Holds.SUMS:
                name = "other" if holds is None else holds.name
                tracker.ingest(frame_of(BM25), name=name, labels=labels_frame(), metrics="ndcg@10")
    with Store.open(url) as store, store.write() as tx:
        store_sums(tx, Holds.SUMS.name)
        for holds, share in ((Holds.SAMPLE, 0.125), (Holds.NO_ITEMS, 0.0), (Holds.PRUNED, None), (Holds.MEANS, None)):
            run = tx.runs.resolve(holds.name)
            group_ids, ranking = tx.runs.group_ids(run.id), tx.runs.ranking(run.id)
            tx.write.runs.prune(run.id, summaries_only=holds is Holds.MEANS)
            tx.write.runs.restored(run.id, run.digest)
            is_of_means = holds is Holds.MEANS
            pruning = {"run_id": run.id, "created_at_utc": AT, "summaries_only": is_of_means, "kept_share": share}
            packed_ids, _ = packed(group_ids, np.zeros(group_ids.size))
            tx.write.copies.insert("prunings", [pruning | {"packed_group_ids": packed_ids}])
            if share:
                tx.write.runs.append(run.id, run.dataset_id, ranking.of_groups(np.arange(1)))


@pytest.fixture
def runs(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A run of each kind, by the name of the kind, and a whole one besides."""
    fill_as(fill)
    return tracker


def test_every_kind_is_known_by_what_is_stored(runs: nt.Tracker) -> None:
    assert list(KINDS) == list(Holds)
    assert GROUP in LABELS
    with runs.store().read() as tx:
        for kind, (parts, refusal) in KINDS.items():
            run = tx.runs.resolve(kind.name)
            assert tx.runs.holds(run.id) is kind
            for part in get_args(Part):
                assert (part in kind) == (part in parts), (kind, part)
                assert (run.id in tx.runs.without(part)) == (part not in parts), (kind, part)
                if part in parts:
                    tx.runs.require(part, run)
                    continue
                with pytest.raises(InputError) as refused:
                    tx.runs.require(part, run)
                assert str(refused.value) == f"run {kind.name!r} {refusal}"


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_question_needs_decides_which_kinds_answer(runs: nt.Tracker, tmp_path: Path, question: str) -> None:
    needed, ask = QUESTIONS[question]
    for kind, (parts, refusal) in KINDS.items():
        folder = tmp_path / kind.name
        folder.mkdir()
        is_of_sample = (question, kind) == ("explain", Holds.SAMPLE)  # the items of this group are there
        if needed in parts or is_of_sample:
            assert ask(runs, kind.name, folder) is not None
        else:
            with pytest.raises(InputError) as refused:
                ask(runs, kind.name, folder)
            assert str(refused.value) == f"run {kind.name!r} {refusal}", kind
