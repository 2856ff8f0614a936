"""Row 7: the session of an ingest killed, the server stopped, the connection cut; commits whose answer is lost."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from command_line import Printed
from postgres_server import PostgresServer

from ndcg_tracker.cli.app import run as run_command
from ndcg_tracker.storage.database import check, upgrade

from .forked import Forked
from .programs import cold, ended
from .proxy import PLACES, AtByte, AtCommit, Direction, Fault, Proxy
from .report import Outcome, Setting

DATABASE, PASSWORD = "faults", "s3cret-of-ours"
N_POINTS = {"quick": 1, "full": 50}
N_GROUPS, N_ITEMS = 200, 20
GOAL = "0 partial; exit code and message true; the same command again leaves exactly 1 run"
_COUNTS = """
    SELECT (SELECT count(*) FROM datasets WHERE id = d.id),
           (SELECT count(*) FROM groups WHERE dataset_id = d.id),
           (SELECT count(*) FROM label_sets WHERE dataset_id = d.id),
           (SELECT count(*) FROM label_lists l JOIN label_sets s ON s.id = l.label_set_id WHERE s.dataset_id = d.id),
           (SELECT count(*) FROM runs WHERE dataset_id = d.id),
           (SELECT count(*) FROM ranked_lists l JOIN runs r ON r.id = l.run_id WHERE r.dataset_id = d.id),
           (SELECT count(*) FROM group_results v JOIN evaluations e ON e.id = v.evaluation_id
            JOIN runs r ON r.id = e.run_id WHERE r.dataset_id = d.id),
           (SELECT count(*) FROM coverages c JOIN runs r ON r.id = c.run_id WHERE r.dataset_id = d.id),
           (SELECT max(digest) FROM runs WHERE dataset_id = d.id)
    FROM datasets d WHERE d.name = %s
