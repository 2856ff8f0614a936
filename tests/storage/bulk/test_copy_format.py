"""Rows in Postgres' binary format, compared with what Postgres' own driver sends."""

import struct

import numpy as np

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage.bulk.postgres import group_rows, list_rows, parsed_arrays, parsed_keys, result_rows


def field(content: bytes | None) -> bytes:
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


def array(type_oid: int, elements: list[bytes]) -> bytes:
    return struct.pack(">iiiii", 1, 0, type_oid, len(elements), 1) + b"".join(map(field, elements))


def integer(value: int) -> bytes:
    return struct.pack(">q", value)


def double(value: float) -> bytes:
    return struct.pack(">d", value)


def row(*fields: bytes | None) -> bytes:
    return struct.pack(">h", len(fields)) + b"".join(map(field, fields))


def test_groups() -> None:
    keys = Keys.from_strings(["x", "a", "", "é"]).slice(1, 4)
    expected = [
        row(integer(number), integer(7), key) for number, key in zip((5, 6, 9), (b"a", b"", "é".encode()), strict=True)
    ]
    assert group_rows(7, np.array([5, 6, 9]), keys) == b"".join(expected)
    assert group_rows(7, np.array([], dtype=np.int64), keys.slice(0, 0)) == b""


def test_lists() -> None:
    keys = Keys.from_strings(["skipped", "a", "bb", "ü"])
    numbers = np.array([9.0, 1.5, -0.0, 1e-300])
    found = list_rows(3, np.array([8, 4, 2]), np.array([1, 3, 3, 4]), keys, numbers)
    assert found == b"".join(
        [
            row(integer(3), integer(8), array(25, [b"a", b"bb"]), array(701, [double(1.5), double(-0.0)])),
            row(integer(3), integer(4), array(25, []), array(701, [])),
            row(integer(3), integer(2), array(25, ["ü".encode()]), array(701, [double(1e-300)])),
        ]
    )


def test_results() -> None:
    ids, values = np.array([4, 5]), np.array([0.25, 0.5])
    assert result_rows(1, ids, [values, None, values * 2], None) == b"".join(
        row(integer(1), integer(group), double(value), None, double(value * 2), None)
        for group, value in zip((4, 5), (0.25, 0.5), strict=True)
    )
    assert result_rows(1, ids, [None, None, None], "né") == b"".join(
        row(integer(1), integer(group), None, None, None, "né".encode()) for group in (4, 5)
    )


def test_arrays_are_taken_apart() -> None:
    sent = [array(701, [double(1.5), double(-0.0)]), struct.pack(">iii", 0, 0, 701), array(701, [double(2.0)])]
    numbers, offsets = parsed_arrays(sent)
    assert (numbers.tolist(), offsets.tolist()) == ([1.5, -0.0, 2.0], [0, 2, 2, 3])
    assert np.signbit(numbers[1])


def test_joined_ids_are_taken_apart() -> None:
    for texts, lengths, expected in (
        ([b"a\x01b", b"c"], [2, 1], ["a", "b", "c"]),
        ([b"", b"", b"\x01"], [0, 1, 2], ["", "", ""]),
        ([], [], []),
        ([b"", b""], [0, 0], []),
        ([b"a\x01b"], [1], None),
        ([b"a\x01b", b"c"], [1, 1], None),
    ):
        keys = parsed_keys(texts, np.cumsum([0, *lengths]), 1)
        assert (None if keys is None else keys.to_list()) == expected
