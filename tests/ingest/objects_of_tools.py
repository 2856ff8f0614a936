"""What other libraries really return, given to ``nt.evaluate`` as it is: ``python objects_of_tools.py TOOL``.

Every function ends with the same figure as the dict of the same scores. Its libraries are in ``PACKAGES``; none of them
is in the environment of the suite (``test_objects_of_tools.py`` makes one).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning

SCORES = {"q1": {"a": 0.9, "b": 0.5, "c": 0.25}, "q2": {"d": 0.75, "a": 0.5}}
LABELS = {"q1": {"b": 2, "c": 1}, "q2": {"a": 1}}
RELEVANT = {query: set(items) for query, items in LABELS.items()}
PACKAGES = {
    "langchain": ["langchain-core"],
    "llama_index": ["llama-index-core"],
    "haystack": ["haystack-ai"],
    "datasets": ["datasets"],
    "trectools": ["trectools"],
    "pyterrier": ["python-terrier"],
    "implicit": ["implicit"],
    "jax": ["jax"],
    "sentence_transformers": ["sentence-transformers"],  # with torch, some gigabytes
    "tensorflow": ["tensorflow-cpu"],
}


def same(given: object, labels: object = LABELS, *, told: str = "", **options: Any) -> None:
    """Check that a run has the figure of ``SCORES``, and that what is told of it begins so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = nt.evaluate(given, "ndcg@10", labels=labels, **options)["ndcg@10"]
    messages = [str(one.message) for one in caught if issubclass(one.category, NdcgTrackerWarning)]
    assert found == nt.evaluate(SCORES, "ndcg@10", labels=LABELS)["ndcg@10"], found
    assert [message.startswith(told) for message in messages] == ([True] if told else []), messages


def refused(given: object, begin: str, end: str = "") -> None:
    """Check how the refusal of a run begins and ends."""
    with pytest.raises(nt.InputError) as caught:
        nt.evaluate(given, labels=LABELS)
    assert str(caught.value).startswith(begin)
    assert str(caught.value).endswith(end)


BY_ORDER = "the run: its lists have no scores, so their order is the ranking"


def langchain() -> None:
    """Check documents with and without scores, and those of a store, whose ids stand in their metadata."""
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    pairs = {q: [(Document(i, id=i), score) for i, score in items.items()] for q, items in SCORES.items()}
    same(pairs)
    same({query: [document for document, _ in found] for query, found in pairs.items()}, told=BY_ORDER)
    same(
        {q: [(Document(i, metadata={"source": i}), s) for i, s in items.items()] for q, items in SCORES.items()},
        item="metadata.source",
    )
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts(["lamp", "tent", "sofa"], ids=["lamp", "tent", "sofa"])
    found = {query: store.similarity_search_with_score(query, k=3) for query in ("lamp", "tent")}
    assert nt.evaluate(found, "RR", labels={"lamp": {"lamp"}, "tent": {"tent"}})["RR"] == 1.0


def llama_index() -> None:
    """Check nodes with and without scores."""
    from llama_index.core.schema import NodeWithScore, TextNode

    def nodes(with_score: bool) -> dict[str, list[Any]]:
        return {
            query: [
                NodeWithScore(node=TextNode(text="", id_=item), score=score if with_score else None)
                for item, score in items.items()
            ]
            for query, items in SCORES.items()
        }

    same(nodes(True))
    same(nodes(False), told=BY_ORDER)


def haystack() -> None:
    """Check what a retriever of Haystack returns: documents with scores, ids in ``id`` or ``meta``."""
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    same({q: [Document(id=i, content=i, score=s) for i, s in items.items()] for q, items in SCORES.items()})
    same(
        {q: [Document(content=i, meta={"sku": i}, score=s) for i, s in items.items()] for q, items in SCORES.items()},
        item="meta.sku",
    )
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=text, content=text) for text in ("lamp", "tent", "sofa")])
    retriever = InMemoryBM25Retriever(store)
    found = {query: retriever.run(query=query)["documents"] for query in ("lamp", "tent")}
    assert nt.evaluate(found, "RR", labels={"lamp": {"lamp"}, "tent": {"tent"}})["RR"] == 1.0


def datasets() -> None:
    """Check a data set, a selection of one, one with lists, and the refusal of a dict of them."""
    import datasets as hf

    rows = [(query, item, score) for query, items in SCORES.items() for item, score in items.items()]
    columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
    data = hf.Dataset.from_dict(columns)
    same(data)
    same(data.shuffle(seed=1))
    doubled = hf.concatenate_datasets([data, data.map(lambda row: {"query_id": row["query_id"] + "x"})])
    same(doubled.select(range(len(rows))))
    labels = [(query, item, grade) for query, items in LABELS.items() for item, grade in items.items()]
    same(SCORES, hf.Dataset.from_list([{"group": q, "item": i, "label": g} for q, i, g in labels]))
    lists = {"group": list(SCORES), "item": list(map(list, SCORES.values()))}
    same(hf.Dataset.from_dict(lists), told=BY_ORDER)
    splits = "a DatasetDict has splits ('test'); give one split, such as data['test']"
    refused(hf.DatasetDict(test=data), splits)
    refused(data.to_iterable_dataset(), "a IterableDataset has not loaded its rows; call its .to_pandas() first")


