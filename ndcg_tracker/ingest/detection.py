"""Which reader a file needs, by its name and else by its first lines."""

from __future__ import annotations

import re
from pathlib import PurePath

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import shown_name

READERS = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "svmlight")

_BY_EXTENSION = {
    **dict.fromkeys((".run", ".trec", ".txt", ".qrels", ".res"), "trec"),
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".svm", ".svmlight", ".letor", ".libsvm"), "svmlight"),
}
_KEYS = {"requests", "details", "rank_eval", "judgmentRatings", "hits", "queries", "query_doc_pairs"}
_SVMLIGHT = re.compile(rb"\S+[ \t]+(?:qid:\S+|[0-9]+:\S+)(?:[ \t].*)?")


def detect_reader(path: str, first_bytes: bytes) -> str:
    """Return the name of the reader for a file: by its extension (``.gz`` left aside), else by its content.

    Parameters: ``first_bytes``, the beginning of the content, decompressed. Raises: InputError if neither tells.

    >>> detect_reader("bm25.run.gz", b""), detect_reader("-", b"1 qid:3 1:0.5"), detect_reader("-", b"group,score")
    ('trec', 'svmlight', 'csv')
    """
    name = PurePath(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    by_extension = _BY_EXTENSION.get(PurePath(name).suffix.lower())
    if by_extension == "json":
        return _json_reader(first_bytes)
    if by_extension is not None:
        return by_extension
    by_content = _by_content(first_bytes)
    if by_content is None:
        shown = "<stdin>" if path == "-" else shown_name(path)
        raise InputError(f"{shown}: cannot tell the format; name it with {argument('reader')} ({' '.join(READERS)})")
    return by_content


def default_run_name(path: str) -> str:
    """Return the name of a run whose name was not given: the file's, without ``.gz`` and its extension.

    Raises: InputError for standard input and for names that are no text.

    >>> default_run_name("runs/irc_pmc.run.gz")
    'irc_pmc'
    """
    if path == "-":
        raise InputError(f"<stdin>: a run from standard input has no name; give one with {argument('name')}")
    name = PurePath(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    name = PurePath(name).stem
    if not name or not name.isprintable():
        raise InputError(f"{shown_name(path)}: cannot name a run after this file; give a name with {argument('name')}")
    return name


def _by_content(first_bytes: bytes) -> str | None:
    if first_bytes.startswith(b"PAR1"):
        return "parquet"
    text = first_bytes.removeprefix(b"\xef\xbb\xbf")
    lines = (line.rstrip(b"\r") for line in text.split(b"\n"))
    line = next((line for line in lines if line.strip(b" \t") and not line.startswith(b"#")), b"")
    fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    if line.lstrip(b" \t").startswith((b"{", b"[")):
        return _json_reader(first_bytes)
    if _SVMLIGHT.fullmatch(line) and _is_number(fields[0]):
        return "svmlight"
    if (len(fields) == 6 and _is_number(fields[4])) or (len(fields) == 4 and _is_number(fields[3])):
        return "trec"
    if b"\t" in line:
        return "tsv"
    return "csv" if b"," in line else None


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
    return "json" if nested and (len(nested) == len(record) or not _KEYS.isdisjoint(record)) else "jsonl"


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value))


def _is_number(field: bytes) -> bool:
    try:
        number(field)
    except ValueError:
        return False
    return True
