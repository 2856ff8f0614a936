"""Files of every format as a random source makes them: well-formed ones, and the same with damage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

_LETTERS = "abXYZ019_-"
_ODD = "é€𝄞\u2028\u2029\x85\xa0\u3000\u202e\u200b٣１\x0b\x0c\x1c\x7f\ufeff\ud7ff\U0010ffff\x01'`|<>=@;%\\/"
_QUOTED = ',;"\t \n#:'
_NUMBERS = (
    *("0", "1", "-1", "2.5", "-0", "0.0", "-0.0", "+3", ".5", "5.", "-.25", "1e3", "1E-3", "2.5e+1", "1e-400", "007"),
    *("0.1", "1.7976931348623157e308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324"),
    *("9007199254740993", "9007199254740992.5", "0.30000000000000004", "1" + "0" * 60, "0." + "0" * 60 + "1"),
    *("179769313486231580793728971405301e276", "1.00000000000000011102230246251565404", "0e999999999999"),
)
_WRONG_NUMBERS = (
    *("nan", "NaN", "inf", "-Infinity", "1_000", "1e400", "-1e309", "0x1p3", "1,5", "٣", "１２", "1e", "e5", "+", "-"),
    *(".", "--1", "1.2.3", "1e5.0", "1d3", "1f", "0b1", "∞", "null", "true", "1 2", "½", "9" * 400, "1e+", "NA", ""),
)
_PIECES = (
    *(b" ", b"  ", b"\t", b" \t ", b"\n", b"\n\n", b"\r\n", b"\r", b"\r\r\n", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xa8", b"\xc2\x85", b"\xc2\xa0", b"\x0b", b"\x0c", b"\x1c", b"\x1a"),
    *(b",", b",,", b";", b'"', b'""', b'"""', b"'", b"#", b"#\n", b":", b"qid:", b"qid:q1 ", b"1:2", b"{", b"}"),
    *(b"\\", b"\\u", b"\\ud800", b"\\u0000", b"null", b"true", b"-", b"+", b".", b"e", b"0", b"7", b"q1", b"d1"),
    *(b'"item"', b'"group":1,', b'"x":{"a":[1,{}]},', b'{"group":"q1","item":"z","score":1,"label":1}\n', b'"a\nb"'),
    *(b"\xf0\x9f\x98\x80", b"\xcc\x81", b"\xf4\x90\x80\x80", b"\xc0\x80", b"g" * 2001, b"\x1b[2J", b"PAR1"),
    *(text.encode() for text in (*_NUMBERS[:16], *_WRONG_NUMBERS)),
)  # fmt: skip


