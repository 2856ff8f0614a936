from __future__ import annotations

import io
import itertools
import re
from pathlib import Path
from typing import get_args

import pytest

from ndcg_tracker import asked
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.detection import FORMATS, READERS, default_run_name, detect_reader
from ndcg_tracker.ingest.reading import read_labels, read_run


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        *((f"a.{extension}", "trec") for extension in ("run", "trec", "txt", "qrels", "res", "RUN", "run.gz")),
        *(("a.csv", "csv"), ("a.tsv", "tsv"), ("a.jsonl", "jsonl"), ("a.ndjson.gz", "jsonl"), ("a.b.csv.GZ", "csv")),
        *(("a.parquet", "parquet"), ("a.pq", "parquet"), ("a.svm", "svmlight"), ("a.svmlight", "svmlight")),
        *(("a.run.zst", "trec"), ("a.csv.bz2", "csv"), ("a.jsonl.XZ", "jsonl")),
        *(("a.letor", "svmlight"), ("a.libsvm", "svmlight"), ("dir.csv/a.run", "trec")),
    ],
)
def test_the_extension_tells(name: str, reader: str) -> None:
    assert detect_reader(name, b"") == reader


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        (b"PAR1\0\0", "parquet"),
        (b"1 Q0 d 1 2.5 tag\n", "trec"),
        (b"\n1\tQ0\td\t1\t2.5\ttag\r\n", "trec"),
        (b"\xef\xbb\xbf1 0.5  d 2\n", "trec"),
        (b' {"group": 1}\n', "jsonl"),
        (b'{"q": {"a": 1}}\n', "json"),
        (b'\xef\xbb\xbf{\n "q": {"a": 1}}\n', "json"),
        (b'[{"group": 1}]', "json"),
        (b"group,item,score\n1,a,2\n", "csv"),
        (b"group\titem\tscore\n", "tsv"),
        (b"a\tb\tc\td\n", "tsv"),
        (b"2 qid:1 1:0.5 # doc\n", "svmlight"),
        (b"# comment\n2 1:0.5 3:1\n", "svmlight"),
        (b"2 qid:1", "svmlight"),
        (b"group,time 1:30\n", "csv"),
        (b"# METADATA - START\n  # platform:\n1 Q0 d 1 2.5 tag\n", "trec"),
        (b"1\tQ0\td\t1\t2.5\ta tag of words\n", "trec"),
        (b"1.EC.AB  F:Ret,C:Not   F:RnkdLst2digits  FR940303-1-00022        1\n", "trec"),
        (b"     Q0      FR940620-1-00007        9         2.971818      STANDARD\n", "trec"),
        (b"what is a cat,d7,3\n", "csv"),
    ],
)
def test_else_the_content_tells(content: bytes, reader: str) -> None:
    assert detect_reader("rank.test", content) == reader
    assert detect_reader("-", content) == reader


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        (b"1\tQ0\td\t1\t2.5\ttag\n", "trec"),
        (b"# by hand\n1\tQ0\td\t1\t2.5\ttag\twords\r\n", "trec"),
        (b"300674\t0\t7067032\t1\n", "trec"),
        (b"group\titem\tscore\n", "tsv"),
        (b"group\titem\trank\tscore\ttext\tlabel\n", "tsv"),
        (b"1048585\t7187158\t1\n", "tsv"),
        (b"q1\td1\t0.5\t1\n", "tsv"),
        (b"1\ta document\td\t1\t2.5\ttag\n", "tsv"),
    ],
)
def test_a_tsv_without_header_that_is_a_trec_file_is_one(content: bytes, reader: str) -> None:
    assert detect_reader("a.tsv", content) == reader
    assert detect_reader("a.TSV.gz", content) == reader


def test_what_trec_eval_has_printed_is_told() -> None:
    for line in (b"runid                 \tall\tSTANDARD\n", b"prefs_num_prefs_ful_ret\t1.EC.AB\t1\n"):
        with pytest.raises(InputError) as caught:
            read_run("-", stdin=io.BytesIO(line))
        expected = "<stdin>: is output of trec_eval; give the run or the labels that trec_eval read"
        assert str(caught.value) == expected


def test_what_neither_tells_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        detect_reader("notes.md", b"hello\n")
    expected = f"notes.md: cannot tell the format; name it with reader= ({' '.join(READERS)})"
    assert str(caught.value) == expected


def test_an_unknown_reader_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_run("-", reader="excel", stdin=io.BytesIO(b"x"))
    assert str(caught.value) == f"no reader 'excel'; choose one of {' '.join(READERS)}"


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_reads(reader: str) -> None:
    with pytest.raises(InputError, match=r"^<stdin>"):
        read_run("-", reader=reader, stdin=io.BytesIO(b"neither a run nor labels"))
    with pytest.raises(InputError, match=r"^<stdin>"):
        read_labels("-", reader=reader, stdin=io.BytesIO(b"neither a run nor labels"))


def test_the_help_and_the_page_list_every_reader() -> None:
    [option] = [one for one in get_args(asked.Reader) if isinstance(one, asked.Option)]
    assert option.help == f"{', '.join(READERS[:-1])} or {READERS[-1]}; that of --labels follows a comma."
    page = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.partition("| reader |")[2].partition("\n\n")[0].splitlines()[2:]]
    listed = [re.findall(r"[\w.]+", cell) for row in rows for cell in row]
    assert sorted(itertools.chain(*listed[::2])) == sorted(READERS)
    assert sorted(itertools.chain(*listed[1::2])) == sorted(ending for one in FORMATS for ending in one.endings)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/irc_pmc.run.gz", "irc_pmc"),
        ("irc_pmc.run", "irc_pmc"),
        ("bm25.v2.tsv", "bm25.v2"),
        ("NFCorpus_predictions.json", "NFCorpus_predictions"),
        ("bm25", "bm25"),
        ("bm25.gz", "bm25"),
        (".hidden", ".hidden"),
        ("input.runA", "input.runA"),
        ("input.runA.gz", "input.runA"),
        ("bm25.k1=0.1", "bm25.k1=0.1"),
        ("bm25.k1=0.1.run.zst", "bm25.k1=0.1"),
        ("bm25.jsonl.bz2", "bm25"),
        ("bm25.txt.xz", "bm25"),
        ("bm25.RUN.GZ", "bm25"),
        ("results.test", "results.test"),
        (".run", ".run"),
        (".gz", ".gz"),
    ],
)
def test_a_run_is_named_after_its_file(path: str, name: str) -> None:
    assert default_run_name(path) == name


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("-", "<stdin>: a run from standard input has no name; give one with name="),
        ("a\nb.run", "a\\nb.run: cannot name a run after this file; give a name with name="),
        ("\udcff.run", "\\udcff.run: cannot name a run after this file; give a name with name="),
    ],
)
def test_some_runs_need_a_name(path: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        default_run_name(path)
    assert str(caught.value) == message
