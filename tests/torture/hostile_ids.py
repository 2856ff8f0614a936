"""Row 14: hostile ids, names, tags, parameters and attributes, stored and then printed by every command and format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.storage.database import upgrade

from .hostile_texts import HOSTILE_TEXTS, REFUSED_TEXTS
from .programs import here
from .report import Outcome, Setting
from .safe_outputs import FAULTS, text_faults

_FORMATS = ("text", "markdown", "csv", "json")
_WIDE = "--dataset=facts"
_ATTRIBUTE = "=kind|<b>"
_N_NAMES_QUICK = 4


@dataclass
class Tally:
    """What was printed, and what was wrong with it."""

    n_printed: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def look(self, format: str, printed: str, what: str) -> None:
        """Look at what one command or method has printed in a format."""
        self.n_printed[format] = self.n_printed.get(format, 0) + 1
        self.wrong += [f"{what}: {fault}" for fault in FAULTS[format](printed)]

    def expect(self, is_so: bool, what: str) -> None:
        """Note ``what`` unless it is so."""
        if not is_so:
            self.wrong.append(what)

    def figure(self, n_texts: int) -> str:
        """Return the counts in words."""
        counts = ", ".join(f"{count} {name}" for name, count in self.n_printed.items())
        told = f"{len(self.wrong)} faults, first: {self.wrong[0]}" if self.wrong else "0 faults"
        return f"{n_texts} ids; outputs looked at: {counts}: {told}"


def stored_everywhere(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Store runs whose groups, items, tags, parameters and attributes are the hostile ids; return run and labels."""
    texts = list(HOSTILE_TEXTS)
    others = texts[1:] + texts[:1]
    groups = [text for text in texts for _ in range(3)]
    items = [key for text, other in zip(texts, others, strict=True) for key in (text, other, "plain")]
    run = {"group": groups, "item": items, "score": [3.0, 2.0, 1.0] * len(texts)}
    labels = {"group": texts, "item": texts, "label": [1 + place % 3 for place in range(len(texts))]}
    facts = dict(zip(texts, others, strict=True))
    with nt.Tracker(url) as tracker:
        tracker.ingest(run, labels=labels, name="one", dataset="shop", item="item", tags=facts, parameters=facts)
        again = {**run, "score": [1.0, 2.0, 3.0] * len(texts)}
        tracker.ingest(again, name="two", dataset="shop", item="item", tags={"aa": "x"}, git_commit="abc")
        attributes = {"group": texts, _ATTRIBUTE: others}
        tracker.set_groups(attributes, dataset="shop")
        many = {
            "group": texts[:1],
            **{text: [other] for text, other in facts.items() if text != "group" and text.strip()},
        }
        tracker.ingest(run, name="three", dataset="facts", labels=labels, item="item")
        tracker.set_groups(many, dataset="facts")
    return run, labels


def look_at_ids(
    tally: Tally,
    url: str,
    folder: Path,
    run: dict[str, Any],
    explained_groups: Sequence[str],
    *,
    turn: int | None = None,
) -> None:
    """Print everything that shows ids, and hold the exact forms to what was stored.

    ``turn``: each command in one format only, the next one in the next, and the first in the one of that number.
    """
    texts = set(HOSTILE_TEXTS)
    for place, format in enumerate(_FORMATS):
        for number, words in enumerate(commands("one", "two")):
            if turn is not None and (turn + number - place) % len(_FORMATS):
                continue
            if words[-1] == _WIDE and len(explained_groups) < len(texts) and format != "csv":
                continue  # a table of three hundred columns takes its time
            command(tally, url, format, words, folder)
    for place, text in enumerate(explained_groups):
        words = ["explain", "one", "two", f"--group={text}", "--dataset", "shop"]
        command(tally, url, _FORMATS[place % len(_FORMATS)], words, folder)
    with nt.Tracker(url) as tracker:
        compared = tracker.compare("one", "two", dataset="shop", by=_ATTRIBUTE, top=1000, tie_bounds=True)
        explained = tracker.explain("one", "two", dataset="shop", top=None)
        decided = tracker.gate("two", baseline="one", margin=0.1, dataset="shop", dry_run=True)
        for name, result in (("compare", compared), ("explain", explained), ("gate", decided)):
            for format, text in (("html", result.to_html()), ("html", result._repr_html_()), ("text", str(result))):
                tally.look(format, text, f"{name} as {format}")
        tally.expect({row["group"] for row in compared.to_dict()["worst"]} <= texts, "compare: other groups")
        seen = tracker.sql("SELECT DISTINCT group_key FROM items WHERE dataset = 'shop'")["group_key"]
        tally.expect(set(seen) == texts, "sql: other groups")
        rows = tracker.sql("SELECT group_key, item_key FROM items WHERE run = 'one'").itertuples(index=False, name=None)
        tally.expect(set(rows) == set(zip(run["group"], run["item"], strict=True)), "sql: other items")
        for text in explained_groups:
            quoted = text.replace("'", "''")
            found = tracker.sql(f"SELECT count(*) AS n FROM labels WHERE dataset = 'shop' AND item_key = '{quoted}'")
            tally.expect(list(found["n"]) == [1], f"sql: {text!r} is not found by its literal")
    _hold_exact(tally, url, run)


