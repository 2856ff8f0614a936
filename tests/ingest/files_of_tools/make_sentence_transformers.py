"""Writes what sentence-transformers writes of its predictions, from a tiny model that was never trained.

``python make_sentence_transformers.py FOLDER``, with sentence-transformers (6.2) and torch installed.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

QUERIES = {"q1": "bike light", "q2": "warm tent", "q3": "red lamp"}
CORPUS = {"d1": "a light for a bike", "d2": "a red bike", "d3": "a tent", "d4": "a warm red tent", "d5": "a lamp"}
RELEVANT = {"q1": {"d1"}, "q2": {"d4", "d3"}, "q3": {"d5"}}


def tiny_model() -> SentenceTransformer:
    """Return a model with a random vector per word."""
    torch.manual_seed(1)
    words = sorted({word for text in [*QUERIES.values(), *CORPUS.values()] for word in text.split()})
    vocabulary = {"[UNK]": 0} | {word: number for number, word in enumerate(words, 1)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu")


def write(folder: Path) -> None:
    """Write the predictions of cosine similarity."""
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="shop", write_predictions=True)
    with TemporaryDirectory() as written:
        evaluator(tiny_model(), output_path=written)
        [predictions] = Path(written).glob("*_predictions_*.jsonl")
        (folder / "sentence_transformers_predictions.jsonl").write_bytes(predictions.read_bytes())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
