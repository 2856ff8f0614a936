"""Two kinds of concurrency: read blocks ahead of their use, and process blocks side by side."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeVar

T = TypeVar("T")


MOST_WORKERS = 4
"""More do not help: the part that stays on one thread takes as long as a quarter of the work. With two cores, reading a
TREC run takes three quarters of the time (``benchmarks/tricks.py``)."""
R = TypeVar("R")


_END = object()  # follows the last block


@contextmanager
def reading_ahead(blocks: Iterable[T]) -> Iterator[Iterable[T]]:
    """Yield the blocks of an iterable, each prepared by another thread while the previous one is in use.

    At most three blocks are alive: one in use, one waiting, one in preparation. Errors of the iterable are raised
    where the blocks are used; leaving the context ends the thread.

    >>> with reading_ahead(iter(range(3))) as blocks:
    ...     list(blocks)
    [0, 1, 2]
    """
    rest: Any = iter(blocks)
    reader = ThreadPoolExecutor(1, "reading ahead")
    coming: deque[Future[Any]] = deque(reader.submit(next, rest, _END) for _ in range(2))

    def ahead() -> Iterator[T]:
        while (block := coming.popleft().result()) is not _END:
            coming.append(reader.submit(next, rest, _END))
            yield block
            del block  # not kept while waiting for the next one

    try:
        yield ahead()
    finally:
        reader.shutdown(cancel_futures=True)


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
