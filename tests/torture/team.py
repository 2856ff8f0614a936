"""Row 18: eight writers on Postgres, one killed and one stuck in its transaction, with readers and a dashboard."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.runs.ingest import RunDetails, store_run
from ndcg_tracker.storage.store import Store

from .databases import damage, database, engine_name
from .forked import CONTEXT, context
from .report import Outcome, Setting

SEED = 20_260_118
N_WRITERS = 6  # beside the one that is killed and the one that is stuck
N_READERS = 2
_NEW_GROUPS_EVERY = 3
_N_BLOCKS = 4
_METRICS = [parse_metric("ndcg@10"), parse_metric("AP")]
_QUESTIONS = (
    "SELECT * FROM run_list",
    "SELECT run, metric, mean FROM run_summary WHERE metric = 'ndcg@10'",
    "SELECT run, metric, delta FROM run_regressions",
    "SELECT alias, run FROM alias_history",
)


@dataclass(frozen=True)
class _Sizes:
    runs_per_writer: int
    n_groups: int
    items_per_group: int


_SIZES = {"full": _Sizes(25, 400, 100), "quick": _Sizes(2, 8, 5)}


@dataclass
class _Told:
    """What a process came to: the longest time of each thing it does, runs that were acknowledged, waits and errors."""

    seconds: dict[str, float] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    stored: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Count what is done within, how long it takes at most, and whether it fails."""
        began = time.monotonic()
        try:
            yield
        except NdcgTrackerError as error:
            self.errors.append(f"{what}: {error}")
        self.counts[what] += 1
        self.seconds[what] = max(self.seconds.get(what, 0.0), time.monotonic() - began)