def damaged(random: Random, content: bytes) -> bytes:
    """Return the content with one to four things done to it: bytes flipped, put in or cut out, lines moved, a cut."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        content = random.choice(_DAMAGES)(random, content)
    return content


def _flipped(random: Random, content: bytes) -> bytes:
    if not content:
        return content
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


def _pierced(random: Random, content: bytes) -> bytes:
    start = random.randint(0, len(content))
    end = min(len(content), start + random.choice((0, 0, 1, 1, 2, 5)))
    return content[:start] + random.choice(_PIECES) + content[end:]


def _renumbered(random: Random, content: bytes) -> bytes:
    """Put a number, or what looks like one, where a field ends."""
    ends = [place for place, byte in enumerate(content) if byte in b" \t\n,:}"]
    if not ends:
        return content
    place = random.choice(ends)
    start = place
    while start and content[start - 1] not in b" \t\n,:":
        start -= 1
    return content[:start] + random.choice(_NUMBERS + _WRONG_NUMBERS).encode() + content[place:]


def _cut(random: Random, content: bytes) -> bytes:
    return content[: random.randint(0, len(content))]


def _without_some(random: Random, content: bytes) -> bytes:
    start = random.randint(0, len(content))
    return content[:start] + content[start + random.choice((1, 2, 8)) :]


def _lines_moved(random: Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)  # any order of any pieces will do
    if len(lines) < 2:
        return content
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    if random.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.insert(one, lines[other])
    return b"".join(lines)


def _other_ends(random: Random, content: bytes) -> bytes:
    old, new = random.choice(
        ((b"\n", b"\r\n"), (b"\n", b"\r"), (b"\r\n", b"\n"), (b"\n", b"\n\r"), (b"\n", b"\xe2\x80\xa8"))
    )
    return content.replace(old, new, random.choice((1, 2, -1)))


_ENDS = ((b"\n", b"\r\n"), (b"\n", b"\r"), (b"\r\n", b"\n"), (b"\n", b"\n\r"), (b"\n", "\u2028".encode()))
_DAMAGES = (
    *(_flipped, _pierced, _pierced, _pierced, _renumbered, _renumbered, _cut, _without_some, _lines_moved, _other_ends),
)


def number_text(random: Random) -> str:
    """Return a finite decimal number."""
    if random.random() < 0.5:
        return random.choice(_NUMBERS)
    if random.random() < 0.5:
        return repr(random.uniform(-10, 10) * 10.0 ** random.randint(-20, 20))
    return str(random.randint(-5, 5))


def _id(random: Random, letters: str) -> str:
    return "".join(random.choice(letters) for _ in range(random.choice((1, 1, 2, 3, 6, 17))))


def _rows(random: Random, letters: str) -> list[tuple[str, str]]:
    """Return (group, item) pairs without repetition, mostly group by group."""
    groups = list(dict.fromkeys(_id(random, letters) for _ in range(random.randint(1, 4))))
    rows = [
        (group, item)
        for group in groups
        for item in dict.fromkeys(_id(random, letters) for _ in range(random.randint(1, 4)))
    ]
    if random.random() < 0.1:
        random.shuffle(rows)
    return rows


def _plain_or_odd(random: Random) -> str:
    return _LETTERS if random.random() < 0.6 else _LETTERS + _ODD


def _file(random: Random, lines: Sequence[str], noise: Sequence[str]) -> bytes:
    end = random.choice(("\n", "\n", "\r\n"))
    text = "\ufeff" if random.random() < 0.05 else ""
    for line in lines:
        if noise and random.random() < 0.1:
            text += random.choice(noise) + end
        text += line + end
    if random.random() < 0.3:
        text = text[: -len(end)]
    return text.encode()


def trec_file(random: Random, n_fields: int) -> bytes:
    """Return a TREC run (6 fields) or qrels (4)."""
    gap = random.choice((" ", " ", "\t", "  ", " \t"))
    lines = []
    for group, item in _rows(random, _plain_or_odd(random)):
        fields = (
            [group, "Q0", item, "1", number_text(random), "tag"]
            if n_fields == 6
            else [group, "0", item, number_text(random)]
        )
        around = gap if random.random() < 0.05 else ""
        lines.append(around + gap.join(fields) + around)
    return _file(random, lines, ("", "  ", "\t"))


def delimited_file(random: Random, delimiter: str, labels: bool) -> bytes:
    """Return a CSV or TSV file of a run, or of labels."""
    header = ["group", "label"] if labels else ["group", "score"]
    header += [name for name in ("item", "weight", "text", "text") if random.random() < 0.6]
    if not labels and random.random() < 0.5:
        header.append("label")
    random.shuffle(header)
    lines = [delimiter.join(_cell(random, name, delimiter) for name in header)]
    for group, item in _rows(random, random.choice((_LETTERS, _LETTERS + _ODD, _LETTERS + _ODD + _QUOTED))):
        cells = []
        for name in header:
            text = {"group": group, "item": item, "text": _id(random, _LETTERS + _QUOTED)}.get(name)
            if text is None:
                text = number_text(random).lstrip("-") if name == "weight" else number_text(random)
                if name != "weight" and random.random() < 0.2:
                    text = ""
                if random.random() < 0.05:
                    text = f" {text}\t" if delimiter == "," else f" {text} "
            cells.append(_cell(random, text, delimiter))
        lines.append(delimiter.join(cells))
    return _file(random, lines, ("", " "))


def _cell(random: Random, text: str, delimiter: str) -> str:
    if any(letter in text for letter in (delimiter, '"', "\n", "\r")) or random.random() < 0.1:
        return '"' + text.replace('"', '""') + '"'
    return text


def json_file(random: Random, labels: bool) -> bytes:
    """Return a JSON lines file of a run, or of labels."""
    number = "label" if labels else "score"
    kept = [name for name in ("item", "weight", "label", "score", "text") if random.random() < 0.6 or name == number]
    whole_ids = random.random() < 0.2
    escaped = random.random() < 0.3
    has_lists = random.random() < 0.3
    are_ids_alone = has_lists and random.random() < 0.3
    if are_ids_alone:
        kept = [name for name in kept if name in ("item", "weight", "text") or random.random() < 0.02]
    lines = []
    for place, (group, item) in enumerate(_rows(random, random.choice((_LETTERS, _LETTERS + _ODD + _QUOTED)))):
        record: dict[str, str] = {}
        record["group"] = json.dumps(group, ensure_ascii=escaped)
        record["item"] = str(place * 7 - 3) if whole_ids else json.dumps(item, ensure_ascii=escaped)
        record["weight"] = _json_number(random).lstrip("-")
        record["text"] = random.choice(('"x"', "null", "1", '{"a": [1, 2, {}]}', "true", '"\\u00e9"', "-0.0", "1e999"))
        for name in ("score", "label"):
            value = _json_number(random) if random.random() < 0.9 else "null"
            record[name] = "true" if name == "label" and random.random() < 0.05 else value
        if has_lists and random.random() < 0.9:
            _fold(random, record)
        names = ["group", *kept]
        random.shuffle(names)
        space = random.choice(("", " "))
        members = [f'"{name}"{space}:{space}{record[name]}' for name in names if record[name] != "null" or space]
        lines.append("{" + f",{space}".join(members) + "}")
    return _file(random, lines, ("", " ", "\t"))


def _fold(random: Random, record: dict[str, str]) -> None:
    """Make lists of an object's members: of one length, but that a few are too short or no lists."""
    length = random.choice((0, 1, 1, 2, 3))
    for name in ("item", "score", "label", "weight"):
        if name == "weight" and random.random() < 0.7:
            continue
        if random.random() < 0.02:
            length -= length > 0
        if random.random() > 0.02:
            first = record[name]
            others = [f'"{place}"' if name == "item" else _json_number(random).lstrip("-") for place in range(length)]
            record[name] = f"[{', '.join([first, *others[1:]][:length])}]"


def _json_number(random: Random) -> str:
    text = random.choice(("0", "1", "-1", "2.5", "-0", "-0.0", "1e3", "1E-3", "2.5e+1", "4.9e-324", "9007199254740993"))
    return text if random.random() < 0.5 else repr(random.uniform(-9, 9))


def label_qid_file(random: Random, has_groups: bool) -> tuple[bytes, bytes, bytes]:
    """Return a label/qid file, scores for its rows, and the sizes of its groups."""
    lines, scores, sizes = [], [], {}
    for group, _ in _rows(random, _LETTERS):
        features = random.choice(("", " 1:0.5 2:1e-3", "\t1:2 # doc 7", " 1:x#c", "  17:nan "))
        lines.append(f"{number_text(random)}{' qid:' + group if has_groups else ''}{features}")
        scores.append(number_text(random))
        sizes[group] = sizes.get(group, 0) + 1
    return (
        _file(random, lines, ("", " ", "# comment", "\t# 1 qid:7")),
        _file(random, scores, ("", " ")),
        _file(random, [str(size) for size in sizes.values()], ("", " ")),
    )
