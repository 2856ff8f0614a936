"""Input that other readers take for something else: it is read as its tool means it, or it is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import CommandLine
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NdcgTrackerWarning
from ndcg_tracker.words.texts import shown, shown_name

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str) -> str:
        (tmp_path / name).write_text(content)
        return str(tmp_path / name)

    return write


MASKED = {"group": ["q"] * 3, "item": ["a", "b", "c"], "score": [3.0, -np.inf, -np.inf]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("masked.run", "q Q0 a 1 3.0 t\nq Q0 b 2 -inf t\nq Q0 c 3 -Infinity t\n"),
        ("masked", "q Q0 b 2 -inf t\nq Q0 a 1 3.0 t\nq Q0 c 3 -inf t\n"),
        ("masked.csv", "group,item,score\nq,a,3\nq,b,-Inf\nq,c,-inf\n"),
        (
            "masked.jsonl",
            "".join(
                f'{{"group":"q","item":"{i}","score":{s}}}\n'
                for i, s in zip("abc", ("3", "-Infinity", "-Infinity"), strict=True)
            ),
        ),
        ("masked.json", '{"q": {"a": 3, "b": -Infinity, "c": -Infinity}}'),
    ],
)
def test_minus_infinity_in_a_file_means_not_retrieved(write: Write, name: str, content: str) -> None:
    with pytest.warns(NdcgTrackerWarning, match="2 rows have no score, so their items count as not retrieved"):
        assert nt.evaluate(write(name, content), "R@3", labels={"q": {"a": 1, "b": 1}}).mean.to_list() == [0.5]


@pytest.mark.parametrize(
    "run",
    [MASKED, pd.DataFrame(MASKED), {"q": {"a": 3.0, "b": -np.inf, "c": -np.inf}}],
    ids=["dict", "frame", "nested"],
)
def test_minus_infinity_in_a_table_means_not_retrieved(run: object) -> None:
    with pytest.warns(NdcgTrackerWarning, match="2 rows have no score, so their items count as not retrieved"):
        assert nt.evaluate(run, "R@3", labels={"q": {"a": 1, "b": 1}}).mean.to_list() == [0.5]


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "FALSE"), ("true", "false"), ("t", "f"), ("Yes", "no"), ("y", "N")])
def test_labels_in_words(write: Write, yes: str, no: str) -> None:
    run = {"q": {"a": 1.0, "b": 2.0}}
    frame = pd.DataFrame({"group": ["q", "q"], "item": ["a", "b"], "label": [yes, no]})
    given = [
        write("labels.csv", frame.to_csv(index=False)),
        write("labels.tsv", frame.to_csv(index=False, sep="\t")),
        write("labels.jsonl", frame.to_json(orient="records", lines=True)),
        write("labels.qrels", f"q 0 a {yes}\nq 0 b {no}\n"),
        frame,
        {"q": {"a": yes, "b": no}},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [nt.evaluate(run, "RR", labels=labels).mean.to_list() for labels in given] == [[0.5]] * len(given)


RATINGS = [(1, 50, 5, 881250949), (2, 172, 4, 881250950), (3, 133, 3, 881250951)]
RECOMMENDED = {"1": {"50": 0.9, "5": 0.8, "7": 0.1}, "2": {"4": 0.9, "172": 0.5}, "3": {"133": 0.9, "9": 0.5}}
FOURTH = "the fourth fields are as large as times, so the lines may be user, item, rating and time"
AS_QRELS = "if they are group, iteration, item and label, give reader="


@pytest.mark.parametrize(
    ("order", "said", "header"),
    [
        ((0, 1, 2, 3), FOURTH, "group,item,label,time"),
        (
            (0, 1, 3, 2),
            "the third fields are as large as times, so the lines may be user, item, time and rating",
            "group,item,time,label",
        ),
        (
            (0, 1, 2, 0),
            "the second fields vary like ids, and the third are a few numbers, so the lines may be user, item, rating "
            "and other",
            "group,item,label,other",
        ),
    ],
)
def test_ratings_are_not_taken_for_qrels(write: Write, order: tuple[int, ...], said: str, header: str) -> None:
    path = write("ratings.tsv", "".join("\t".join(str(row[place]) for place in order) + "\n" for row in RATINGS))
    read = f"if they are, give columns='/{header}'"
    assert refusal_of(InputError, nt.evaluate, RECOMMENDED, labels=path) == f"{path}: {said}; {read}; {AS_QRELS}',trec'"


def test_each_reading_of_ratings_can_be_named(write: Write) -> None:
    path = write("u.data", "".join("\t".join(map(str, row)) + "\n" for row in RATINGS))
    run = write(
        "recs.csv",
        "group,item,score\n" + "".join(f"{g},{i},{s}\n" for g, of in RECOMMENDED.items() for i, s in of.items()),
    )
    rated = nt.evaluate(run, ["ndcg@10", "RR"], labels=path, columns="/group,item,label,time")
    assert rated.mean.round(4).to_list() == [0.877, 0.8333]
    assert nt.evaluate(run, "RR", labels=path, reader=",trec").mean.to_list() == [0.5]


@pytest.mark.parametrize(
    "content",
    [
        "1 0 50 5\n1 0 172 4\n1 0 133 3\n",  # one iteration
        "1 1 clueweb-1 1\n1 2 clueweb-3 1\n1 3 clueweb-2 0\n2 1 clueweb-2 0\n",  # subtopics
        "1 0 881250949 1\n1 0 881250950 0\n",  # ids as large as times
    ],
)
def test_qrels_are_read_as_before(write: Write, content: str) -> None:
    nt.evaluate({"1": {"50": 1.0, "clueweb-1": 1.0, "881250949": 1.0}}, labels=write("labels.qrels", content))


ROWS = "0 1:0.1\n2 1:0.3\n1 1:.1\n0 1:.2\n"


def test_files_next_to_one_of_lightgbm_are_read_or_named(write: Write) -> None:
    path, scores = write("v.txt", ROWS), write("v.pred", ".1\n.2\n.5\n.9\n")
    write("v.txt.query", "2\n2\n")
    unweighted = nt.evaluate(path, "lightgbm:ndcg@10", scores=scores).mean.round(6).to_list()
    write("v.txt.weight", "1\n1\n5\n5\n")
    weighted = nt.evaluate(path, ["lightgbm:ndcg@10", "lightgbm:map@10"], scores=scores).mean.round(6).to_list()
    assert (unweighted, weighted) == ([0.815465], [0.692441, 0.583333])
    write("v.txt.position", "1\n2\n1\n2\n")
    with pytest.warns(NdcgTrackerWarning, match=r"v\.txt\.position is not read: LightGBM would use it to train"):
        nt.evaluate(path, scores=scores)


def test_files_that_were_read_next_to_one_are_said(write: Write, sqlite_command: CommandLine) -> None:
    path, scores = write("v.txt", ROWS), write("v.pred", ".1\n.2\n.5\n.9\n")
    write("v.txt.query", "2\n2\n")
    write("v.txt.weight", "1\n1\n5\n5\n")
    assert sqlite_command("evaluate", path, "--scores", scores).err == (
        f"note: {path}: read {path}.weight as the weights of the rows\n"
        f"note: {path}: read {path}.query as the sizes of the groups\n"
    )


def test_weights_next_to_a_file_fit_its_rows(write: Write) -> None:
    path, scores = write("v.txt", ROWS), write("v.pred", ".1\n.2\n.5\n.9\n")
    write("v.txt.query", "2\n2\n")
    write("v.txt.weight", "1\n")
    said = f"{path}: 4 rows, but 1 weight in {path}.weight; give one per row"
    assert refusal_of(InputError, nt.evaluate, path, scores=scores) == said
    write("v.txt.weight", "1\n1\n5\nx\n")
    said = f"{path}.weight:4: weight 'x' is not a number; write it like 0.5, -2 or 1e-3"
    assert refusal_of(InputError, nt.evaluate, path, scores=scores) == said


GAPS = {"user_id": [1, 1, 2, 3, 3], "item_id": [1, 3, 1, 1, 2], "rank": [9, 1, 3, 1, 3]}
OF_RECTOOLS = {"NDCG": 0.312852, "MAP": 0.388889, "MRR": 0.444444, "Recall": 0.666667, "Precision": 0.333333}
BOUGHT = {"1": {"1", "2"}, "2": {"1"}, "3": {"1", "2"}}
GAPS_TOLD = "the ranks of 3 groups (the first: '1') are not 1, 2, 3 and so on (they have gaps); "


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("kind", ["dict", "csv", "jsonl"])
def test_ranks_are_positions_as_in_rectools(write: Write, kind: str, scored: bool) -> None:
    frame = pd.DataFrame(GAPS | ({"score": [1.0 / rank for rank in GAPS["rank"]]} if scored else {}))
    run = {
        "dict": lambda: frame.to_dict("list"),
        "csv": lambda: write("run.csv", frame.iloc[::-1].to_csv(index=False)),
        "jsonl": lambda: write("run.jsonl", frame.to_json(orient="records", lines=True)),
    }[kind]()
    texts = [f"rectools:{name}(k=3)" for name in OF_RECTOOLS]
    with pytest.warns(NdcgTrackerWarning, match="they are taken as positions, as in RecTools"):
        found = nt.evaluate(run, texts, labels=BOUGHT)
    assert found.mean.round(6).to_list() == list(OF_RECTOOLS.values())


def test_ranks_that_are_only_an_order_are_told() -> None:
    with pytest.warns(NdcgTrackerWarning) as told:
        nt.evaluate(GAPS, "ndcg@10", labels=BOUGHT)
    only = "only their order counts: the metrics of rectools: take ranks as positions"
    assert [str(warning.message) for warning in told] == [f"the run: {GAPS_TOLD}{only}"]


@pytest.mark.parametrize(
    ("ranks", "what"),
    [([1, 1], "rank 1 of item 'b'"), ([0, 1], "rank 0 of item 'a'"), ([1, 200_000], "rank 200000 of item 'b'")],
)
def test_ranks_that_are_no_positions_are_refused_for_rectools(ranks: list[int], what: str) -> None:
    run = {"user_id": ["q", "q"], "item_id": ["a", "b"], "rank": ranks}
    advice = "give each item its own rank from 1 to 100,000, as RecTools reads them"
    said = f"{what} of group 'q' is not a position of its own; {advice}"
    assert refusal_of(InputError, nt.evaluate, run, "rectools:NDCG(k=3)", labels={"q": {"a"}}) == said


def test_items_without_ids_have_positions_too() -> None:
    run = {"group": ["q", "q"], "rank": [4, 2], "label": [0, 1]}
    with pytest.warns(NdcgTrackerWarning, match="they have gaps|do not start at 1"):
        assert nt.evaluate(run, "rectools:MRR(k=3)", score="-rank").mean.to_list() == [0.5]


MARKS = "only the marks between their parts differ, such as '/', '_' and '%2F'"
ZEROS = "they differ only in leading zeros (ndcg@10 is 1.0000 if padded alike); pad both to one length"
SAME_MARKS = f"{MARKS} (ndcg@10 is 1.0000 if these are the same); write both the same way"
FORMS = [
    ("007", "0000007", f"{ZEROS}, or map the ids with: --item-to-document '^0+'"),
    ("7", "0000007", ZEROS),
    ("D0007", "D7", ZEROS),
    (
        "A-1 ",
        "a-1",
        "they differ only in capitals or spaces (ndcg@10 is 1.0000 if in one case); write both the same way",
    ),
    (
        "e\u0301t\u00e9",
        "\u00e9te\u0301",
        "they are the same in Unicode form NFC (ndcg@10 is 1.0000 if in Unicode form NFC); write both in it",
    ),
    (
        "d\uff12",
        "d2",
        "they are the same in Unicode form NFKC (ndcg@10 is 1.0000 if in Unicode form NFKC); write both in it",
    ),
    ("a/b", "a%2Fb", SAME_MARKS),
    ("a_b", "a/b", SAME_MARKS),
    (
        "7.0",
        "7",
        "whole numbers became floats, as happens in a join with empty cells (ndcg@10 is 1.0000 if written as whole "
        "numbers); write whole numbers (in pandas, .astype('Int64') before to_csv), or map the ids with: "
        "--item-to-document '\\.0$'",
    ),
]


@pytest.mark.parametrize(("of_run", "of_labels", "said"), FORMS)
def test_ids_that_match_in_part_are_told(of_run: str, of_labels: str, said: str) -> None:
    given = {"u": {of_run: 3.0, "42": 2.0}}, {"u": {of_labels: 3, "42": 1}}
    with pytest.warns(NdcgTrackerWarning) as told:
        nt.evaluate(given[0], labels=given[1])
    written = (
        f"the run has item {shown(of_run)}, but the labels have {shown(of_labels)}; 1 of 2 labels match as written"
    )
    checked = "1 of the 1 unmatched labels that were checked differ like this"
    assert [str(warning.message) for warning in told] == [f"the run: {written}; {checked}: {said}"]
    if "--item-to-document" in said:
        pattern = said.rpartition("'")[0].rpartition("'")[2]
        assert nt.evaluate(given[0], labels=given[1], item_to_document=pattern)["ndcg@10"] == 1.0


PADDED = {"u": {"7": 0.9, "42": 0.5, "0000012": 0.1}}, {"u": {"0000007": 3, "42": 1, "0000012": 0}}


def test_the_value_if_all_ids_were_written_alike(tmp_path: Path) -> None:
    tracker = nt.Tracker(tmp_path / "runs.db")
    stored = tracker.ingest(PADDED[0], labels=PADDED[1], name="a", dataset="shop")
    told = f"{ZEROS}, or map the ids with: ndcg-track labels carry --pattern '^0+' --dataset shop"
    assert (round(stored.metrics[0].mean, 4), stored.notes[0].partition(": ")[2]) == (0.1738, told)
    tracker.carry_labels(pattern="^0+", dataset="shop", rescore=True)
    means = tracker.sql("select mean from run_summary order by label_set_version")["mean"]
    assert means.round(4).to_list() == [0.1738, 1.0]
    with pytest.warns(NdcgTrackerWarning, match=r"\(RR is 0.5000 if padded alike\)"):  # a group is missing
        nt.evaluate({"u": PADDED[0]["u"]}, "RR", labels={**PADDED[1], "v": {"1": 1}})
    with pytest.warns(NdcgTrackerWarning, match="zeros; pad both"):  # two would become one
        nt.evaluate({"u": {"7": 1.0, "07": 0.5, "42": 0.5}}, labels={"u": {"007": 1, "42": 1}})


def test_ids_that_are_cut_are_told() -> None:
    long = [f"document-number-{place:04}" for place in range(4)]
    with pytest.warns(
        NdcgTrackerWarning, match=r"one side is cut .* \(ndcg@10 is .* if cut to one length\); write both in full$"
    ):
        nt.evaluate(
            {"u": {"42": 2.0, **dict.fromkeys([f"{place}-{name}"[:15] for place, name in enumerate(long)], 1.0)}},
            labels={"u": {"42": 1, **{f"{place}-{name}": 1 for place, name in enumerate(long)}}},
        )


def test_ids_that_only_differ_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nt.evaluate({"u": {"7": 3.0, "42": 2.0}}, labels={"u": {"70": 3, "42": 1}})


HITS = pd.DataFrame({"user_id": ["1", "1", "2"], "item_id": ["a", "b", "a"], "timestamp": [1700000000, 1700000100, 7]})
SEEN = {"1": {"a": 0.9, "c": 0.5}, "2": {"b": 0.8, "a": 0.7}}


@pytest.mark.parametrize("other", ["timestamp", "play_count", "weight", "datetime"])
def test_each_row_is_a_hit_if_that_is_said(write: Write, other: str) -> None:
    frame = HITS.rename(columns={"timestamp": other})
    given = [
        frame,
        frame.to_dict("list"),
        write("hits.csv", frame.to_csv(index=False)),
        write("hits.jsonl", frame.to_json(orient="records", lines=True)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [nt.evaluate(SEEN, "ndcg@10", labels=labels, label="=1")["ndcg@10"] for labels in given]
    assert [round(value or 0, 4) for value in found] == [0.622] * len(given)


def test_hits_without_header(write: Write) -> None:
    path = write("qrels.tsv", "1\ta\n1\tb\n2\ta\n")
    run = write("run.csv", "group,item,score\n1,a,.9\n1,c,.5\n2,b,.8\n2,a,.7\n")
    assert round(nt.evaluate(run, labels=path, label="=1", columns="/group,item")["ndcg@10"] or 0, 4) == 0.622
    said = refusal_of(InputError, nt.evaluate, run, labels=path)
    assert said.endswith(
        "; if each row is a relevant item, give label='=1'; if this line is a row, name the columns after a slash, "
        "with columns='/NAME,NAME,...'"
    )


@pytest.mark.parametrize("other", ["timestamp", "play_count"])
def test_hits_are_asked_for_in_words(other: str) -> None:
    said = refusal_of(InputError, nt.evaluate, SEEN, labels=HITS.rename(columns={"timestamp": other}))
    assert said.endswith("name the label column with label=; if each row is a relevant item, give label='=1'")


@pytest.mark.parametrize(
    ("group", "item", "label", "score"),
    [
        ("userID", "itemID", "rating", "prediction"),
        ("userId", "movieId", "rating", "prediction"),
        ("user", "item", "rating", "score"),
        ("uid", "iid", "r_ui", "est"),
    ],
)
def test_names_of_recommenders(write: Write, group: str, item: str, label: str, score: str) -> None:
    run = pd.DataFrame({item: ["a", "b"], score: [0.9, 0.2], group: ["1", "1"]})
    labels = pd.DataFrame({group: ["1", "1"], item: ["b", "a"], label: [1, 0], "timestamp": [7, 8]})
    as_files = write("run.csv", run.to_csv(index=False)), write("labels.csv", labels.to_csv(index=False))
    for one, other in ((run, labels), as_files):
        assert round(nt.evaluate(one, labels=other)["ndcg@10"] or 0, 4) == 0.6309


TWICE = {"group": ["q", "q", "q"], "item": ["A", "A", "X"], "score": [1.0, 3.0, 2.0]}
WAYS = "keep one of the two, or give allow='duplicates:first' or allow='duplicates:best'"


@pytest.mark.parametrize(("how", "value"), [("first", 0.5), ("best", 1.0)])
@pytest.mark.parametrize("kind", ["dict", "csv", "jsonl", "run"])
def test_which_of_two_rows_counts_is_named(write: Write, kind: str, how: str, value: float) -> None:
    frame = pd.DataFrame(TWICE)
    run = {
        "dict": lambda: TWICE,
        "csv": lambda: write("run.csv", frame.to_csv(index=False)),
        "jsonl": lambda: write("run.jsonl", frame.to_json(orient="records", lines=True)),
        "run": lambda: write("run.run", "q Q0 A 2 1 t\nq Q0 A 1 3 t\nq Q0 X 2 2 t\n"),
    }[kind]()
    assert refusal_of(InputError, nt.evaluate, run, labels={"q": {"A": 1}}).endswith(f" already; {WAYS}")
    told = f"1 row repeats an item of its group: of the rows of an item the {how} counts"
    with pytest.warns(NdcgTrackerWarning, match=told):
        assert nt.evaluate(run, "RR", labels={"q": {"A": 1}}, allow=f"duplicates:{how}").mean.to_list() == [value]
    same = refusal_of(InputError, nt.evaluate, run, labels={"q": {"A": 1}}, allow="duplicates:same")
    assert same.endswith(f" already; {WAYS}")


def test_equal_rows_of_labels_are_one(write: Write) -> None:
    frame = pd.DataFrame({"qid": ["q"] * 3, "docno": ["A", "A", "X"], "label": [1, 1, 0]})
    for labels in (frame, write("labels.csv", frame.to_csv(index=False))):
        assert nt.evaluate({"q": {"A": 2.0, "X": 1.0}}, "P@2", labels=labels).mean.to_list() == [0.5]
    other = frame.assign(label=[1, 2, 0])
    said = f"labels: row 2: item 'A' of group 'q' is in row 1 already; {WAYS} or allow='duplicates:mean'"
    assert refusal_of(InputError, nt.evaluate, {"q": {"A": 2.0}}, labels=other).endswith(said.removeprefix("labels: "))
    assert nt.evaluate({"q": {"A": 2.0}}, "DCG@1", labels=other, allow="duplicates:best").mean.to_list() == [2.0]


def test_the_run_says_which_rows_count(tmp_path: Path) -> None:
    tracker = nt.Tracker(str(tmp_path / "runs.db"))
    tracker.ingest(TWICE, name="a", labels={"q": {"A": 1}}, allow="duplicates:first")
    assert tracker.run("a")[0].tags == {"allowed": "duplicates:first"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.csv", "a.run", "a.jsonl", "a"])
def test_utf_16_is_told_by_name(tmp_path: Path, encoding: str, name: str) -> None:
    (tmp_path / name).write_text("q Q0 a 1 3.0 t\n", encoding=encoding)
    path = shown_name(str(tmp_path / name))
    assert refusal_of(InputError, lambda: nt.evaluate(str(tmp_path / name), labels={"q": {"a": 1}})) == (
        f"{path}: is UTF-16; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 {path} > NEW"
    )


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (["group", "item"], "'group' and 'item' are the index of the frame; call .reset_index() on it"),
        (["group"], "'group' is the index of the frame; call .reset_index() on it"),
    ],
)
def test_columns_in_the_index_of_a_frame_are_told(index: list[str], message: str) -> None:
    assert refusal_of(InputError, lambda: nt.evaluate(pd.DataFrame(MASKED).set_index(index))) == message


def test_columns_of_several_levels_are_told() -> None:
    wide = pd.DataFrame(MASKED).pivot(index="group", columns="item")
    assert refusal_of(InputError, lambda: nt.evaluate(wide)) == (
        "the columns of the frame have several levels; give it columns of one level, for example with .stack()"
    )


def test_ranks_decide_where_some_rows_have_no_score(write: Write) -> None:
    run = write("a.csv", "user_id,item_id,rank,score\nu,a,2,2\nu,b,1,1\nu,c,3,\n")
    no_score, contradicts = (
        pytest.warns(NdcgTrackerWarning, match=text) for text in ("1 row has no score", "the rank column contradicts")
    )
    with no_score, contradicts:
        assert nt.evaluate(run, "RR", labels={"u": {"b": 1}}).mean.to_list() == [1.0]
