"""Row 20: files that unpack to too much, or that never end, through every reader of files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import ndcg_tracker as nt

from .memory import peak_of
from .report import Outcome, Setting

_SEED = 20
_MIB = 1 << 20
_LARGEST = 3 << 29  # bytes of memory; what may be read may become 256 MB, which is held a few times
_LONG = "x" * 1000
_N_LIES = 40
_QUICK = ("deep JSON", "/dev/zero")  # small bombs of all kinds are in tests/test_unpacking.py and tests/ingest
_READING = """
import io, json, sys, traceback
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.groups import read_groups
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run
from ndcg_tracker.ingest.results import read_results
from ndcg_tracker.ingest.groups import read_texts

def streamed(path, **options):
    with stream_run(path, **options) as blocks:
        for _ in blocks:
            pass

def piped(path, **options):
    with open(path, "rb") as file:
        read_run("-", stdin=file, **options)

def results(path, **options):
    read_results(path, (0.0, 1.0), **options)

path, reader = sys.argv[1], sys.argv[2] or None
ways = {"run": read_run, "labels": read_labels, "stream": streamed}
if path.startswith("/dev/") or "device" in path:
    ways |= {"groups": read_groups, "texts": read_texts, "results": results}
else:
    ways["pipe"] = piped
    if reader in ("parquet", "jsonl", "csv"):
        ways |= {"groups": read_groups, "texts": read_texts, "results": results}
said = {}
for way, read in ways.items():
    try:
        read(path, reader=reader)
        said[way] = "taken"
    except InputError as error:
        said[way] = f"refused: {error}"
    except BaseException as error:
        said[way] = f"failed: {type(error).__name__}: {error}"
print(json.dumps(said))
"""


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what became of bombs, of what never ends, and of footers that lie."""
    folder = setting.folder / "bombs"
    folder.mkdir()
    made = {name: make for name, make in BOMBS.items() if setting.size == "full" or name in _QUICK}
    endless = {name: make for name, make in ENDLESS.items() if setting.size == "full" or name in _QUICK}
    yield _tried(setting, folder, "files that unpack to too much, or are nested without end", made)
    yield _tried(setting, folder, "devices, and links to them", endless)
    if setting.size == "full":
        yield _tried(setting, folder, "Parquet files whose footers or pages lie", _lies())
        yield _imported(setting, folder)


def _tried(setting: Setting, folder: Path, what: str, made: dict[str, Callable[[Path], tuple[Path, str]]]) -> Outcome:
    n_refused = n_tried = peak = 0
    largest = ""
    wrong = []
    for name, make in made.items():
        path, reader = make(folder)
        code, its_peak, out, err = peak_of(setting, [sys.executable, "-c", _READING, str(path), reader])
        if its_peak > peak:
            peak, largest = its_peak, name
        if path.parent == folder:
            path.unlink()
        if code != 0:
            wrong.append(f"{name}: exit {code}: {err[-200:]}")
            continue
        for way, said in json.loads(out).items():
            n_tried += 1
            n_refused += said.startswith("refused: ") and said.isprintable()
            if not said.startswith("refused: ") or not said.isprintable():
                wrong.append(f"{name}: {way}: {said[:200]}")
    told = f"; {len(wrong)} wrong, first: {wrong[0]}" if wrong else ""
    return Outcome(
        20,
        f"{len(made)} {what} x readers",
        "-",
        f"all refused in one line, no process above {_LARGEST / (1 << 30):g} GiB",
        f"{n_refused} of {n_tried} readings refused; {peak >> 20:,} MiB at the peak ({largest}){told}",
        met=not wrong and peak < _LARGEST,
    )


def _imported(setting: Setting, folder: Path) -> Outcome:
    """Put a bomb in the place of each table of an export, one after the other, and import it."""
    export = folder / "export"
    with nt.Tracker(f"sqlite:///{folder / 'a.db'}") as tracker:
        shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
        tracker.ingest(shop, name="bm25", item="item", tags={"stage": "test"})
        tracker.set_groups({"group": ["q"], "device": ["tv"]})
        tracker.export_runs(export)
    asking = "import sys, ndcg_tracker as nt\ntry: nt.Tracker(sys.argv[1]).import_runs(sys.argv[2])\n"
    asking += "except nt.InputError as error: print(error)"
    peak, wrong, n_tried = 0, [], 0
    for table in sorted(export.glob("*.parquet")):
        content = table.read_bytes()
        rows = pq.read_table(table)
        texts = [place for place, field in enumerate(rows.schema) if pa.types.is_string(field.type)]
        if not rows.num_rows or not texts:
            continue
        n_tried += 1
        long = pa.array([_LONG]).take([0] * 1_000_000)
        many = pa.table({
            field.name: long.cast(field.type) if place in texts else rows.column(place).take([0] * 1_000_000)
            for place, field in enumerate(rows.schema)
        })  # fmt: skip
        pq.write_table(many.cast(rows.schema), table, compression="zstd")
        url = f"sqlite:///{folder / f'{n_tried}.db'}"
        code, its_peak, out, err = peak_of(setting, [sys.executable, "-c", asking, url, str(export)])
        peak = max(peak, its_peak)
        if code or "grows to more than" not in out:
            wrong.append(f"{table.name}: exit {code}: {out[:200]}{err[-200:]}")
        table.write_bytes(content)
    told = f"; {len(wrong)} wrong, first: {wrong[0]}" if wrong else ""
    return Outcome(
        20,
        f"{n_tried} tables of an export, each a bomb, imported",
        "-",
        f"all refused in one line, no process above {_LARGEST / (1 << 30):g} GiB",
        f"{n_tried - len(wrong)} of {n_tried} refused; {peak >> 20:,} MiB at the peak{told}",
        met=not wrong and n_tried > 0 and peak < _LARGEST,
    )


