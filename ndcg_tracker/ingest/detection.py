"""Detection of the reader that a file needs, by its name, else by its first lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import number
from ndcg_tracker.ingest.compression import without_compression
from ndcg_tracker.words.texts import shown_name


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: the name of its reader, the endings of its files, and whether its columns have names."""

    name: str
    endings: tuple[str, ...]
    has_columns: bool


FORMATS = (
    Format("trec", (".run", ".trec", ".txt", ".qrels", ".res"), has_columns=False),
    Format("csv", (".csv",), has_columns=True),
    Format("tsv", (".tsv",), has_columns=True),
    Format("json", (".json",), has_columns=True),
    Format("jsonl", (".jsonl", ".ndjson"), has_columns=True),
    Format("parquet", (".parquet", ".pq"), has_columns=True),
    Format("svmlight", (".svm", ".svmlight", ".letor", ".libsvm"), has_columns=False),
)
READERS = tuple(format.name for format in FORMATS)
WITHOUT_COLUMNS = tuple(format.name for format in FORMATS if not format.has_columns)
_BY_EXTENSION = {ending: format.name for format in FORMATS for ending in format.endings}
_DOCUMENT_KEYS = {"requests", "details", "rank_eval", "judgmentRatings", "hits", "queries", "query_doc_pairs"}
_SVMLIGHT = re.compile(rb"\S+[ \t]+(?:qid:\S+|[0-9]+:\S+)(?:[ \t].*)?")
_OUTPUT = re.compile(rb"(?=[^\t]{22})[A-Za-z][A-Za-z0-9_.,=-]* *\t[^\t]+\t[^\t]+")  # of trec_eval
_ITERATION = re.compile(rb"Q0|[0-9.]+")
_N_QRELS, _N_RUN = 4, 6  # fields


def detect_reader(path: str, first_bytes: bytes) -> str:
    """Return the name of the reader for a file: by its ending (a compression's left aside), else by its content.

    A file named .tsv whose first line is a TREC line is a TREC file. Parameters: ``first_bytes``, the beginning of
    the content, decompressed. Raises: InputError if neither tells, and for what trec_eval has printed.

    >>> detect_reader("bm25.run.gz", b""), detect_reader("-", b"1 qid:3 1:0.5"), detect_reader("-", b"group,score")
    ('trec', 'svmlight', 'csv')
    """
    reader = _BY_EXTENSION.get(PurePath(without_compression(path)).suffix.lower())
    if reader == "json":
        return _json_reader(first_bytes)
    if reader == "tsv":
        return "trec" if _is_trec(_first_line(first_bytes), b"\t") else "tsv"
    if reader is None:
        reader = _by_content(path, first_bytes)
    if reader is None:
        raise InputError(
            "cannot tell the format",
            where=_shown(path),
            advice=f"name it with {argument('reader')} ({' '.join(READERS)})",
        )
    return reader


def detect_delimited(path: str, first_bytes: bytes) -> str:
    """Return the name of the reader for a table without header: by the file's ending, else by its first line.

    Raises: InputError if neither tells.

    >>> detect_delimited("top1000.dev.tsv.gz", b""), detect_delimited("top1000", b"1048585\\t7187158\\t1\\n")
    ('tsv', 'tsv')
    """
    reader = _BY_EXTENSION.get(PurePath(without_compression(path)).suffix.lower())
    if reader in ("csv", "tsv"):
        return reader
    line = _first_line(first_bytes)
    if b"\t" in line or b"," in line:
        return "tsv" if b"\t" in line else "csv"
    raise InputError(
        f"{argument('columns')} names the columns of a csv or tsv file, and the first line of this one has neither a "
        "comma nor a tab",
        where=_shown(path),
        advice="write it with either",
    )


def default_run_name(path: str) -> str:
    """Return the name of a run whose name was not given: the file's, without the endings of compression and format.

    Raises: InputError for standard input and for names that are no text.

    >>> default_run_name("runs/irc_pmc.run.gz"), default_run_name("input.runA"), default_run_name("bm25.k1=0.1")
    ('irc_pmc', 'input.runA', 'bm25.k1=0.1')
    """
    if path == "-":
        raise InputError(
            "a run from standard input has no name", where="<stdin>", advice=f"give one with {argument('name')}"
        )
    name = without_compression(PurePath(path).name)
    if PurePath(name).suffix.lower() in _BY_EXTENSION:
        name = PurePath(name).stem
    if not name or not name.isprintable():
        raise InputError(
            "cannot name a run after this file", where=_shown(path), advice=f"give a name with {argument('name')}"
        )
    return name


def _shown(path: str) -> str:
    return "<stdin>" if path == "-" else shown_name(path)


def _first_line(first_bytes: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment."""
    lines = (line.strip(b" \t\r") for line in first_bytes.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    return next((line for line in lines if line and not line.startswith(b"#")), b"")


def _by_content(path: str, first_bytes: bytes) -> str | None:
    if first_bytes.startswith(b"PAR1"):
        return "parquet"
    line = _first_line(first_bytes)
    if line.startswith((b"{", b"[")):
        return _json_reader(first_bytes)
    if _SVMLIGHT.fullmatch(line) and _is_number(line.replace(b"\t", b" ").partition(b" ")[0]):
        return "svmlight"
    if _OUTPUT.fullmatch(line):
        raise InputError(
            "is what trec_eval has printed", where=_shown(path), advice="give the run or the labels that it has read"
        )
    if _is_trec(line):
        return "trec"
    if b"\t" in line:
        return "tsv"
    return "csv" if b"," in line else None


def _is_trec(line: bytes, delimiter: bytes | None = None) -> bool:
    """Return whether a line is that of a TREC run or qrels, or of a kind that the reader refuses by name.

    Parameters: ``delimiter``: what stands between two fields, None for blanks and tabs.
    """
    fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    if delimiter is not None and fields[:5] != line.split(delimiter)[:5]:
        return False
    if len(fields) < _N_QRELS:
        return False
    if len(fields) == _N_QRELS:
        return _is_number(fields[3]) and (delimiter is None or _ITERATION.fullmatch(fields[1]) is not None)
    if len(fields) == _N_QRELS + 1 and delimiter is None:  # preferences, or a run without the group
        return (b"\t" not in line and _is_number(fields[4])) or (fields[0] == b"Q0" and _is_number(fields[3]))
    return _is_number(fields[4]) and (len(fields) == _N_RUN or _is_number(fields[3]))


def _json_reader(first_bytes: bytes) -> str:
    """Return the reader of JSON: ``jsonl`` where the first line is a record, whole and flat, else ``json``."""
    import json

    first, _, rest = first_bytes.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").partition(b"\n")
    try:
        record = json.loads(first) if first.startswith(b"{") else None
    except (ValueError, RecursionError):
        return "json"
    if not isinstance(record, dict):
        return "json"
    if rest.strip():
        return "jsonl"
    nested = [value for value in record.values() if _is_nested(value)]
    return "json" if nested and (len(nested) == len(record) or not _DOCUMENT_KEYS.isdisjoint(record)) else "jsonl"


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(element, (dict, list)) for element in value)
    )


def _is_number(field: bytes) -> bool:
    try:
        number(field)
    except ValueError:
        return False
    return True
