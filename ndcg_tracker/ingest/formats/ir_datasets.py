"""Labels by the name that the package ir_datasets has for them."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.places import RowPlaces
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.table import label_lists
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists

IR_DATASETS = "ir_datasets:"


def ir_datasets_labels(name: str) -> LabelLists:
    """Return the labels (qrels) of a dataset; the package may download them, and keeps what it has downloaded.

    Raises: InputError, one line, where the package is not installed, does not know the dataset, cannot get it, or the
    dataset has no labels.
    """
    try:
        import ir_datasets
    except ImportError:
        raise InputError(f"{IR_DATASETS}{name} needs a package", advice="install it: pip install ir_datasets") from None
    where = f"{IR_DATASETS}{name}"
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            "no dataset of this name", where=where, advice="see https://ir-datasets.com for the names"
        ) from None
    if not dataset.has_qrels():
        subsets = [one for one in ir_datasets.registry if one.startswith(f"{name}/")]
        labelled = ", ".join([one for one in subsets if ir_datasets.load(one).has_qrels()][:10])
        raise InputError(
            "a dataset without labels", where=where, advice=f"choose one that has some{labelled and f': {labelled}'}"
        )
    try:
        found = [(one.query_id, one.doc_id, one.relevance) for one in dataset.qrels_iter()]
    except Exception as error:  # the network, the disk, a licence: it raises many kinds
        first = error.args[0] if error.args and isinstance(error.args[0], str) else error
        reason = " ".join(str(first).split())[:200] or type(error).__name__
        raise InputError(
            f"its labels cannot be fetched ({reason})", where=where, advice="fetch them as ir_datasets says"
        ) from None
    groups, items, grades = zip(*found, strict=True) if found else ((), (), ())
    rows = Rows(
        Keys.from_strings(groups),
        np.ones(len(groups), dtype=np.int64),
        Keys.from_strings(items),
        grades=np.array(grades, dtype=np.float64),
    ).merged()
    return label_lists(rows, RowPlaces(where))
