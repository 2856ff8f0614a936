"""Lines and numbers, as every text format has them."""

from __future__ import annotations

from fractions import Fraction

from .table import Faults

_BOM = b"\xef\xbb\xbf"
_DIGITS = b"0123456789"


def lines_of(content: bytes, faults: Faults) -> list[tuple[int, bytes]]:
    """Return the numbered lines that are UTF-8 without NUL; the others are faults.

    A line ends with LF, CR LF or the end of the file, also after a CR. A BOM at the very start is no content.
    """
    if content.startswith(_BOM):
        content = content[len(_BOM) :]
    found = []
    parts = content.split(b"\n")
    if not parts[-1]:
        parts.pop()
    for number, part in enumerate(parts, 1):
        line = part[:-1] if part[-1:] == b"\r" else part
        if b"\0" in line:
            faults.add(number, "NUL")
            continue
        try:
            line.decode("utf-8", "strict")
        except UnicodeDecodeError:
            faults.add(number, "no UTF-8")
            continue
        found.append((number, line))
    return found


def fields_of(line: bytes) -> list[bytes]:
    """Return the fields between any blanks and tabs, and nothing else that may look like a blank."""
    fields: list[bytearray] = []
    inside = False
    for byte in line:
        if byte in b" \t":
            inside = False
        elif inside:
            fields[-1].append(byte)
        else:
            fields.append(bytearray([byte]))
            inside = True
    return [bytes(field) for field in fields]


def stripped(text: bytes) -> bytes:
    """Return a text without the blanks and tabs around it."""
    start, end = 0, len(text)
    while start < end and text[start] in b" \t":
        start += 1
    while end > start and text[end - 1] in b" \t":
        end -= 1
    return text[start:end]


_YES_OR_NO = {word: b"%d" % (word in (b"true", b"t", b"yes", b"y")) for word in b"true t yes y false f no n".split()}


def label_number(text: bytes) -> float | None:
    """Return the number of a label, which may be yes or no in words; None for any other text."""
    return decimal_number(_YES_OR_NO.get(text.lower(), text))


def decimal_number(text: bytes) -> float | None:
    """Return the finite double nearest to a decimal number, None for any other text.

    ``[+-] digits [. [digits]] [e [+-] digits]`` or ``[+-] . digits [e ...]``, ASCII. The value is found exactly: by a
    fraction, rounded once, unless the exponent is so large that the answer is plain.
    """
    at, sign = 0, 1
    if text[:1] in (b"+", b"-"):
        at, sign = 1, -1 if text[:1] == b"-" else 1
    whole, at = _digits(text, at)
    decimals = b""
    if text[at : at + 1] == b".":
        decimals, at = _digits(text, at + 1)
    if not whole and not decimals:
        return None
    exponent = 0
    if text[at : at + 1] in (b"e", b"E"):
        at += 1
        exponent_sign = 1
        if text[at : at + 1] in (b"+", b"-"):
            exponent_sign = -1 if text[at : at + 1] == b"-" else 1
            at += 1
        digits, at = _digits(text, at)
        if not digits:
            return None
        exponent = exponent_sign * int(digits[-9:] if not digits[:-9].strip(b"0") else b"999999999")
    if at != len(text):
        return None
    return _double(sign, whole + decimals, exponent - len(decimals))


def _double(sign: int, digits: bytes, exponent: int) -> float | None:
    """Return ``sign * digits * 10 ** exponent`` as a double, None beyond them."""
    digits = digits.lstrip(b"0")
    if not digits or len(digits) + exponent < -400:
        return sign * 0.0
    if len(digits) + exponent > 400:
        return None
    number = Fraction(int(digits)) * Fraction(10) ** exponent
    try:
        value = number.numerator / number.denominator  # true division of integers rounds once, to nearest even
    except OverflowError:
        return None
    return sign * value


def _digits(text: bytes, at: int) -> tuple[bytes, int]:
    end = at
    while end < len(text) and text[end] in _DIGITS:
        end += 1
    return text[at:end], end
