"""What a team might do to a tracker, made by a random source: the same steps for any database."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import ndcg_tracker as nt
from ndcg_tracker.ingest.reading import read_labels

from .hostile_texts import HOSTILE_TEXTS

Step = Callable[[nt.Tracker], object]

METRICS = (
    *("ndcg@10", "ndcg", "ndcg(gain=exp2)@5", "ndcg(missing=skip)@3", "ndcg(weights=group)@10", "ndcg(ties=average)@2"),
    *("dcg@3", "AP", "RR", "P@2", "R@5", "trec_eval:ndcg_cut_10", "lightgbm:ndcg@5", "xgboost:ndcg@3"),
    *("catboost:NDCG:top=3;type=Exp", "ndcg(empty=skip)@10", "ndcg(unjudged=drop)@10", "ndcg(negative=keep)@4"),
)
_NAMES = tuple(text for text in HOSTILE_TEXTS if text.isprintable() and 0 < len(text) < 60 and text[0] != "@")
_KEYS = tuple(text for text in HOSTILE_TEXTS if len(text) < 60)
_NUMBERS = (
    0.1,
    1 / 3,
    2.5,
    1e-300,
    4.9e-324,
    1.7976931348623157e308,
    -7.25,
    0.1 + 0.2,
    12345.678901234567,
    2**53 + 2.0,
)
_WHOLE = ((0,), (0, 1), (0, 1, 2, 3))
_GRADES = ((0.5, 1 / 3, 2.0), (-1, 0, 2), (0.1 + 0.2, 0.7), (0,))


def steps(seed: int) -> list[tuple[str, Step]]:
    """Return named steps that fill a database; some of them are refused, by every engine alike."""
    random = Random(seed)
    found: list[tuple[str, Step]] = []
    for number in range(random.randint(1, 3)):
        name = "default" if number == 0 else random.choice(_NAMES) + str(number)
        found += _dataset(random, name)
    return found


def datasets(seed: int) -> list[tuple[str, list[str]]]:
    """Return the datasets that the steps make, with the names of their runs."""
    found: dict[str, list[str]] = {}
    for what, _ in steps(seed):
        kind, _, rest = what.partition("\0")
        if kind == "ingest":
            dataset, _, run = rest.partition("\0")
            found.setdefault(dataset, []).append(run)
    return list(found.items())


def _dataset(random: Random, dataset: str) -> list[tuple[str, Step]]:
    groups = random.sample(_KEYS, random.randint(1, 12))
    items = random.sample(_KEYS, random.randint(2, 9))
    whole = random.random() < 0.7  # most tools' metrics take whole grades from 0 only
    labels = _labels(random, groups, items, whole=whole)
    usable = [metric for metric in METRICS if metric != "ndcg@10" and (whole or ":" not in metric)]
    metrics = ["ndcg@10", *random.sample(usable, random.randint(0, 4))]
    runs = [f"{random.choice(_NAMES)}{place}" for place in range(random.randint(2, 4))]
    found: list[tuple[str, Step]] = []
    for place, run in enumerate(runs):
        frame = _run(random, groups, items)
        given = {**metrics_of(random, metrics), **_facts(random)}
        judged = labels if place == 0 else None
        found.append((f"ingest\0{dataset}\0{run}", _ingest(frame, run, dataset, judged, given)))
        if random.random() < 0.3:
            found.append(("again", _ingest(frame, run, dataset, None, given)))
        if random.random() < 0.2:
            other = _run(random, groups, items)
            found.append(("other content", _ingest(other, run, dataset, None, given)))
            found.append(("replace", _ingest(other, run, dataset, None, {**given, "replace": True})))
        if place == 1 and random.random() < 0.7:
            found.append(("groups", _groups(random, groups, dataset)))
            found.append(("texts", _texts(groups, items, dataset)))
    if random.random() < 0.7:
        found.append(("labels", _add_labels(_labels(random, groups, items, whole=whole), dataset)))
        chosen = random.sample(runs, random.randint(1, len(runs)))
        found.append(("rescore", lambda tracker: tracker.rescore(chosen, dataset=dataset)))
    if random.random() < 0.5:
        more = random.sample(usable, 2)
        found.append(("metrics", lambda tracker: tracker.rescore(runs, metrics=more, dataset=dataset)))
    found += _housekeeping(random, dataset, runs)
    return found


def metrics_of(random: Random, metrics: list[str]) -> dict[str, Any]:
    """Return the metrics of one run: those of the dataset, now and then without the last one."""
    return {"metrics": metrics[: len(metrics) - (len(metrics) > 1 and random.random() < 0.2)]}


def _facts(random: Random) -> dict[str, Any]:
    facts: dict[str, Any] = {"tags": {}, "parameters": {}}
    for name in facts:
        facts[name] = {random.choice(_KEYS): random.choice(_KEYS) for _ in range(random.randint(0, 3))}
    if random.random() < 0.5:
        facts["tags"]["aa"] = "same"
    if random.random() < 0.5:
        facts["git_commit"] = f"{random.getrandbits(160):040x}"
    return facts


def _ingest(
    frame: dict[str, Any], run: str, dataset: str, labels: dict[str, Any] | None, options: dict[str, Any]
) -> Step:
    given = {"labels": labels, "item": "item", "allow": "no-overlap", **options}
    return lambda tracker: tracker.ingest(frame, name=run, dataset=dataset, **given)


def _add_labels(labels: dict[str, Any], dataset: str) -> Step:
    import io
    import json

    rows = zip(*(labels[name] for name in ("group", "item", "label")), strict=True)
    lines = "".join(json.dumps(dict(zip(("group", "item", "label"), row, strict=True))) + "\n" for row in rows)
    found = read_labels("-", reader="jsonl", stdin=io.BytesIO(lines.encode()))
    return lambda tracker: tracker.add_labels(found, dataset=dataset, replace=True)


def _labels(random: Random, groups: list[str], items: list[str], *, whole: bool) -> dict[str, Any]:
    """Return labels of most groups, some of them all 0, some fractional, one at least."""
    rows = []
    for group in groups:
        if random.random() < 0.85 or group == groups[0]:
            grades = random.choice(_WHOLE if whole else _GRADES)
            judged = random.sample(items, random.randint(1, len(items)))
            rows += [(group, item, random.choice(grades)) for item in judged]
    return dict(zip(("group", "item", "label"), map(list, zip(*rows, strict=True)), strict=True))


def _run(random: Random, groups: list[str], items: list[str]) -> dict[str, Any]:
    """Return a run over most groups, with ties, perhaps with an item that nobody has judged."""
    rows = []
    for group in groups:
        if random.random() < 0.9 or group == groups[0]:
            ties = random.random() < 0.4
            listed = random.sample([*items, "unjudged"], random.randint(1, len(items)))
            for item in listed:
                score = float(random.randint(0, 2)) if ties else random.uniform(-9, 9)
                rows.append((group, item, random.choice(_NUMBERS) if random.random() < 0.1 else score))
    return dict(zip(("group", "item", "score"), map(list, zip(*rows, strict=True)), strict=True))


def _groups(random: Random, groups: list[str], dataset: str) -> Step:
    frame: dict[str, Any] = {"group": groups, "kind": [random.choice(("a", "b", None)) for _ in groups]}
    name = random.choice([key for key in _KEYS if key.strip() and key not in frame])
    frame[name] = [random.choice((*_NUMBERS, 3, None)) for _ in groups]
    if random.random() < 0.5:
        frame["weight"] = [random.choice((0, 1, 2.5, 1 / 3)) for _ in groups]
    return lambda tracker: tracker.set_groups(frame, dataset=dataset)


def _texts(groups: list[str], items: list[str], dataset: str) -> Step:
    random = Random(f"{groups} {items}")  # its own: what is drawn for others stays
    pairs = [*((group, None) for group in groups), *((None, item) for item in items), (groups[0], items[0])]
    frame: dict[str, Any] = {"group": [group for group, _ in pairs], "item": [item for _, item in pairs]}
    for name in ("text", "title", "url"):
        frame[name] = [random.choice((*_KEYS, None)) for _ in pairs]
    return lambda tracker: tracker.add_texts(frame, dataset=dataset)


def _housekeeping(random: Random, dataset: str, runs: list[str]) -> list[tuple[str, Step]]:
    alias = random.choice(_NAMES)
    tagged, text = random.choice(runs), random.choice(_KEYS)
    found: list[tuple[str, Step]] = [
        ("alias", lambda tracker: tracker.set_alias(alias, runs[0], dataset)),
        ("alias", lambda tracker: tracker.set_alias("moving", runs[-1], dataset)),
        ("tag", lambda tracker: tracker.tag_run(tagged, {text: text}, dataset=dataset)),
        ("gate", lambda tracker: tracker.gate(runs[1], baseline=runs[0], margin=0.05, dataset=dataset, missing="zero")),
        (
            "gate",
            lambda tracker: tracker.gate(
                runs[-1],
                baseline="@moving",
                metric="ndcg@10",
                scope="set",
                dataset=dataset,
                acknowledge=text,
                acknowledged_by=text,
            ),
        ),
    ]
    if random.random() < 0.3:
        found.append(("delete", lambda tracker: tracker.delete_run(runs[-1], dataset)))
    return found
