"""The evaluator for sentence-transformers: the values of the library's formulas, by a model that only encodes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NameTakenError
from ndcg_tracker.integrations.sentence_transformers import InformationRetrievalEvaluator

QUERIES = {f"q{number}": f"query {number}" for number in range(8)}
CORPUS = {f"d{number:02}": f"text {number}" for number in range(40)}
RELEVANT = {f"q{number}": {f"d{(7 * number + step) % 40:02}" for step in range(1 + number % 4)} for number in range(7)}


class Model:
    """Texts to vectors; sentence-transformers itself brings gigabytes."""

    similarity_fn_name = "cosine"

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.n_encoded = seed, 0

    def encode(self, texts: list[str], **options: Any) -> np.ndarray[Any, Any]:
        assert options == {"convert_to_numpy": True, "batch_size": 32, "show_progress_bar": False}
        self.n_encoded += len(texts)
        rows = [np.random.default_rng(sum(map(ord, text)) * len(text) + self.seed).normal(size=16) for text in texts]
        return np.array(rows, dtype=np.float32)


def expected(kind: str) -> dict[str, float]:
    """Return the means by the formulas of sentence-transformers' InformationRetrievalEvaluator, query by query."""
    model, found = Model(), dict[str, list[float]]()
    documents = model.encode(list(CORPUS.values()), convert_to_numpy=True, batch_size=32, show_progress_bar=False)
    for query, relevant in RELEVANT.items():
        (vector,) = model.encode([QUERIES[query]], convert_to_numpy=True, batch_size=32, show_progress_bar=False)
        scores = documents @ vector
        if kind == "cosine":
            scores = scores / np.linalg.norm(documents, axis=1) / np.linalg.norm(vector)
        hits = [name in relevant for _, name in sorted(zip(scores, CORPUS, strict=True), reverse=True)]
        for k in (1, 3, 5, 10):
            found.setdefault(f"accuracy@{k}", []).append(float(any(hits[:k])))
            found.setdefault(f"precision@{k}", []).append(sum(hits[:k]) / k)
            found.setdefault(f"recall@{k}", []).append(sum(hits[:k]) / len(relevant))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(relevant))))
        found.setdefault("ndcg@10", []).append(
            sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits[:10])) / ideal
        )
        found.setdefault("mrr@10", []).append(next((1 / (rank + 1) for rank, hit in enumerate(hits[:10]) if hit), 0.0))
        precisions = [sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits[:100]) if hit]
        found.setdefault("map@100", []).append(sum(precisions) / min(100, len(relevant)))
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.parametrize("kind", ["cosine", "dot"])
@pytest.mark.parametrize("chunk", [50000, 7])
def test_the_means_are_those_of_the_library(tmp_path: Path, kind: str, chunk: int) -> None:
    evaluator = InformationRetrievalEvaluator(
        QUERIES, CORPUS, RELEVANT, chunk, name="dev", similarity=kind, database=tmp_path / "db"
    )
    found = evaluator(Model())
    wanted = {f"dev_{kind}_{name}": value for name, value in expected(kind).items()}
    assert found == {name: pytest.approx(value, abs=1e-12) for name, value in wanted.items()}
    assert evaluator.primary_metric == f"dev_{kind}_ndcg@10"


def test_each_call_is_a_run(tmp_path: Path) -> None:
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", database=tmp_path / "db")
    for place in ({"epoch": 0.5, "steps": 100}, {"epoch": 1}, {}):
        evaluator(Model(), str(tmp_path), **place)
    with nt.Tracker(tmp_path / "db") as tracker:
        runs = {run.name: run for run in tracker.runs()}
    assert list(runs) == ["dev/step-000100", "dev/epoch-1", "dev"]
    assert runs["dev/step-000100"].parameters == {"similarity": "cosine", "epoch": "0.5", "step": "100"}
    assert runs["dev"].tags == {"training": "dev", "stage": "final"}