def _parquet(columns: dict[str, Any], n_groups: int = 8, **options: Any) -> Callable[[Path], tuple[Path, str]]:
    def make(folder: Path) -> tuple[Path, str]:
        path = folder / "bomb.parquet"
        table = pa.table({name: value() if callable(value) else value for name, value in columns.items()})
        with pq.ParquetWriter(
            path, table.schema, **{"compression": "zstd", "store_schema": False, **options}
        ) as writer:
            for _ in range(n_groups):
                writer.write_table(table, row_group_size=len(table))
        return path, "parquet"

    return make


def _times(value: Any, n: int) -> Callable[[], Any]:
    if not isinstance(value, str):
        return lambda: pa.array([value]).take(pa.array([0] * n))
    return lambda: pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), [value])  # a gigabyte, if it were not


def _list_of(value: Any, n: int) -> Callable[[], Any]:
    return lambda: [[value] * n]  # made when it is wanted: the import of this module holds none


def _table(n: int = 1_000_000, **others: Any) -> dict[str, Any]:
    every = {"group": "q", "item": "d", "score": 0.5, "label": 1, "text": "t", "value": 0.5, "device": "tv"}
    return {name: _times(value, n) for name, value in every.items()} | others


def _bytes(name: str, reader: str, content: Callable[[], bytes]) -> Callable[[Path], tuple[Path, str]]:
    def make(folder: Path) -> tuple[Path, str]:
        path = folder / name
        path.write_bytes(content())
        return path, reader

    return make