"""


@dataclass
class Tally:
    """What came of the trials of one kind of fault; ``wrong`` says in words what should not have been.

    ``n_resolved``: faults at the commit after which the command told for certain what is stored.
    """

    n: int = 0
    n_inside: int = 0
    n_stored: int = 0
    n_partial: int = 0
    n_commits: int = 0
    n_resolved: int = 0
    messages: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def outcome(self, what: str) -> Outcome:
        """Return what is reported."""
        figure = (
            f"{self.n} faults, {self.n_inside} of them in the write transaction or at its commit: "
            f"{self.n_partial} partial, "
            f"{self.n - len(self.wrong)}/{self.n} reported correctly and stored once by the same command again, "
            f"{self.n_stored} were stored at once; "
            f"{self.n_commits} faults at the commit, {self.n_resolved} of them told for certain (stored or not)"
        )
        told = "; ".join(f"{count} x {message}" for message, count in self.messages.most_common())
        return Outcome(7, what, "Postgres", GOAL, figure, not self.wrong, " // ".join([*self.wrong, told]))


class Ingests:
    """Ingests of one and the same run by the real program, each into a dataset of its own, through a proxy.

    ``forked``: it does not start from cold, for no fault comes that early.
    """

    def __init__(self, server: PostgresServer, folder: Path, *, forked: bool) -> None:
        self.server = server
        self._forked = forked
        self._folder = folder
        for name, column, modulus in (("run.csv", "score", 7), ("labels.csv", "label", 3)):
            rows = [f"q{group},i{item},{item % modulus}" for group in range(N_GROUPS) for item in range(N_ITEMS)]
            (folder / name).write_text("\n".join([f"group,item,{column}", *rows]) + "\n", encoding="utf-8")
        server.create_database(DATABASE)
        upgrade(server.url(DATABASE))
        with Proxy(self._socket) as proxy:
            done = self._ingest(proxy, "set-000")
        if (done.code, done.err) != (0, ""):
            raise RuntimeError(f"an ingest without a fault failed: {done.err}")
        self.whole = self.stored("set-000")
        self.passed, self.commits = proxy.passed, proxy.commits
        self._number = 0

    @property
    def _socket(self) -> Path:
        return self.server.folder / ".s.PGSQL.5432"

    def _ingest(self, proxy: Proxy, dataset: str) -> Printed:
        place = f"127.0.0.1:{proxy.port}/{DATABASE}?sslmode=disable&gssencmode=disable"
        words = ["--db", f"postgresql://ndcg:{PASSWORD}@{place}", *self._words(dataset)]
        return ended(Forked(self._folder, *words) if self._forked else cold(self._folder, *words))

    def _words(self, dataset: str) -> list[str]:
        files = [str(self._folder / name) for name in ("run.csv", "labels.csv")]
        return ["ingest", files[0], "--labels", files[1], "--dataset", dataset, "--format", "json"]

    def stored(self, dataset: str) -> tuple[object, ...] | None:
        """Return how many rows a dataset has in each table, and the run's digest; None where there is none.

        Waits until no session of the program is left, for what a lost one does is not known before.
        """
        with psycopg.connect(self.server.conninfo(DATABASE), autocommit=True) as connection:
            left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ndcg-tracker'"
            deadline = time.monotonic() + 60
            while connection.execute(left).fetchone() != (0,):
                if time.monotonic() > deadline:
                    raise RuntimeError("a session of the program does not end")
                time.sleep(0.01)
            return connection.execute(_COUNTS, (dataset,)).fetchone()

    def inside(self, point: AtByte | AtCommit) -> bool:
        """Return whether a point lies within the transaction that writes."""
        if isinstance(point, AtCommit):
            return point.ordinal == self.run_commit
        first, last = (self.commits[number - 1][point.direction] for number in (self.run_commit - 1, self.run_commit))
        return first < point.n_bytes <= last

    @property
    def run_commit(self) -> int:
        """The number of the commit of the run: the last but one, for the planner's statistics are renewed after it."""
        return len(self.commits) - 1

    def points(self, n: int) -> list[AtByte]:
        """Return points spread evenly over the bytes of an ingest, two thirds of them in what the client sends."""
        ways: dict[Direction, int] = {"to server": n - n // 3, "to client": n // 3}
        return [
            AtByte(way, (2 * number + 1) * self.passed[way] // (2 * count))
            for way, count in ways.items()
            for number in range(count)
        ]

    def try_one(self, tally: Tally, fault: Fault, *, afterwards: Callable[[], None] = lambda: None) -> None:
        """Ingest with a fault, compare the report with the database, and run the same command again."""
        self._number += 1
        dataset = f"set-{self._number:03}"
        with Proxy(self._socket, fault) as proxy:
            told = self._ingest(proxy, dataset)
        afterwards()
        stored = self.stored(dataset)
        unanswered = isinstance(fault.point, AtCommit)
        tally.n += 1
        tally.n_inside += self.inside(fault.point)
        tally.n_stored += stored == self.whole
        tally.n_partial += stored not in (None, self.whole)
        tally.n_commits += unanswered
        tally.n_resolved += unanswered and (told.code == 0 or "nothing was stored" in told.err)
        message = told.err.strip().rpartition("gssencmode=disable: ")[2] if told.code else "stored"
        tally.messages[message] += 1
        wrong = [] if proxy.happened.is_set() else ["the point was never reached"]
        wrong += self._wrong_words(told) + self._untrue(told, stored, unanswered and not fault.refuses)
        again = self._again(dataset)
        if again != ("stored" if stored is None else "already stored") or self.stored(dataset) != self.whole:
            wrong.append(f"the same command again said {again}")
        if wrong:
            tally.wrong.append(f"{fault.point}: {', '.join(wrong)} ({told.code}, {told.err.strip()})")

    def _wrong_words(self, told: Printed) -> list[str]:
        wrong = []
        if PASSWORD in told.out + told.err:
            wrong.append("a secret was printed")
        one_line = told.err.startswith("error: ") and told.err.count("\n") == 1 and told.out == ""
        if told.code not in (0, 2) or (told.code == 2 and not one_line) or (told.code == 0 and told.err):
            wrong.append("not one line, or another exit code")
        return wrong

    def _untrue(self, told: Printed, stored: object, must_be_resolved: bool) -> list[str]:
        if stored not in (None, self.whole):
            return ["partial"]
        wrong = []
        if told.code == 0 and (stored is None or json.loads(told.out)[0]["outcome"] != "stored"):
            wrong.append("told to be stored, but is not")
        if "nothing was stored" in told.err and stored is not None:
            wrong.append("told not to be stored, but is")
        if must_be_resolved and told.code != 0 and "nothing was stored" not in told.err:
            wrong.append("not resolved")
        if told.code != 0 and "run the same command again" not in told.err and stored is not None:
            wrong.append("stored, and nobody was told what to do")
        return wrong

    def _again(self, dataset: str) -> str:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_command(["--db", self.server.url(DATABASE), *self._words(dataset)])
        return str(json.loads(out.getvalue())[0]["outcome"]) if code == 0 else err.getvalue()


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what came of killed sessions, stopped servers and cut connections."""
    if "postgres" not in setting.engines:
        return
    server = PostgresServer()  # one of its own: it is stopped
    try:
        server.start()
        ingests = Ingests(server, setting.folder, forked=setting.size == "quick")
        n = N_POINTS[setting.size]
        yield _killed(ingests, n)
        with ThreadPoolExecutor(1) as starter:  # a server dies with the thread that has started it
            yield _stopped(ingests, n, starter)
            yield _cut(ingests, n)
            damage = check(server.url(DATABASE))
        yield Outcome(7, "db check after all of it", "Postgres", "whole", "; ".join(damage) or "whole", not damage)
    finally:
        server.remove()


def _killed(ingests: Ingests, n: int) -> Outcome:
    tally = Tally()

    def kill() -> None:
        with psycopg.connect(ingests.server.conninfo(DATABASE), autocommit=True) as connection:
            query = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = %s"
            connection.execute(query, ("ndcg-tracker",))

    last = ingests.run_commit
    for point in ingests.points(n):
        ingests.try_one(tally, Fault(point, kill, cuts=False))
    for place in PLACES if n > 1 else ():
        ingests.try_one(tally, Fault(AtCommit(last, place), kill, cuts=False))
    return tally.outcome(f"pg_terminate_backend at {n} points of an ingest and at its commit")


def _stopped(ingests: Ingests, n: int, starter: Executor) -> Outcome:
    tally = Tally()
    server = ingests.server

    def stop() -> None:
        server.stop(signal.SIGQUIT)

    def restart() -> None:
        stop()
        start()

    def start() -> None:
        starter.submit(server.start).result()

    last = ingests.run_commit
    for number, point in enumerate(ingests.points(n)):
        if number % 2:
            ingests.try_one(tally, Fault(point, stop, cuts=False), afterwards=start)
        else:
            ingests.try_one(tally, Fault(point, restart, cuts=False))
    for place in PLACES if n > 1 else ():
        ingests.try_one(tally, Fault(AtCommit(last, place), restart))
    if n > 1:  # the server stays away: nobody can know
        fault = Fault(AtCommit(last, "unanswered"), stop, refuses=True)
        ingests.try_one(tally, fault, afterwards=start)
    return tally.outcome(f"server stopped (immediate) at {n} points of an ingest and at its commit, and started again")


def _cut(ingests: Ingests, n: int) -> Outcome:
    tally = Tally()
    last = ingests.run_commit
    for number, point in enumerate(ingests.points(n)):
        ingests.try_one(tally, Fault(point, resets=number % 2 == 0))
    for place in PLACES if n > 1 else ("before", "unanswered"):
        for resets in (False, True) if n > 1 else (True,):
            ingests.try_one(tally, Fault(AtCommit(last, place), resets=resets))
    for place in ("before", "unanswered") if n > 1 else ():
        ingests.try_one(tally, Fault(AtCommit(last, place), refuses=True))
    return tally.outcome(f"connection cut at {n} points of the byte stream and around the commit")
