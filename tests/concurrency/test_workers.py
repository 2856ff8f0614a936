from __future__ import annotations

from collections.abc import Iterator

import pytest

from ndcg_tracker.concurrency.workers import mapped


def test_results_come_in_order() -> None:
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
