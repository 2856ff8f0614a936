"""An evaluator for sentence-transformers that stores the ranking of each call: copy the class into your training.

Give it as SentenceTransformerTrainer(..., evaluator=StoredRanking(...)). The runs of a training are NAME/step-000100 or
NAME/epoch-1 with the tag stage=iteration; that of the finished model is NAME. The names of the means in
sentence-transformers, and how to write them here, are in docs/dialects/index.md.

Run it with: python examples/sentence_transformers_evaluator.py (its model only encodes; the library has gigabytes)
"""

import numpy as np

from ndcg_tracker import Tracker


class StoredRanking:
    """Ranks a corpus ({id: text}) for queries ({id: text}) with relevant documents ({query: {document: grade}})."""

    greater_is_better, primary_metric = True, "ndcg@10"

    def __init__(self, queries, corpus, relevant, name, dataset="default", depth=100):
        self.queries, self.corpus, self.relevant = queries, corpus, relevant
        self.name, self.dataset, self.depth = name, dataset, depth

    def __call__(self, model, output_path=None, epoch=-1, steps=-1):
        stage = f"/step-{steps:06}" if steps != -1 else f"/epoch-{epoch:g}" if epoch != -1 else ""
        vectors = [
            np.asarray(encode(list(texts.values()), convert_to_numpy=True))
            for encode, texts in (
                (getattr(model, "encode_query", model.encode), self.queries),
                (getattr(model, "encode_document", model.encode), self.corpus),
            )
        ]
        queries, documents = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors)
        scores, ids = queries @ documents.T, list(self.corpus)
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.depth]
        run = {
            query: {ids[place]: float(of_query[place]) for place in places}
            for query, of_query, places in zip(self.queries, scores, best, strict=True)
        }
        with Tracker() as tracker:
            stored = tracker.ingest(
                run,
                name=self.name + stage,
                labels=self.relevant,
                dataset=self.dataset,
                metrics=["ndcg@10", "RR@10", "R@100"],
                tags={"training": self.name, "stage": "iteration" if stage else "final"},
            )
        return {each.metric: each.mean for each in stored.metrics}


class Letters:
    """Stands for a SentenceTransformer."""

    def encode(self, texts, **options):
        return np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], float)


if __name__ == "__main__":
    corpus = {"d1": "shoes in red", "d2": "a long garden hose", "d3": "tea"}
    queries = {"q1": "red shoes", "q2": "garden hose"}
    evaluator = StoredRanking(queries, corpus, {"q1": {"d1": 1}, "q2": {"d2": 1}}, name="letters")
    print(evaluator(Letters(), epoch=1))
    print(evaluator(Letters()))