def test_grades_count(tmp_path: Path) -> None:
    graded = {"q0": {"d00": 3.0, "d01": 1.0}}
    given = {"mrr_at_k": (), "accuracy_at_k": (), "precision_recall_at_k": (), "map_at_k": ()}
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, graded, name="dev", database=tmp_path / "db", **given)
    found = evaluator(Model())
    with nt.Tracker(tmp_path / "db") as tracker:
        items = tracker.sql("SELECT group_key, item_key, score FROM items")
    run = {"q0": dict(zip(items["item_key"], items["score"], strict=True))}
    assert found == {"dev_cosine_ndcg@10": nt.evaluate(run, "ndcg@10", labels=graded).mean.iloc[0]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"relevant_docs": {}}, "no query has a relevant document; check the ids of queries and relevant_docs"),
        ({"corpus": {}}, "the corpus is empty; give {id: text}"),
        ({"similarity": "euclidean"}, "similarity='euclidean' is unknown; give cosine or dot"),
        (
            {"map_at_k": (2,)},
            "sentence-transformers divides map@2 by 2 if a query has more relevant documents (here up to 4), but "
            "ours divides by all of them; give map_at_k of at least 4, or () for none",
        ),
        (
            dict.fromkeys(("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k"), ()),
            "there is no cutoff; give ndcg_at_k",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    given = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": RELEVANT, "name": "dev", **changed}
    with pytest.raises(InputError) as refused:
        InformationRetrievalEvaluator(**given, database=tmp_path / "db")
    assert str(refused.value) == said


def test_a_model_that_ranks_by_distance(tmp_path: Path) -> None:
    model = Model()
    model.similarity_fn_name = "euclidean"
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", database=tmp_path / "db")
    with pytest.raises(InputError) as refused:
        evaluator(model)
    assert str(refused.value) == "the model ranks by euclidean; give similarity='cosine' or similarity='dot'"


TOP_10 = {"accuracy_at_k": (1,), "precision_recall_at_k": (10,), "map_at_k": (10,)}
TAKEN = (
    "run 'dev' of dataset 'default' is already stored, but this model ranks differently; keep both with run='dev-2', "
    "or replace it with replace=True"
)


def test_another_model_under_a_name_is_refused_before_the_corpus_is_encoded(tmp_path: Path) -> None:
    given = {**TOP_10, "name": "dev", "database": tmp_path / "db"}
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **given)
    means = evaluator(Model())
    again = Model()
    assert evaluator(again) == means
    assert again.n_encoded == len(RELEVANT) + len(CORPUS) + 11
    other = Model(seed=1)
    with pytest.raises(NameTakenError) as refused:
        evaluator(other)
    assert (str(refused.value), other.n_encoded) == (TAKEN, 11)  # a query and its ten stored documents
    for queries, corpus in ((list(QUERIES)[1:], CORPUS), (QUERIES, {**CORPUS, "d00": "text", "d41": "more"})):
        asked = {query: QUERIES[query] for query in queries}
        changed = InformationRetrievalEvaluator(asked, corpus, RELEVANT, **given)
        with pytest.raises(NameTakenError) as refused:
            changed(Model())
        assert str(refused.value) == TAKEN
    assert InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **given, run="dev-2")(other).keys() == means.keys()
    assert InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **given, replace=True)(other) != means


def test_a_model_that_differs_little_is_refused_once_it_has_ranked(tmp_path: Path) -> None:
    class Finer(Model):
        def encode(self, texts: list[str], **options: Any) -> np.ndarray[Any, Any]:
            return super().encode(texts, **options) + np.float32(1e-5)

    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", database=tmp_path / "db")
    evaluator(Model())
    with pytest.raises(NameTakenError) as refused:
        evaluator(Finer())
    assert str(refused.value) == TAKEN


def test_a_pruned_run_of_the_name_is_restored(tmp_path: Path) -> None:
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", database=tmp_path / "db")
    means = evaluator(Model())
    with nt.Tracker(tmp_path / "db") as tracker:
        tracker.prune("2100-01-01", apply=True)
        assert evaluator(Model()) == means
        assert tracker.pruned_at(tracker.run("dev")[0]) is None
