"""How long the pages of ``ndcg-track ui`` take on a database of many runs.

python benchmarks/ui.py [--db PATH|URL] [--runs 1000] [--groups 7000] [--listed 40] [--rounds 5]

makes the database if it is not there yet (two metrics; items and labels for the newest ``--listed`` runs, as items of
older runs are read by their key alone), then starts ``ndcg-track ui`` (``--starts`` times, each in a new process) and
prints when it gives its address and how long the first comparison takes, asked at once or ``--later`` seconds after
that, and the next one. After that it asks a server in this process for each page, without a browser, and prints the
median and the longest time. Postgres: give the URL of an empty database after ``db upgrade``.
"""

import argparse
import http.client
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import uvicorn

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.storage.records import LabelOrigin
from ndcg_tracker.storage.store import Store
from ndcg_tracker.ui.server import Access, application

ITEMS = 50
METRICS = ("ndcg@10", "P@10")
LABELLED = 20


def numbered(prefix: str, numbers: np.ndarray) -> Keys:
    """Return ids made of numbers."""
    return Keys.from_strings([f"{prefix}{number}" for number in numbers.tolist()])


def fill(store: Store, n_runs: int, n_groups: int, n_listed: int) -> None:
    """Store runs whose results drift, each of every group, under two metrics."""
    rng = np.random.default_rng(20)
    group_keys = numbered("q", np.arange(n_groups))
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("large")
        labels = LabelLists(
            group_keys,
            np.arange(n_groups + 1) * LABELLED,
            numbered("d", np.tile(np.arange(LABELLED) * 3, n_groups)),
            rng.integers(0, 4, n_groups * LABELLED).astype(np.float64),
        )
        label_set = tx.write.labels.insert(dataset.id, labels, LabelOrigin("qrels.txt"))
        ids = tx.groups.ids(dataset.id, group_keys)
        devices = {number: {"device": ("phone", "tv", "desk")[number % 3]} for number in ids.tolist()}
        tx.write.groups.set_attributes(dataset.id, devices)
    hard = rng.beta(2, 2, n_groups)
    for first in range(0, n_runs, 100):
        with store.write() as tx:
            for number in range(first, min(first + 100, n_runs)):
                details = {
                    "created_at_utc": f"2025-{1 + number // 90 % 12:02d}-{1 + number // 4 % 28:02d}T{number % 24:02d}:"
                    f"{number % 60:02d}:00.000000Z",
                    "tags": {"branch": "main" if number % 3 else "trial", "stage": f"s{number % 7}"},
                    "parameters": {"k1": str(0.5 + number % 10 / 10)},
                    "git_commit": f"{number * 7919 % 2**28:07x}",
                }
                name = f"run-{number:04d}"
                run_id = tx.write.runs.begin(dataset.id, name, **details)
                if number >= n_runs - n_listed:
                    order = np.argsort(rng.random((n_groups, ITEMS)), axis=1).ravel()
                    ranking = Ranking(
                        group_keys,
                        np.arange(n_groups + 1) * ITEMS,
                        numbered("d", order),
                        np.tile(np.arange(ITEMS, 0, -1, dtype=np.float64), n_groups),
                    )
                    tx.write.runs.append(run_id, dataset.id, ranking)
                n_listed_groups = n_groups if number >= n_runs - n_listed else 0
                tx.write.runs.finish(run_id, f"{number:064x}", n_listed_groups, n_listed_groups * ITEMS)
                for metric in METRICS:
                    shift = 0.02 * (number > n_runs // 2) + rng.normal(0, 0.002)
                    values = np.clip(hard + shift + rng.normal(0, 0.05, n_groups) * (rng.random(n_groups) < 0.3), 0, 1)
                    tx.write.evaluations.insert(
                        run_id,
                        label_set.id,
                        metric,
                        mean=float(values.mean()),
                        n_groups=n_groups,
                        n_missing=0,
                        n_undefined=0,
                        group_ids=ids,
                        values=values,
                    )
                for cutoff, share in ((10, 0.8), (None, 0.4)):
                    tx.write.evaluations.insert_coverage(run_id, label_set.id, cutoff, share - rng.random() * 0.2)
        print(f"{min(first + 100, n_runs):,} runs stored", flush=True)
    with store.write() as tx:
        tx.write.aliases.set(dataset.id, "baseline", 1)


def addresses(n_runs: int) -> Iterator[str]:
    """Yield the pages."""
    newest, before = n_runs, n_runs - 1
    where = "dataset=large&metric=ndcg%4010"
    yield "/"
    yield "/runs?dataset=large"
    yield f"/runs?{where}&q=run-09&page=2"
    yield f"/leaderboard?{where}"
    yield f"/leaderboard?{where}&last=400"
    yield f"/runs?{where}&format=csv"
    yield f"/run?run={newest}&metric=ndcg%4010"
    yield f"/history?{where}"
    yield f"/history?{where}&last=1000"
    yield f"/compare?{where}&run={before}&run={newest}"
    yield f"/compare?{where}&" + "&".join(f"run={run}" for run in range(newest - 4, newest + 1))
    yield f"/compare/cutoffs?{where}&run={before}&run={newest}"
    yield f"/compare/lists?{where}&run={before}&run={newest}&group=q17"
    yield f"/groups?{where}&q=q17"
    yield f"/groups?{where}&sort=worst&where=device%3Dphone"
    yield f"/group?{where}&group=q17"
    yield f"/group?{where}&group=q17&run={before}&run={newest}"
    yield "/labels?dataset=large"
    yield "/decisions?dataset=large"


def started(db: str, comparison: str, later: float) -> tuple[float, float, float]:
    """Start the command; return the seconds until its address, for the first comparison, and for the next one."""
    began = time.perf_counter()
    command = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()", "--db", db, "ui", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", process.stderr.readline())
        assert address is not None
        times = [time.perf_counter() - began]
        time.sleep(later)
        client = http.client.HTTPConnection("127.0.0.1", int(address[1]))
        client.request("GET", f"/?token={address[2]}")
        answer = client.getresponse()
        answer.read()
        cookie = {"Cookie": str(answer.headers["set-cookie"]).partition(";")[0]}
        statuses = []
        for _ in range(2):
            began = time.perf_counter()
            client.request("GET", comparison, headers=cookie)
            answer = client.getresponse()
            answer.read()
            statuses.append(answer.status)
            times.append(time.perf_counter() - began)
        client.close()  # the server ends when nobody is connected
        process.terminate()
    if statuses != [200, 200]:
        raise SystemExit(f"{comparison}: {statuses}")
    return times[0], times[1], times[2]


