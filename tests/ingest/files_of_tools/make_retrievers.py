"""Writes what Haystack, LangChain and LlamaIndex write of the documents that they retrieve, a line per query.

``python make_retrievers.py FOLDER``, with haystack-ai (3.4), langchain-core (1.8) and llama-index-core (0.14).
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from langchain_core.documents import Document as LangchainDocument
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.load import dumpd
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core.schema import NodeWithScore, TextNode

QUERIES = {"q1": "bike light", "q2": "warm tent", "q3": "red lamp"}
CORPUS = {"d1": "a light for a bike", "d2": "a red bike", "d3": "a tent", "d4": "a warm red tent", "d5": "a lamp"}


def haystack() -> Callable[[str], object]:
    """Return what a retriever of Haystack gives: the dict that its component returns, documents as dicts."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=item, content=text) for item, text in CORPUS.items()])
    retriever = InMemoryBM25Retriever(store)
    return lambda text: {"documents": [found.to_dict() for found in retriever.run(text, top_k=2)["documents"]]}


def langchain() -> Callable[[str], object]:
    """Return what ``similarity_search_with_score`` gives: pairs of document and score, as ``dumpd`` writes them."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([LangchainDocument(id=item, page_content=text) for item, text in CORPUS.items()])
    return lambda text: {"found": dumpd(store.similarity_search_with_score(text, k=2))}


def llama_index() -> Callable[[str], object]:
    """Return nodes with scores, as ``to_dict`` writes them; the score is that of common words."""

    def found(text: str) -> object:
        scored = {item: len({*text.split()} & {*words.split()}) / 2 for item, words in CORPUS.items()}
        best = sorted(scored, key=lambda item: -scored[item])[:2]
        nodes = [NodeWithScore(node=TextNode(id_=item, text=CORPUS[item]), score=scored[item]) for item in best]
        return {"source_nodes": [node.to_dict() for node in nodes]}

    return found


def write(folder: Path) -> None:
    """Write a file per library."""
    for of in (haystack, langchain, llama_index):
        answer = of()
        lines = [json.dumps({"query_id": group, **answer(text)}) for group, text in QUERIES.items()]
        (folder / f"{of.__name__}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
