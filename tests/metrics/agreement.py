"""Our values compared with those of other tools, which ``conformance/`` holds."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ndcg_tracker.api.evaluation import Evaluation, evaluate_blocks
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.frames import read_frame
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.language.dialects import DIALECTS

DATA = Path(__file__).parent / "conformance"
PRINTED = 5e-5 + 1e-12
"""Half a unit of the fourth decimal: the command line programs print no more than that."""
TOLERANCE_OF = {"trec_eval_9": PRINTED, "trec_eval_10": PRINTED}
RUNS_ONLY = ("recbole", "torchmetrics")
"""Tools without values of groups: what is recorded for a group is their answer to a run of that group alone."""

REFUSED = "refused"
UNDEFINED = "undefined"
Answer = float | str

BITS, WITHIN, BOTH_UNDEFINED, BOTH_REFUSE = "equal to the bit", "within tolerance", "undefined by both", "both refuse"
WE_REFUSE, THEY_REFUSE, OTHER_VALUE = "only we refuse", "only they refuse", "another value"
AGREEMENTS = (BITS, WITHIN, BOTH_UNDEFINED, BOTH_REFUSE)


@dataclass(frozen=True)
class Comparison:
    """One value of one tool and ours: ``what`` is a group or the mean, ``outcome`` one of the words above."""

    peer: str
    case: str
    metric: str
    what: str
    theirs: Answer
    ours: Answer
    outcome: str

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.outcome in AGREEMENTS


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of one file of ``conformance/``."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


CASES = {case["id"]: case for case in rows_of("cases")}
RESULTS = rows_of("results")
HAND = rows_of("hand")
PEERS = tuple(dict.fromkeys(result["peer"] for result in RESULTS))


@cache
def _table(case: str, alone: str | None) -> RankedTable | None:
    """Return a case, or one of its groups without weights, as a frame is read; None where the frame is refused."""
    rows = [
        (group["group"], item, score, label, (weight or [group.get("weight")])[0])
        for group in CASES[case]["groups"]
        if alone in (None, group["group"])
        for item, label, score, *weight in group["items"]
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 5
    names = ("group", "item", "score", "label", "weight")
    frame: dict[str, Any] = {name: list(column) for name, column in zip(names, columns, strict=True)}
    for name in ("label", "weight"):
        frame[name] = np.array([math.nan if number is None else float(number) for number in frame[name]])
    frame["score"] = [None if number is None else float(number) for number in frame["score"]]  # null: not retrieved
    weighted = alone is None and not np.isnan(frame["weight"]).all()
    if not weighted:
        del frame["weight"]
    try:
        return read_frame(
            frame, Columns(group="group", item="item", score="score", weight="weight" if weighted else None)
        )
    except InputError:
        return None


@cache
def evaluation(case: str, metric: str, alone: str | None = None) -> Evaluation | None:
    """Return what a metric says of a case, or of one of its groups; None where it is refused."""
    table = _table(case, alone)
    try:
        return None if table is None else evaluate_blocks([table], None, [metric])
    except InputError:
        return None


def our_mean(case: str, metric: str, alone: str | None = None) -> Answer:
    """Return our mean over a case, or over one of its groups."""
    found = evaluation(case, metric, alone)
    if found is None:
        return REFUSED
    mean = found.results[0].mean
    return UNDEFINED if mean is None else mean


def our_value(case: str, metric: str, group: str) -> Answer:
    """Return our value of one group: where the whole run is refused, that of a run of this group alone."""
    found = evaluation(case, metric) or evaluation(case, metric, group)
    if found is None:
        return REFUSED
    result = found.results[0]
    values = dict(zip(result.group_keys.to_list(), result.values.tolist(), strict=True))
    value = values.get(group, math.nan)
    return UNDEFINED if math.isnan(value) else value


def outcome_of(theirs: Answer, ours: Answer, tolerance: float) -> str:
    """Return how two answers relate."""
    if ours == theirs:
        return {REFUSED: BOTH_REFUSE, UNDEFINED: BOTH_UNDEFINED}.get(str(ours), BITS)
    if ours == REFUSED:
        return WE_REFUSE
    if theirs == REFUSED:
        return THEY_REFUSE
    both = isinstance(ours, float) and isinstance(theirs, float)
    return WITHIN if both and abs(float(ours) - float(theirs)) <= tolerance else OTHER_VALUE


def _theirs(result: dict[str, Any]) -> dict[str, Answer]:
    """Return a tool's answer for each group, and for the mean where it has one."""
    refused = result.get("refused", [])
    answers: dict[str, Answer] = {}
    for group in (group["group"] for group in CASES[result["case"]]["groups"]):
        if group in refused or (group not in result.get("per_group", {}) and "mean" in refused):
            answers[group] = REFUSED
        elif "per_group" in result:
            answers[group] = _number(result["per_group"].get(group, "NaN"))
    if "mean" in refused:
        answers["mean"] = REFUSED
    elif "mean" in result:
        answers["mean"] = _number(result["mean"])
    return answers


def _number(recorded: float | str) -> Answer:
    return UNDEFINED if math.isnan(float(recorded)) else float(recorded)


@cache
def comparisons(peer: str) -> tuple[Comparison, ...]:
    """Return every value of a tool, with ours."""
    found = []
    for result in RESULTS:
        if result["peer"] != peer:
            continue
        case, metric = result["case"], result["metric"]
        tolerance = TOLERANCE_OF.get(peer, DIALECTS[metric.partition(":")[0].partition("(")[0]].tolerance)
        for what, theirs in _theirs(result).items():
            if what == "mean":
                ours = our_mean(case, metric)
            elif peer in RUNS_ONLY:
                ours = our_mean(case, metric, what)
            else:
                ours = our_value(case, metric, what)
            found.append(Comparison(peer, case, metric, what, theirs, ours, outcome_of(theirs, ours, tolerance)))
    return tuple(found)