def main() -> None:
    """Make the database, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", default="benchmarks/data/ui.db")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=7000)
    parser.add_argument("--listed", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--later", type=float, default=1.0)
    given = parser.parse_args()
    if "://" not in given.db:
        Path(given.db).parent.mkdir(parents=True, exist_ok=True)
    with Store.open(given.db, create=True) as store:
        with store.read() as tx:
            is_empty = not tx.datasets.all()
        if is_empty:
            fill(store, given.runs, given.groups, given.listed)
    comparison = f"/compare?run={given.runs - 1}&run={given.runs}"
    for later in (0.0, given.later):
        each = [started(given.db, comparison, later) for _ in range(given.starts)]
        for name, times in zip(
            ("address", "first comparison", "next comparison"), zip(*each, strict=True), strict=False
        ):
            print(f"asked {later:g} s after the address: {name} {statistics.median(times):.2f} s")
    with Tracker(given.db, read_only=True) as tracker:
        listening = socket.create_server(("127.0.0.1", 0))
        access = Access(listening.getsockname()[1])
        config = uvicorn.Config(application(tracker, access), log_level="error", lifespan="off", ws="none")
        threading.Thread(target=uvicorn.Server(config).run, kwargs={"sockets": [listening]}, daemon=True).start()
        client = http.client.HTTPConnection("127.0.0.1", access.port)
        cookie = {"Cookie": f"{access.cookie}={access.session}"}
        print(f"{'page':100} {'median':>8} {'longest':>8} {'size':>9}")
        for address in addresses(given.runs):
            times = []
            for _ in range(given.rounds):
                began = time.perf_counter()
                client.request("GET", address, headers=cookie)
                answer = client.getresponse()
                content = answer.read()
                times.append(1000 * (time.perf_counter() - began))
            if answer.status not in (200, 303):
                raise SystemExit(f"{address}: {answer.status} {content[:2000].decode()}")
            size = len(content) / 1000
            print(f"{address[:100]:100} {statistics.median(times):5.0f} ms {max(times):5.0f} ms {size:6.0f} kB")


if __name__ == "__main__":
    main()