def _packed(
    name: str, reader: str, packed: Callable[[bytes], bytes], part: bytes
) -> Callable[[Path], tuple[Path, str]]:
    """Return a maker of several members, each of them 64 MiB of the same part, together beyond what may be."""
    return _bytes(name, reader, lambda: packed(part * (64 * _MIB // len(part))) * 5)


def _zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


_LISTED = {"item": 1, "score": 0.5, "label": 1, "value": 0.5}
_LINE = b"q Q0 d 1 0.5 t\n"
_DEEP = 100_000
BOMBS: dict[str, Callable[[Path], tuple[Path, str]]] = {
    "ids in a dictionary": _parquet(_table(group=_times(_LONG, 1_000_000), item=_times(_LONG, 1_000_000))),
    "items alone in a dictionary": _parquet(_table(item=_times(_LONG, 1_000_000))),
    "groups alone in a dictionary": _parquet(_table(group=_times(_LONG, 1_000_000))),
    "one huge id in a dictionary": _parquet(_table(100_000, item=_times("x" * _MIB, 100_000)), n_groups=1),
    "a dictionary in gzip": _parquet(_table(item=_times(_LONG, 1_000_000)), compression="gzip"),
    "a dictionary in brotli": _parquet(_table(item=_times(_LONG, 1_000_000)), compression="brotli"),
    "a dictionary without compression": _parquet(_table(item=_times(_LONG, 1_000_000)), compression="none"),
    "a dictionary in pages of the second version": _parquet(
        _table(item=_times(_LONG, 1_000_000)), data_page_version="2.0"
    ),
    "a dictionary in many row groups": _parquet(_table(1_000, item=_times(_LONG, 1_000)), n_groups=2_000),
    "ids one by one": _parquet(_table(300_000, item=_times(_LONG, 300_000)), n_groups=3, use_dictionary=False),
    "ids that repeat the one before": _parquet(
        _table(300_000, item=_times(_LONG, 300_000)),
        n_groups=3,
        use_dictionary=False,
        column_encoding={"item": "DELTA_BYTE_ARRAY"},
    ),
    "ids of fixed length": _parquet(
        _table(300_000, item=lambda: pa.array([_LONG.encode()], pa.binary(1000)).take(pa.array([0] * 300_000))),
        n_groups=3,
    ),
    "numbers": _parquet({
        name: _times(0, 5_000_000) for name in ("group", "item", "score", "label", "text", "value", "device")
    }, n_groups=10),
    "lists of ids": _parquet(
        {"group": ["q"], "device": ["tv"], "text": [_LONG]}
        | {name: _list_of(value, 2_000_000) for name, value in (_LISTED | {"item": _LONG}).items()},
        n_groups=1,
    ),
    "lists of numbers": _parquet(
        {"group": ["q"], "device": ["tv"], "text": ["t"]}
        | {name: _list_of(value, 20_000_000) for name, value in _LISTED.items()},
        n_groups=1,
    ),
    "ids within structs": _parquet(
        _table(group=lambda: pa.StructArray.from_arrays([_times(_LONG, 1_000_000)()], ["id"]))
    ),
    "a Parquet file in gzip": lambda folder: _gzipped(BOMBS["items alone in a dictionary"](folder)),
    **{
        f"{what} in {ending}": _packed(f"bomb.run.{ending}", "trec", packed, part)
        for ending, packed in (("gz", gzip.compress), ("zst", _zstd), ("bz2", bz2.compress), ("xz", lzma.compress))
        for what, part in (("lines", _LINE), ("zeros", b"\0"))
    },
    "gzip in gzip": _bytes("bomb.run.gz", "trec", lambda: gzip.compress(gzip.compress(_LINE * 4_000_000) * 5)),
    "JSON in gzip": _packed("bomb.json.gz", "json", gzip.compress, b"[" + b" " * 1023),
    "JSON lines in gzip": _packed("bomb.jsonl.gz", "jsonl", gzip.compress, b'{"group": "q"}\n'),
    "CSV in zstd": _packed("bomb.csv.zst", "csv", _zstd, b"group,item,score\n"),
    "deep JSON": _bytes("bomb.json", "json", lambda: b"[" * _DEEP + b"]" * _DEEP),
    "deep objects": _bytes("bomb.json", "json", lambda: b'{"a":' * _DEEP + b"1" + b"}" * _DEEP),
    "deep JSON lines": _bytes("bomb.jsonl", "jsonl", lambda: b'{"group":' + b"[" * _DEEP + b"]" * _DEEP + b"}\n"),
    "a number of a million digits": _bytes("bomb.json", "json", lambda: b'{"q":{"a":' + b"9" * 1_000_000 + b"}}"),
    "a line of 128 MiB": _bytes("bomb.run", "trec", lambda: b"q" * (1 << 27)),
    "a cell of 128 MiB": _bytes("bomb.csv", "csv", lambda: b'group,item,score\n"' + b"q" * (1 << 27)),
}  # fmt: skip


def _gzipped(made: tuple[Path, str]) -> tuple[Path, str]:
    path, reader = made
    packed = path.with_name("bomb.parquet.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed, reader


def _device(name: str) -> Callable[[Path], tuple[Path, str]]:
    return lambda folder: (Path(name), "trec")


def _linked(name: str, ending: str, reader: str) -> Callable[[Path], tuple[Path, str]]:
    def make(folder: Path) -> tuple[Path, str]:
        link = folder / f"device{ending}"
        link.symlink_to(name)
        return link, reader

    return make


_DEVICES = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/proc/self/mem", "/proc/self/pagemap")
ENDLESS: dict[str, Callable[[Path], tuple[Path, str]]] = {
    **{name: _device(name) for name in _DEVICES if Path(name).exists()},
    **{
        f"a link to {name} called {ending}": _linked(name, ending, reader)
        for name in _DEVICES
        if Path(name).exists()
        for ending, reader in ((".run", "trec"), (".parquet", "parquet"), (".json", "json"), (".csv", "csv"))
    },
}


def _lies() -> dict[str, Callable[[Path], tuple[Path, str]]]:
    """Return bombs of which some bytes of the footer, or of the headers of pages, were changed."""
    random = Random(_SEED)

    def lying(number: int) -> Callable[[Path], tuple[Path, str]]:
        name = random.choice(("items alone in a dictionary", "ids one by one", "a dictionary in many row groups"))
        seed = random.random()

        def make(folder: Path) -> tuple[Path, str]:
            path, reader = BOMBS[name](folder)
            content = bytearray(path.read_bytes())
            n_footer = int.from_bytes(content[-8:-4], "little")
            own = Random(seed)
            for _ in range(own.choice((1, 2, 8))):
                place = (
                    own.randrange(len(content) - 8 - n_footer, len(content) - 8) if number % 4 else own.randrange(200)
                )
                content[place] = own.randrange(256)
            path.write_bytes(content)
            return path, reader

        return make

    return {f"lie {number}": lying(number) for number in range(_N_LIES)}