class _Waits(logging.Handler):
    """Keeps what a process is told of others that it waits for."""

    def __init__(self, waits: list[str]) -> None:
        super().__init__()
        self._waits = waits

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        self._waits.append(record.getMessage())


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the team came to on Postgres; on SQLite a stuck writer stops all others, as its locks are."""
    if "postgres" in setting.engines:
        with database(setting, "postgres") as url:
            yield _outcome(url, _SIZES[setting.size])


def blocks_of(sizes: _Sizes, writer: int, number: int) -> Iterator[RankedTable]:
    """Yield a run of its own in blocks; every third one has a group that no run had before."""
    rng = np.random.default_rng([SEED, writer, number])
    groups = [f"q{group}" for group in range(sizes.n_groups)]
    groups += [f"new {writer}-{number}"] if number % _NEW_GROUPS_EVERY == 2 else []
    items = Keys.from_strings([f"d{item}" for item in range(sizes.items_per_group)])
    share = -(-len(groups) // _N_BLOCKS)
    for first in range(0, len(groups), share):
        some = groups[first : first + share]
        keys = Keys.joined([items] * len(some))
        scores = rng.normal(size=len(keys)) + (np.arange(len(keys)) % 7 == 0)
        rows = Keys.from_strings([group for group in some for _ in range(len(items))])
        yield RankedTable(Ranking.from_rows(rows, keys, scores), None, None)


def _labels(sizes: _Sizes) -> LabelLists:
    groups = [f"q{group}" for group in range(sizes.n_groups) for _ in range(sizes.items_per_group)]
    items = [f"d{item}" for _ in range(sizes.n_groups) for item in range(sizes.items_per_group)]
    grades = np.array([float(item % 7 == 0) for item in range(len(items))])
    return LabelLists.from_rows(Keys.from_strings(groups), Keys.from_strings(items), grades)


def _stored(store: Store, sizes: _Sizes, writer: int, number: int) -> str:
    name = f"run {writer}-{number}"
    store_run(store, blocks_of(sizes, writer, number), None, RunDetails(name, "shop"), _METRICS)
    return name


def _write(url: str, sizes: _Sizes, writer: int) -> _Told:
    """Store runs, and after each tag it, take it through the gate and move an alias to it."""
    told = _Told()
    logging.getLogger("ndcg_tracker").addHandler(_Waits(told.waits))
    with Store.open(url) as store, Tracker(url) as tracker:
        for number in range(sizes.runs_per_writer):
            name = f"run {writer}-{number}"
            with told.timed("ingest"):
                told.stored.append(_stored(store, sizes, writer, number))
            with told.timed("tag"):
                tracker.tag_run(name, {"seen": "yes"})
            with told.timed("gate"):
                tracker.gate(name, baseline="@baseline", scope="set", margin=0.99)
            with told.timed("alias"):
                tracker.set_alias(f"newest-{writer}", name)
    return told


def _write_and_be_killed(url: str, sizes: _Sizes) -> None:
    """Store a run, and be killed in the middle of the transaction of the next one."""

    def fatal() -> Iterator[RankedTable]:
        for number, block in enumerate(blocks_of(sizes, N_WRITERS, 2)):
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield block

    with Store.open(url) as store:
        _stored(store, sizes, N_WRITERS, 0)
        store_run(store, fatal(), None, RunDetails("killed", "shop"), _METRICS)


def _read(url: str, is_dashboard: bool, done: Callable[[], bool]) -> _Told:
    told = _Told()
    with Tracker(url, read_only=True) as tracker:
        while not done() or not told.counts:
            if is_dashboard:
                for question in _QUESTIONS:
                    with told.timed("poll"):
                        tracker.query(question)
                continue
            with told.timed("compare"):
                tracker.compare("baseline run", "latest", dataset="shop")
            with told.timed("history"):
                tracker.history(dataset="shop")
    return told


def _read_until(url: str, is_dashboard: bool) -> _Told:
    return _read(url, is_dashboard, _done.is_set)


def _begin(done: object) -> None:
    global _done  # a pool has no other way
    _done = done


_done: object = None


class _StuckError(Exception):
    """Ends the transaction of the stuck writer."""


def _outcome(url: str, sizes: _Sizes) -> Outcome:
    with Store.open(url) as store:
        baseline = RunDetails("baseline run", "shop")
        store_run(store, blocks_of(sizes, 99, 0), _labels(sizes), baseline, _METRICS)
    with Tracker(url) as tracker:
        tracker.set_alias("baseline", "baseline run")
    began = time.monotonic()
    done = CONTEXT.Event()
    with (
        context().Pool(N_WRITERS + N_READERS + 1, _begin, (done,)) as pool,
        suppress(_StuckError),
        Store.open(url) as store,
        store.write(run=("shop", "stuck")) as tx,
    ):
        run_id = tx.write.runs.begin(1, "stuck")
        tx.write.runs.append(run_id, 1, next(blocks_of(sizes, 98, 0)).ranking)
        readers = [pool.apply_async(_read_until, (url, number == 0)) for number in range(N_READERS + 1)]
        victim = context().Process(target=_write_and_be_killed, args=(url, sizes))
        victim.start()
        writers = [pool.apply_async(_write, (url, sizes, writer)) for writer in range(N_WRITERS)]
        told = [writer.get(600) for writer in writers]
        victim.join(600)
        seconds = time.monotonic() - began
        done.set()
        seen = [reader.get(600) for reader in readers]
        raise _StuckError
    return _judged(url, sizes, told, seen, victim.exitcode, seconds)


def _judged(
    url: str, sizes: _Sizes, told: list[_Told], seen: list[_Told], exit_code: int | None, seconds: float
) -> Outcome:
    acknowledged = {name for one in told for name in one.stored} | {"baseline run", f"run {N_WRITERS}-0"}
    wanted = N_WRITERS * sizes.runs_per_writer
    faults = [error for one in (*told, *seen) for error in one.errors] + damage(url)
    with Store.open(url) as store, store.read() as rx:
        found = {run.name: run for run in rx.runs.all()}
        decisions = rx.decisions.all(1)
        partial = [
            name for name, run in found.items() if len(rx.evaluations.of_run(run.id)) != len(_METRICS) or not run.digest
        ]
        keys = rx.groups.all(1)[1].to_list()
    if set(found) != acknowledged:
        faults.append(f"runs differ from those acknowledged: {sorted(set(found) ^ acknowledged)[:3]}")
    if len(decisions) != wanted or len(set(keys)) != len(keys):
        faults.append(f"{len(decisions)} decisions, {len(keys)} groups, {len(set(keys))} of them different")
    if exit_code != -signal.SIGKILL:
        faults.append(f"the killed writer ended with {exit_code}")
    waits = sum(len(one.waits) for one in told)
    longest = {what: max(one.seconds.get(what, 0.0) for one in (*told, *seen)) for what in _words(told, seen)}
    counts = sum((one.counts for one in (*told, *seen)), Counter[str]())
    done = ", ".join(f"{counts[what]} {what} (at most {longest[what]:.2f} s)" for what in _words(told, seen))
    first = f"; first fault: {faults[0]}" if faults else ""
    return Outcome(
        18,
        f"8 writers, {N_WRITERS} of them x {sizes.runs_per_writer} runs of {sizes.n_groups * sizes.items_per_group:,} "
        f"items, one killed, one stuck in its transaction; {N_READERS} readers and a dashboard",
        engine_name("postgres"),
        "0 errors, 0 partial, 0 acknowledged lost, nobody waits 5 s",
        f"in {seconds:.0f} s: {done}; {waits} waits of 5 s, {len(faults)} errors, {len(partial)} partial, "
        f"{len(acknowledged - set(found))} lost{first}",
        met=not faults and not partial and not waits,
    )


def _words(*groups: list[_Told]) -> list[str]:
    return list(dict.fromkeys(what for group in groups for one in group for what in one.counts))
