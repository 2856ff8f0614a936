"""An evaluator for sentence-transformers that stores each ranking, with the arguments of the library's own class."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_DATASET
from ndcg_tracker.errors import InputError, NameTakenError, argument
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage.checks import checked_name
from ndcg_tracker.storage.store import Store

_SIMILARITIES = ("cosine", "dot")
_ROUGHLY = 0.01


class InformationRetrievalEvaluator:
    """Ranks a corpus for each query by a model's embeddings, stores the run, and returns its means.

    sentence-transformers calls it like any evaluator, during and after training:
    ``SentenceTransformerTrainer(..., evaluator=InformationRetrievalEvaluator(queries, corpus, relevant_docs))``. The
    positional arguments are those of the library's class of the same name, and so are the names of the means:
    ``[NAME_]cosine_ndcg@10``, ``mrr``, ``accuracy``, ``precision``, ``recall`` and ``map``. The values are equal too,
    except for tied scores: here the higher id comes first, there the order is arbitrary.

    Parameters: ``queries``: id to text; those without relevant documents are left out. ``corpus``: id to text.
    ``relevant_docs``: query id to the ids of its relevant documents, or to ``{id: grade}``. ``similarity``: "cosine"
    or "dot", by default the model's own, else cosine. ``run``: the name of the run of the finished model, by
    default ``name``; during training ``RUN/step-000100`` or ``RUN/epoch-1``. ``dataset``, ``database``, ``tags``,
    ``replace``: see ``Tracker.ingest``. The largest cutoff decides how many documents per query are stored. Raises:
    InputError for a query without text, an invalid cutoff, and a ``map_at_k`` below the number of relevant documents,
    because there the library divides by the cutoff. Raises NameTakenError for a run of another model, if possible
    before the corpus is encoded.
    """

    greater_is_better = True

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        relevant_docs: Mapping[str, AnySet[str] | Mapping[str, float]],
        corpus_chunk_size: int = 50000,
        mrr_at_k: Sequence[int] = (10,),
        ndcg_at_k: Sequence[int] = (10,),
        accuracy_at_k: Sequence[int] = (1, 3, 5, 10),
        precision_recall_at_k: Sequence[int] = (1, 3, 5, 10),
        map_at_k: Sequence[int] = (100,),
        show_progress_bar: bool = False,
        batch_size: int = 32,
        name: str = "",
        *,
        similarity: str | None = None,
        run: str | None = None,
        dataset: str = DEFAULT_DATASET,
        database: str | os.PathLike[str] | None = None,
        tags: Mapping[str, str] | None = None,
        replace: bool = False,
    ) -> None:
        self._grades = {
            str(query): dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
            for query, relevant in relevant_docs.items()
            if len(relevant) and query in queries
        }
        if not self._grades:
            raise InputError("no query has a relevant document", advice="check the ids of queries and relevant_docs")
        if not corpus:
            raise InputError("the corpus is empty", advice="give {id: text}")
        if not any(document in corpus for relevant in self._grades.values() for document in relevant):
            raise InputError("no relevant document is in the corpus", advice="check the ids of both")
        self._queries = {str(query): queries[query] for query in queries if str(query) in self._grades}
        self._corpus = {str(document): text for document, text in corpus.items()}
        most_relevant = max(len(relevant) for relevant in self._grades.values())
        if any(cutoff < most_relevant for cutoff in map_at_k):
            raise InputError(
                f"sentence-transformers divides map@{min(map_at_k)} by {min(map_at_k)} if a query has more relevant "
                f"documents (here up to {most_relevant}), but ours divides by all of them",
                advice=f"give map_at_k of at least {most_relevant}, or () for none",
            )
        self._names = {
            f"{theirs}@{cutoff}": f"{ours}@{cutoff}"
            for theirs, ours, cutoffs in (
                ("ndcg", "ndcg", ndcg_at_k),
                ("mrr", "RR(ties=item_desc)", mrr_at_k),
                ("accuracy", "Success", accuracy_at_k),
                ("precision", "P", precision_recall_at_k),
                ("recall", "R", precision_recall_at_k),
                ("map", "AP", map_at_k),
            )
            for cutoff in cutoffs
        }
        if not self._names:
            raise InputError("there is no cutoff", advice="give ndcg_at_k")
        self._depth = max(max(cutoffs, default=1) for cutoffs in (
            mrr_at_k, ndcg_at_k, accuracy_at_k, precision_recall_at_k, map_at_k
        ))  # fmt: skip
        if similarity not in (None, *_SIMILARITIES):
            raise InputError(f"{argument('similarity', similarity)} is unknown", advice="give cosine or dot")
        self.name, self._run = name, run or name
        checked_name("run", self._run)
        self._similarity, self._dataset, self._tags, self._replace = similarity, dataset, dict(tags or {}), replace
        self._chunk, self._encoding = (
            corpus_chunk_size,
            {"batch_size": batch_size, "show_progress_bar": show_progress_bar},
        )
        self.primary_metric = ""
        with Tracker(database) as tracker:
            self._database = tracker.location

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Store the run of a model and return its means by their names in sentence-transformers.

        ``primary_metric`` is the first of them. ``output_path`` is ignored: the store has the results. Raises:
        NameTakenError.
        """
        kind = self._similarity or str(getattr(model, "similarity_fn_name", None) or "cosine")
        if kind not in _SIMILARITIES:
            raise InputError(
                f"the model ranks by {kind}",
                advice=f"give {argument('similarity', 'cosine')} or {argument('similarity', 'dot')}",
            )
        stage = f"/step-{steps:06}" if steps != -1 else f"/epoch-{epoch:g}" if epoch != -1 else ""
        place = {"epoch": f"{epoch:g}"} if epoch != -1 else {}
        place |= {"step": str(steps)} if steps != -1 else {}
        name = self._run + stage
        taken = NameTakenError(
            f"run {name!r} of dataset {self._dataset!r} is already stored, but this model ranks differently",
            advice=(
                f"keep both with {argument('run', self._run + '-2')}, or replace it with {argument('replace', True)}"
            ),
        )
        with Tracker(self._database) as tracker:
            if not self._replace and self._is_taken(tracker.store(create=True), name, model, kind):
                raise taken
            try:
                result = tracker.ingest(
                    self._ranked(model, kind),
                    name=name,
                    labels=self._grades,
                    dataset=self._dataset,
                    metrics=list(self._names.values()),
                    parameters={"similarity": kind, **place},
                    tags={**self._tags, "training": self._run, "stage": "iteration" if stage else "final"},
                    replace=self._replace,
                    allow="no-overlap",  # an untrained model may find no relevant document
                )
            except NameTakenError:
                raise taken from None
        prefix = f"{self.name}_{kind}_" if self.name else f"{kind}_"
        means = {evaluated.metric: evaluated.mean for evaluated in result.metrics}
        by_name = {prefix + theirs: means[ours] for theirs, ours in self._names.items()}
        self.primary_metric = next(iter(by_name))
        return {name: float("nan") if mean is None else mean for name, mean in by_name.items()}

    def _is_taken(self, store: Store, name: str, model: Any, kind: str) -> bool:
        """Return whether a run of this name is certainly a different one.

        Its size shows it, or the scores that the model gives to the stored documents of one query: these are quick to
        encode, all others are not. Scores are compared roughly, because batches of other lengths round differently.
        """
        query, text = next(iter(self._queries.items()))
        with store.read() as tx:
            dataset = tx.datasets.named(self._dataset)
            run = None if dataset is None else tx.runs.named(dataset.id, name)
            if run is None or "items" not in tx.runs.holds(run.id):
                return False
            n_documents = min(self._depth, len(self._corpus))
            if (run.n_groups, run.n_items) != (len(self._queries), len(self._queries) * n_documents):
                return True
            ids = tx.groups.ids(run.dataset_id, Keys.from_strings([query]))
            stored = tx.runs.ranking(run.id, ids[ids >= 0])
        documents = stored.item_keys.to_list()
        if not documents or not self._corpus.keys() >= set(documents):
            return True
        of_query = self._embedded(model, "encode_query", [text], kind)
        of_documents = self._embedded(
            model, "encode_document", [self._corpus[document] for document in documents], kind
        )
        scores = (of_query @ of_documents.T)[0]
        return not np.allclose(scores, stored.scores, rtol=0, atol=_ROUGHLY * float(np.abs(stored.scores).max()))

    def _ranked(self, model: Any, kind: str) -> dict[str, Any]:
        """Return the best documents of each query: columns group, item and score."""
        queries = self._embedded(model, "encode_query", list(self._queries.values()), kind)
        ids, texts = np.array(list(self._corpus), dtype=object), list(self._corpus.values())
        places: list[NDArray[np.int64]] = []
        scores: list[NDArray[np.floating[Any]]] = []
        for start in range(0, len(texts), self._chunk):
            documents = self._embedded(model, "encode_document", texts[start : start + self._chunk], kind)
            of_chunk = queries @ documents.T
            best = np.argpartition(-of_chunk, min(self._depth, of_chunk.shape[1]) - 1, axis=1)[:, : self._depth]
            places.append(best + start)
            scores.append(np.take_along_axis(of_chunk, best, axis=1))
        place, score = np.concatenate(places, axis=1), np.concatenate(scores, axis=1)
        kept = np.argsort(-score, axis=1, kind="stable")[:, : self._depth]
        place, score = np.take_along_axis(place, kept, axis=1), np.take_along_axis(score, kept, axis=1)
        return {
            "group": np.repeat(np.array(list(self._queries), dtype=object), place.shape[1]),
            "item": ids[place.ravel()],
            "score": score.ravel().astype(np.float64),
        }

    def _embedded(self, model: Any, method: str, texts: list[str], kind: str) -> NDArray[np.floating[Any]]:
        encode = getattr(model, method, model.encode)
        embeddings = np.asarray(encode(texts, convert_to_numpy=True, **self._encoding))
        if kind == "dot":
            return embeddings
        lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
        return np.asarray(embeddings / np.where(lengths > 0, lengths, 1))