def look_at_names(tally: Tally, url: str, folder: Path, texts: Sequence[str]) -> int:
    """Give each text to a run, a dataset and an alias, print everything, and return how many may be names."""
    shop = {"group": ["q", "r"], "item": ["a", "a"], "score": [1.0, 2.0], "label": [1, 1]}
    names = []
    with nt.Tracker(url) as tracker:
        tracker.ingest(shop, name="other", dataset="names", item="item")
        for text in texts:
            if taken(tally, partial(tracker.ingest, shop, name=text, dataset="names", item="item", tags={text: text})):
                names.append(text)
            taken(tally, partial(tracker.ingest, shop, name="x", dataset=text, item="item"))
            taken(tally, partial(tracker.set_alias, text, "other", "names"))
    for place, text in enumerate(texts):
        unknown(tally, url, text, place)
        for number, words in enumerate(commands("other", text, "names") if text in names else ()):
            command(tally, url, _FORMATS[(place + number) % len(_FORMATS)], words, folder)
    everywhere = (
        ["runs", "list"],
        ["alias", "list"],
        ["history", "--dataset=names"],
        ["sql", "SELECT * FROM run_details"],
    )
    for format in _FORMATS:
        for words in everywhere:
            command(tally, url, format, [*words], folder)
    listed = [row["run"] for row in _objects(url, "runs", "list", "--dataset=names")]
    tally.expect(listed == ["other", *names], "runs list: other names")
    told = {row["alias"] for row in _objects(url, "alias", "list", "--dataset=names")}
    tally.expect(
        told <= {text.removeprefix("@") for text in texts} and len(told) >= len(names), "alias list: other names"
    )
    return len(names)


