"""Two kinds of concurrency: read blocks ahead of their use, and process blocks side by side."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import Generic, TypeVar

T = TypeVar("T")


MOST_WORKERS = 4
"""More do not help: the part that stays on one thread takes as long as a quarter of the work. With two cores, reading a
TREC run takes three quarters of the time (``benchmarks/tricks.py``)."""
R = TypeVar("R")


class _End:
    """Follows the last block: the error that ended the reading, if any."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class _Ahead(Generic[T]):
    def __init__(self, blocks: Iterable[T]) -> None:
        self._blocks = blocks
        self._waiting: queue.Queue[T | _End] = queue.Queue(maxsize=1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, name="reading ahead", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[T]:
        while not isinstance(item := self._waiting.get(), _End):
            yield item
            del item  # not kept while waiting for the next one
        if item.error is not None:
            raise item.error

    def stop(self) -> None:
        """End the reading, even if some blocks were not used."""
        self._stopped.set()
        while self._thread.is_alive():
            try:
                self._waiting.get(timeout=0.01)
            except queue.Empty:
                continue

    def _read(self) -> None:
        error: BaseException | None = None
        try:
            for block in self._blocks:
                self._waiting.put(block)
                del block  # not kept while the next one is prepared
                if self._stopped.is_set():
                    return
        except BaseException as raised:  # raised again where the blocks are used
            error = raised
        self._waiting.put(_End(error))


@contextmanager
def reading_ahead(blocks: Iterable[T]) -> Iterator[Iterable[T]]:
    """Yield the blocks of an iterable, each prepared by another thread while the previous one is in use.

    At most three blocks are alive: one in use, one waiting, one in preparation. Errors of the iterable are raised
    where the blocks are used; leaving the context ends the thread.

    >>> with reading_ahead(iter(range(3))) as blocks:
    ...     list(blocks)
    [0, 1, 2]
    """
    ahead = _Ahead(blocks)
    try:
        yield ahead
    finally:
        ahead.stop()


def mapped(function: Callable[[T], R], items: Iterable[T], n_workers: int | None = None) -> Iterator[R]:
    """Yield ``function(item)`` for every item, in order, with few more items in memory than workers.

    A single item needs no thread. ``n_workers``: None for the number of cores, at most ``MOST_WORKERS``.

    Raises: the errors of the function, in the order of the items, and of the iterable.

    >>> list(mapped(abs, [-3, 2]))
    [3, 2]
    """
    n_workers = n_workers or min(n_cores(), MOST_WORKERS)
    rest = iter(items)
    first = list(islice(rest, 2 if n_workers > 1 else 0))
    if len(first) < 2:
        yield from map(function, chain(first, rest))
        return
    items = chain(first, rest)
    del first
    with ThreadPoolExecutor(n_workers) as workers:
        under_way: deque[Future[R]] = deque()
        try:
            for item in items:
                under_way.append(workers.submit(function, item))
                if len(under_way) > n_workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def n_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
