"""Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages."""

from __future__ import annotations

from typing import Any

_DEEPEST = 32
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 3, 7, 8, 9, 10, 11, 12, 13
_INTEGERS = (4, 5, 6)

Struct = dict[int, Any]
"""Values by the numbers of their fields."""


def struct_at(data: bytes, place: int, depth: int = 0) -> tuple[Struct, int]:
    """Return the struct that begins at a place, and where it ends. Raises: ValueError, IndexError for no struct.

    >>> struct_at(bytes([0x15, 0x04, 0x18, 0x02, 0x61, 0x62, 0x00]), 0)
    ({1: 2, 2: b'ab'}, 7)
    """
    found: Struct = {}
    number = 0
    while (head := data[place]) != 0:
        place += 1
        if head >> 4:
            number += head >> 4
        else:
            number, place = _integer(data, place)
        kind = head & 15
        if kind in (_TRUE, _FALSE):
            found[number] = kind == _TRUE
        else:
            found[number], place = _value(data, place, kind, depth)
    return found, place + 1


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise ValueError("values are nested too deeply")
    if kind in _INTEGERS:
        return _integer(data, place)
    if kind == _STRUCT:
        return struct_at(data, place, depth + 1)
    if kind in (_LIST, _SET):
        return _list(data, place, depth)
    if kind == _MAP:
        return _map(data, place, depth)
    if kind == _BINARY:
        length, place = _whole(data, place)
    elif kind in (_TRUE, _FALSE, _BYTE):  # truth values take a byte in lists
        length = 1
    elif kind in (_DOUBLE, _UUID):
        length = 8 if kind == _DOUBLE else 16
    else:
        raise ValueError(f"there is no type {kind}")
    if place + length > len(data):
        raise IndexError("a value goes on after the end")
    return data[place : place + length], place + length


def _list(data: bytes, place: int, depth: int) -> tuple[list[Any], int]:
    head = data[place]
    length, place = (head >> 4, place + 1) if head >> 4 != 15 else _whole(data, place + 1)
    found = []
    for _ in range(length):
        value, place = _value(data, place, head & 15, depth + 1)
        found.append(value)
    return found, place


def _map(data: bytes, place: int, depth: int) -> tuple[dict[Any, Any], int]:
    length, place = _whole(data, place)
    if not length:
        return {}, place
    kinds, place = data[place], place + 1
    for _ in range(length):  # no map is wanted
        _, place = _value(data, place, kinds >> 4, depth + 1)
        _, place = _value(data, place, kinds & 15, depth + 1)
    return {}, place


def _whole(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _integer(data: bytes, place: int) -> tuple[int, int]:
    number, place = _whole(data, place)
    return (number >> 1) ^ -(number & 1), place
