"""Writes what MTEB writes of a task: its predictions and its results, from a tiny model that was never trained.

``python make_mteb.py FOLDER``, with mteb (2.26), sentence-transformers and torch installed; nothing is downloaded.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import mteb
from make_sentence_transformers import CORPUS, QUERIES, RELEVANT, tiny_model
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.cache import ResultCache


class Shop(AbsTaskRetrieval):
    """A task of three queries and five documents."""

    metadata = mteb.TaskMetadata(
        name="Shop",
        description="queries of a shop",
        dataset={"path": "made/here", "revision": "1"},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
    )

    def load_data(self, *_: object, **__: object) -> None:
        """Take the texts and labels from here."""
        if not self.data_loaded:
            self.queries = {"test": QUERIES}
            self.corpus = {"test": {item: {"text": text} for item, text in CORPUS.items()}}
            self.relevant_docs = {"test": {group: dict.fromkeys(sorted(items), 1) for group, items in RELEVANT.items()}}
            self.convert_v1_dataset_format_to_v2(None)
            self.data_loaded = True


def write(folder: Path) -> None:
    """Write both files."""
    with TemporaryDirectory() as written:
        predicted, cache = Path(written) / "predicted", ResultCache(Path(written) / "cache")
        mteb.evaluate(tiny_model(), Shop(), prediction_folder=predicted, cache=cache, show_progress_bar=False)
        [predictions] = predicted.rglob("Shop_predictions.json")
        (folder / "mteb_predictions.json").write_bytes(predictions.read_bytes())
        [results] = (Path(written) / "cache").rglob("Shop.json")
        (folder / "mteb_results.json").write_bytes(results.read_bytes())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
