"""Blocks read ahead by a thread of their own, and work side by side."""

import threading
from collections.abc import Iterator

import pytest

from ndcg_tracker.concurrency import mapped, reading_ahead
from ndcg_tracker.errors import InputError


def n_readers() -> int:
    return sum(thread.name.startswith("reading ahead") for thread in threading.enumerate())


def test_all_blocks_come_in_order() -> None:
    with reading_ahead(iter(range(100))) as blocks:
        assert list(blocks) == list(range(100))
    assert n_readers() == 0


def test_blocks_are_made_in_another_thread_and_no_more_than_two_ahead() -> None:
    made: list[int] = []
    threads = set()

    def source() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            threads.add(threading.current_thread())
            yield number

    with reading_ahead(source()) as blocks:
        for number in blocks:
            assert len(made) <= number + 3
    assert threads.isdisjoint({threading.current_thread()})


def test_an_error_of_the_blocks_comes_where_they_are_used() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise InputError("x.run:2: no number")

    taken = []
    with pytest.raises(InputError, match=r"^x\.run:2: no number$"), reading_ahead(source()) as blocks:
        taken += list(blocks)
    assert n_readers() == 0


def test_leaving_early_ends_the_thread() -> None:
    def endless() -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1

    with reading_ahead(endless()) as blocks:
        assert next(iter(blocks)) == 0
    assert n_readers() == 0


def test_results_of_workers_come_in_order() -> None:
    assert list(mapped(lambda number: number * number, range(100))) == [number * number for number in range(100)]
    assert list(mapped(abs, [])) == []


def test_the_first_failure_in_order_is_raised_after_the_results_before_it() -> None:
    results = mapped(lambda number: 6 // number, [3, 2, 0, 1, 0])
    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_few_items_are_taken_ahead() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = mapped(abs, items())
    assert next(results) == 0
    assert len(taken) < 10
    del results
