"""JSON as RFC 8259 has it, recognised character by character."""

from __future__ import annotations

from dataclasses import dataclass

from .text import decimal_number

_SPACE = " \t\n\r"
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = "0123456789abcdefABCDEF"
_WORDS = {"true": True, "false": False, "null": None}
_MOST_DIGITS = 400


class NotJsonError(Exception):
    """The text is not JSON, has a key twice in an object, or a whole number of more than 400 digits."""


@dataclass(frozen=True)
class Number:
    """A number as it is written: whole without fraction and exponent."""

    text: str

    @property
    def is_whole(self) -> bool:
        """Whether it has neither fraction nor exponent."""
        return not set(self.text) & set(".eE")

    @property
    def value(self) -> float | None:
        """The nearest double, None beyond the doubles; a whole number has no negative zero."""
        value = decimal_number(self.text.encode())
        return 0.0 if self.is_whole and value == 0 else value


def json_value(text: str) -> object:
    """Return the value of a text: dict, list, str, bool, None or Number. Raises: NotJsonError."""
    reader = _Reader(text)
    value = reader.value()
    reader.skip_space()
    if reader.at != len(text):
        raise NotJsonError("more after the value")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def value(self) -> object:
        self.skip_space()
        first = self.text[self.at : self.at + 1]
        if first == "{":
            return self._object()
        if first == "[":
            return self._array()
        if first == '"':
            return self._string()
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self._number()

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1

    def _taken(self, character: str) -> bool:
        self.skip_space()
        if self.text[self.at : self.at + 1] != character:
            return False
        self.at += 1
        return True

    def _need(self, character: str) -> None:
        if not self._taken(character):
            raise NotJsonError(f"no {character} at {self.at}")

    def _object(self) -> dict[str, object]:
        self._need("{")
        found: dict[str, object] = {}
        if self._taken("}"):
            return found
        twice = False
        while True:
            self.skip_space()
            name = self._string()
            self._need(":")
            twice = twice or name in found
            found[name] = self.value()
            if self._taken("}"):
                break
            self._need(",")
        if twice:
            raise NotJsonError("a key twice")
        return found

    def _array(self) -> list[object]:
        self._need("[")
        found: list[object] = []
        if self._taken("]"):
            return found
        while True:
            found.append(self.value())
            if self._taken("]"):
                return found
            self._need(",")

    def _string(self) -> str:
        if self.text[self.at : self.at + 1] != '"':
            raise NotJsonError("no string")
        self.at += 1
        units: list[str] = []
        while True:
            character = self.text[self.at : self.at + 1]
            self.at += 1
            if character == '"':
                break
            if not character or character < " ":
                raise NotJsonError("an open string, or a control character in it")
            units.append(self._escaped() if character == "\\" else character)
        return _joined(units)

    def _escaped(self) -> str:
        letter = self.text[self.at : self.at + 1]
        self.at += 1
        if letter in _ESCAPES and letter:
            return _ESCAPES[letter]
        digits = self.text[self.at : self.at + 4]
        if letter != "u" or len(digits) < 4 or any(digit not in _HEX for digit in digits):
            raise NotJsonError("no escape")
        self.at += 4
        return chr(int(digits, 16))

    def _number(self) -> Number:
        start = self.at
        if self.text[self.at : self.at + 1] == "-":
            self.at += 1
        whole = self._digits()
        if not whole or (whole[0] == "0" and len(whole) > 1):
            raise NotJsonError("no value")
        if self.text[self.at : self.at + 1] == ".":
            self.at += 1
            if not self._digits():
                raise NotJsonError("no digits after the point")
        if self.text[self.at : self.at + 1] in ("e", "E"):
            self.at += 1
            if self.text[self.at : self.at + 1] in ("+", "-"):
                self.at += 1
            if not self._digits():
                raise NotJsonError("no digits in the exponent")
        number = Number(self.text[start : self.at])
        if number.is_whole and len(number.text) > _MOST_DIGITS:
            raise NotJsonError("too many digits")
        return number

    def _digits(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        return self.text[start : self.at]


def _joined(units: list[str]) -> str:
    """Return the text of escapes and characters; two escapes that are the halves of a character become it."""
    text: list[str] = []
    for unit in units:
        if text and "\ud800" <= text[-1] <= "\udbff" and "\udc00" <= unit <= "\udfff":
            text[-1] = chr(0x10000 + (ord(text[-1]) - 0xD800) * 0x400 + ord(unit) - 0xDC00)
        else:
            text.append(unit)
    return "".join(text)