def look_at_refusals(tally: Tally, url: str) -> None:
    """Hand over ids that no database holds: each is refused in one line."""
    good = {"group": ["q"], "item": ["a"], "score": [1.0], "label": [1]}
    with nt.Tracker(url) as tracker:
        for text in REFUSED_TEXTS:
            for column in ("group", "item"):
                frame = {**good, column: [text]}
                is_taken = taken(tally, partial(tracker.ingest, frame, name="no", dataset="no", item="item"))
                tally.expect(not is_taken, f"{column} {text[:9]!r} is taken")


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield one outcome per engine."""
    for engine in setting.engines:
        folder = setting.folder / f"hostile-{engine}"
        folder.mkdir()
        url = str(folder / "ndcg-track.db")
        if engine == "postgres":
            setting.postgres.create_database("hostile_ids")
            url = setting.postgres.url("hostile_ids")
            upgrade(url)
        tally = Tally()
        run, _ = stored_everywhere(url)
        texts = HOSTILE_TEXTS
        names = texts if setting.size == "full" else texts[5 :: len(texts) // _N_NAMES_QUICK]
        is_quick = setting.size == "quick" and not LONG  # then the engines print each command in different formats
        look_at_ids(tally, url, folder, run, names, turn=2 * (engine == "postgres") if is_quick else None)
        n_names = look_at_names(tally, url, folder, names)
        look_at_refusals(tally, url)
        if engine == "postgres":
            setting.postgres.drop_database("hostile_ids")
        yield Outcome(
            14,
            "hostile ids, names, tags, parameters and attributes through every command and format",
            {"sqlite": "SQLite", "postgres": "Postgres"}[engine],
            "0 control characters, 0 markup, 0 formulas; exact in JSON and through SQL",
            f"{tally.figure(len(texts))}; {n_names} of {len(names)} tried may be names, the others refused in one line",
            met=not tally.wrong,
        )


def commands(baseline: str, candidate: str, dataset: str = "shop") -> Iterator[list[str]]:
    """Yield the commands that print what is stored."""
    where = f"--dataset={dataset}"
    yield ["compare", where, "--top=1000", "--tie-bounds", "--", baseline, candidate]
    yield ["explain", where, "--all", "--", baseline, candidate]
    files = ["--junit=j"]
    yield ["gate", where, f"--baseline={baseline}", "--margin=0.1", *files, "--", candidate]
    yield ["history", where]
    yield ["doctor", "conventions", where, "--", candidate]
    if dataset == "shop":
        yield ["compare", where, f"--by={_ATTRIBUTE}", "--", baseline, candidate]
        yield ["runs", "list"]
        yield ["runs", "show", where, baseline]
        yield ["groups", "list", where]
        yield ["groups", "list", _WIDE]
        yield ["sql", "SELECT * FROM items ORDER BY run_id, group_key, rank"]
        yield ["sql", "SELECT * FROM run_tags"]
        yield ["sql", "SELECT * FROM group_attributes"]
        yield ["sql", 'SELECT 1 AS "=1+1", 2 AS "<b>|"']


def command(tally: Tally, url: str, format: str, words: list[str], folder: Path) -> None:
    """Run one command in one format and look at all that it prints and writes."""
    before, dashes, after = words, [], []
    if "--" in words:
        before, dashes, after = words[: words.index("--")], ["--"], words[words.index("--") + 1 :]
    paths = {name: folder / name for name in ("j", "m", "summary")}
    if words[0] == "gate":
        before = [word if word[-2:] not in ("=j", "=m") else word[:-1] + str(paths[word[-1]]) for word in before]
    with patch.dict(os.environ, {"GITHUB_STEP_SUMMARY": str(paths["summary"])}):
        found = here("--db", url, *before, "--format", format, *dashes, *after)
    what = f"{' '.join(words)[:90]!r} --format {format}"
    tally.expect(found.code in (0, 3, 4, 5), f"{what}: exit code {found.code}: {found.err[:300]}")
    if found.out:
        tally.look(format, found.out, what)
    tally.wrong += [f"{what}: on standard error: {fault}" for fault in text_faults(found.err)]
    for name, kind in (("j", "junit"), ("m", "json"), ("summary", "markdown")):
        if paths[name].exists():
            tally.look(kind, paths[name].read_text(encoding="utf-8"), f"{what}, file {name}")
            paths[name].unlink()


def unknown(tally: Tally, url: str, text: str, place: int) -> None:
    """Give the text to commands that know nothing of it: their one line must be harmless, too."""
    commands = (
        ["compare", "--", text, "other"],
        ["runs", "list", f"--dataset={text}"],
        ["explain", "one", "two", "--dataset=shop", f"--metric={text}"],
        ["compare", "one", "two", "--dataset=shop", f"--by={text}"],
        ["metrics", "explain", "--", text],
        ["ingest", f"--reader={text}", "nowhere.csv"],
        ["ingest", f"--labels={text}", "--", text],
        ["sql", f'SELECT "{text.replace(chr(34), chr(34) * 2)}" FROM items LIMIT 0'],
        ["sql", text],
        ["runs", "tag", "one", "--dataset=shop", "--", text],
        ["history", f"--since={text}"],
        ["groups", "set", "--", text],
    )
    for words in commands[place % 3 :: 3]:
        found = here("--db", url, *words)
        what = f"{words[0]} with an unknown {text[:40]!r}"
        tally.look("text", found.out + found.err, what)
        tally.expect("unexpected" not in found.err and "Traceback" not in found.err, f"{what}: {found.err[:300]}")


def taken(tally: Tally, act: Callable[[], object]) -> bool:
    try:
        act()
    except NdcgTrackerError as error:
        tally.wrong += [f"a refusal: {fault}" for fault in text_faults(visible(str(error)))]
        tally.expect("\n" not in str(error), f"a refusal of several lines: {str(error)[:200]!r}")
        return False
    return True


def _hold_exact(tally: Tally, url: str, run: dict[str, Any]) -> None:
    """Hold the JSON of commands to what was stored."""
    texts = list(HOSTILE_TEXTS)
    others = texts[1:] + texts[:1]

    shown = _objects(url, "runs", "show", "one", "--dataset=shop")
    facts = dict(zip(texts, others, strict=True))
    tally.expect(shown["tags"] == facts and shown["parameters"] == facts, "runs show: other tags or parameters")
    tags = {row["name"]: row["value"] for row in _objects(url, "sql", "SELECT * FROM run_tags WHERE run = 'one'")}
    tally.expect(tags == facts, "run_tags: other tags")
    kinds = {row["group"]: row[_ATTRIBUTE] for row in _objects(url, "groups", "list", "--dataset=shop")}
    tally.expect(kinds == facts, "groups list: other attributes")
    items = {
        (row["group_key"], row["item_key"]) for row in _objects(url, "sql", "SELECT * FROM items WHERE run = 'one'")
    }
    tally.expect(items == set(zip(run["group"], run["item"], strict=True)), "sql: other items")
    compared = _objects(url, "compare", "one", "two", "--dataset=shop", "--top=1000", f"--by={_ATTRIBUTE}")
    groups = [row["group"] for row in compared["worst"] + compared["best"]]
    tally.expect(set(groups) == set(texts), "compare: other groups")
    explained = _objects(url, "explain", "one", "two", "--dataset=shop", "--all")
    tally.expect(set(texts) <= set(_strings(explained)), "explain: other items")


def _objects(url: str, *words: str) -> Any:
    return json.loads(here("--db", url, *words, "--format", "json").out)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
