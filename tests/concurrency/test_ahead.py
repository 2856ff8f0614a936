"""Blocks that are made by a thread of their own."""

import threading
from collections.abc import Iterator

import pytest

from ndcg_tracker.concurrency.ahead import reading_ahead
from ndcg_tracker.errors import InputError


def n_readers() -> int:
    return sum(thread.name == "reading ahead" for thread in threading.enumerate())


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
