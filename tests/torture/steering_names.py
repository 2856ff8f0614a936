"""Row 24: names that steer the log of a build or a paper, given to all that has a name and printed by every command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.storage.database import upgrade

from .hostile_ids import Tally, command, commands, taken, unknown
from .report import Outcome, Setting

_RUNNERS = (
    *("error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "set-output"),
    *("save-state", "set-env", "add-path", "add-matcher", "remove-matcher", "echo"),
)
"""What GitHub's runner registers as commands; what looks like one and is none must not begin a line either."""
_FORMS = ("::{}::x", "  ::{} file=a,line=1::x", "\u3000::{}::x", "##[{}]x", "a ##[{}]x", "a  ::{}::x")
_LOGS = (
    *(
        "##vso[task.complete result=Failed;]x",
        "##vso[task.setvariable variable=a]x",
        "##teamcity[buildStop comment='a']",
    ),
    *("##[section]x", "##[command]x", "###[error]x", "##[", "::", "::::", ":::error::x", "::x", "section_start:1:a"),
)
_TURNED = tuple(f"a{chr(code)}b" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x61C))
_CONTROLS = tuple(f"a{chr(code)}::error::b" for code in (0x0A, 0x0D, 0x0B, 0x0C, 0x1B, 0x85, 0x9B, 0x2028, 0x2029))
_PAPERS = (
    *(
        r"\input{/etc/passwd}",
        r"\write18{id}",
        "^^M",
        "a & b",
        r"a \\ b",
        "%",
        "$x$",
        "#1",
        "~",
        "{",
        "}",
        "_",
        "^",
        "--",
    ),
    *("[x]", "''a``", "<a>", "a|b", r"\end{tabular}", r"\verb|a|", "a---b", "?`", r"\begin{document}", r"\newcommand"),
)
STEERING_NAMES = (
    *(form.format(word) for word in _RUNNERS for form in _FORMS),
    *_LOGS,
    *_TURNED,
    *_CONTROLS,
    *_PAPERS,
)
"""All different. Those with control characters may be ids, values and attributes, and are refused as names."""
_FORMATS = ("text", "markdown", "csv", "json")
_N_QUICK = 6
_SHOP = {"group": ["q", "r"], "item": ["a", "a"], "score": [1.0, 2.0], "label": [1, 1]}


def named(tally: Tally, url: str, texts: Sequence[str]) -> list[str]:
    """Give each text to all that has a name or an id, and return those that may be names of runs."""
    names = []
    with nt.Tracker(url) as tracker:
        for system in ("other", "x"):
            _ = tracker.ingest(_SHOP, name=system, dataset="names", item="item")
        for text in texts:
            facts = {text: text, "sum": text}
            rows = {"group": [text, "r"], "item": [text, "a"], "score": [1.0, 2.0], "label": [1, 1]}
            ingest = partial(tracker.ingest, dataset="names", item="item", tags=facts, parameters=facts)
            if taken(tally, partial(ingest, _SHOP, name=text)):
                names.append(text)
            for system in ("other", "x"):
                taken(tally, partial(tracker.ingest, _SHOP, name=system, dataset=text, item="item"))
            taken(tally, partial(tracker.set_alias, text, "other", "names"))
            taken(
                tally, partial(tracker.ingest, rows, name=f"run {len(names)} of {text!a}", dataset="shop", item="item")
            )
        for name, score in (("one", [1.0, 2.0]), ("two", [2.0, 1.0])):
            rows = {"group": [text for text in texts for _ in "ab"], "score": score * len(texts)}
            rows["item"] = [item for text in texts for item in (text, "b")]
            labels = {"group": list(texts), "item": list(texts), "label": [1] * len(texts)}
            _ = tracker.ingest(rows, name=name, dataset="ids", item="item", labels=labels)
        tracker.set_groups({"group": list(texts), "::kind": list(texts)}, dataset="ids")
    return names


def everywhere() -> Iterator[list[str]]:
    """Yield the commands that print all names at once."""
    yield ["runs", "list"]
    yield ["alias", "list"]
    yield ["history", "--dataset=names"]
    yield ["leaderboard", "--dataset=names"]
    yield ["labels", "list", "--dataset=ids"]
    yield ["groups", "list", "--dataset=ids"]
    yield ["compare", "one", "two", "--dataset=ids", "--top=1000", "--tie-bounds"]
    yield ["compare", "one", "two", "--dataset=ids", "--by=::kind"]
    yield ["explain", "one", "two", "--dataset=ids", "--all"]
    yield ["show", "one", "--dataset=ids"]
    yield ["diff", "one", "two", "--dataset=ids"]
    for view in ("run_details", "run_tags", "run_aliases", "group_attributes", "items", "labels", "dataset_list"):
        yield ["sql", f"SELECT * FROM {view}"]
    yield ["sql", 'SELECT run AS "::error::x", dataset AS "##[error]x" FROM run_details']


def look_at_papers(tally: Tally, url: str, folder: Path, names: Sequence[str]) -> None:
    """Print tables for papers and pages: of a leaderboard with every name, and of a suite of datasets."""
    boards = [["leaderboard", "--dataset=names", "--", *names[at : at + 25]] for at in range(0, len(names) - 1, 25)]
    for format in ("latex", "html"):
        for words in boards:
            command(tally, url, format, words, folder)
    for place, name in enumerate(names):
        with nt.Tracker(url) as tracker:
            tracker.create_suite(f"s{place}", ["names", name])
        command(tally, url, ("latex", "html")[place % 2], ["leaderboard", "--suite", f"s{place}"], folder)


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield one outcome per engine."""
    is_quick = setting.size == "quick" and not LONG
    texts = STEERING_NAMES[:: len(STEERING_NAMES) // _N_QUICK] if is_quick else STEERING_NAMES
    for engine in setting.engines:
        folder = setting.folder / f"steering-{engine}"
        folder.mkdir()
        url = str(folder / "ndcg-track.db")
        if engine == "postgres":
            setting.postgres.create_database("steering_names")
            url = setting.postgres.url("steering_names")
            upgrade(url)
        tally = Tally()
        names = named(tally, url, texts)
        for place, format in enumerate(_FORMATS):
            for number, words in enumerate(everywhere()):
                if not is_quick or (place + number) % len(_FORMATS) == 0:
                    command(tally, url, format, words, folder)
        for place, text in enumerate(texts):
            for turn in range(1 if is_quick else 3):
                unknown(tally, url, text, place + turn)
            for number, words in enumerate(commands("other", text, "names") if text in names else ()):
                for turn, format in enumerate(_FORMATS):
                    if not is_quick or (place + number + turn) % len(_FORMATS) == 0:
                        command(tally, url, format, words, folder)
        look_at_papers(tally, url, folder, names)
        if engine == "postgres":
            setting.postgres.drop_database("steering_names")
        yield Outcome(
            24,
            "names that steer the log of a build or a paper, as all that has a name, through every command and format",
            {"sqlite": "SQLite", "postgres": "Postgres"}[engine],
            "0 commands to a log, 0 bidi or control characters, 0 commands of LaTeX",
            f"{tally.figure(len(texts))}; {len(names)} of them may be names of runs",
            met=not tally.wrong,
        )