def trectools() -> None:
    """Check a run and labels as trectools holds them."""
    import tempfile
    from pathlib import Path

    from trectools import TrecQrel, TrecRun

    with tempfile.TemporaryDirectory() as folder:
        run, qrels = Path(folder, "x.run"), Path(folder, "x.qrels")
        lines = [(q, i, rank, s) for q, items in SCORES.items() for rank, (i, s) in enumerate(items.items(), 1)]
        run.write_text("".join(f"{q} Q0 {i} {rank} {s} x\n" for q, i, rank, s in lines))
        qrels.write_text("".join(f"{q} 0 {i} {g}\n" for q, items in LABELS.items() for i, g in items.items()))
        same(TrecRun(str(run)), TrecQrel(str(qrels)))


def pyterrier() -> None:
    """Check the frames of a transformer, whose ranks begin at 0."""
    import pandas as pd
    import pyterrier as pt

    rows = [(query, item, score) for query, items in SCORES.items() for item, score in items.items()]
    frame = pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "docno", "score"]))
    assert frame["rank"].min() == 0
    same(frame)
    same(pt.Transformer.from_df(frame)(pd.DataFrame({"qid": list(SCORES), "query": ["", ""]})))


def implicit() -> None:
    """Check the two arrays that a model returns for several users."""
    import scipy.sparse
    from implicit.als import AlternatingLeastSquares  # codespell:ignore als

    bought = scipy.sparse.csr_matrix(np.random.default_rng(0).integers(0, 2, (20, 30)).astype(np.float32))
    model = AlternatingLeastSquares(factors=4, iterations=2, random_state=0)
    model.fit(bought, show_progress=False)
    users = np.arange(20)
    items, scores = model.recommend(users, bought, N=5, filter_already_liked_items=False)
    relevant = {user: set(bought[user].indices.tolist()) for user in users.tolist()}
    by_hand = {u: dict(zip(i.tolist(), s.tolist(), strict=True)) for u, i, s in zip(users, items, scores, strict=True)}
    table = {"group": users, "item": items, "score": scores}
    found = [nt.evaluate(given, "ndcg@5", labels=relevant)["ndcg@5"] for given in (table, by_hand)]
    assert found[0] == found[1], found


def columns() -> tuple[dict[str, list[Any]], list[float]]:
    """Return the columns of ``SCORES`` beside the scores, and these."""
    rows = [(query, item, score) for query, items in SCORES.items() for item, score in items.items()]
    queries, items, scores = map(list, zip(*rows, strict=True))
    return {"group": queries, "item": items}, scores


def jax() -> None:
    """Check arrays of one and of two dimensions."""
    import jax.numpy as jnp

    facts, scores = columns()
    for array in (jnp.array(scores), jnp.array(scores)[:, None]):
        same({**facts, "score": array})


def sentence_transformers() -> None:
    """Check what semantic_search returns, and tensors of torch."""
    import torch
    from sentence_transformers import util

    facts, scores = columns()
    tensor = torch.tensor(scores)
    for given in (tensor, tensor[:, None], list(tensor), tensor.double()):
        same({**facts, "score": given})
    unread = "column 'score' is a Tensor that NumPy cannot read ("
    refused({**facts, "score": tensor.clone().requires_grad_()}, unread, "; call its .detach().cpu() first")
    refused({**facts, "score": tensor.bfloat16()}, unread, "; call its .detach().cpu().float() first")
    found = util.semantic_search(torch.eye(4)[:2] + 0.1, torch.eye(4), top_k=3)
    assert nt.evaluate(found, "RR", labels={"0": {"0"}, "1": {"1"}})["RR"] == 1.0
    named = dict(zip(["q1", "q2"], found, strict=True))
    assert nt.evaluate(named, "RR", labels={"q1": {0}, "q2": {1}})["RR"] == 1.0


def tensorflow() -> None:
    """Check tensors, and what a model of Keras predicts: one column."""
    import keras
    import tensorflow as tf

    facts, scores = columns()
    same({**facts, "score": tf.constant(scores)})
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)])
    predicted = model.predict(np.array(scores, dtype=np.float32)[:, None], verbose=0)
    assert predicted.shape == (5, 1)
    same({**facts, "score": predicted})
    same({**facts, "score": list(predicted)})


if __name__ == "__main__":
    of_tool: Callable[[], None] = globals()[sys.argv[1]]
    of_tool()
