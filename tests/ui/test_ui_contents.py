"""What the pages show, on both engines, and that they obey nobody's text."""

import html
import re
from collections import Counter, deque
from pathlib import Path
from urllib.parse import quote, urljoin

import numpy as np
import pytest
from rankings_of import labels_of
from served import HOSTILE, Served, served
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame
from thorough import LONG

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import DatabaseError

MOST_OF_A_KIND = 40 if LONG else 12
BAD = quote(HOSTILE.replace("\u202e", ""))


def text_of(page: str) -> str:
    """Return what people read of a page."""
    without = re.sub(r"<(script|style|title)[^>]*>.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", without)).split())


def links(page: str) -> list[str]:
    """Return the addresses that a page leads to."""
    return [html.unescape(one) for one in re.findall(r'href="([^"#]*)"', page)]


@pytest.mark.nightly
def test_all_that_is_linked_is_there_and_no_id_is_markup(pages: Served) -> None:
    waiting, seen = deque(["/", "/compare?run=1&run=2&run=3", "/group?group=q1&dataset=shop"]), set[str]()
    of_kind: Counter[str] = Counter()
    while waiting:
        path = waiting.popleft()
        kind = path.partition("?")[0]
        if path in seen or not path.startswith("/") or of_kind[kind] >= MOST_OF_A_KIND:
            continue
        seen.add(path)
        of_kind[kind] += 1
        answer = pages.get(path)
        assert answer.status == 200, f"{path}: {text_of(answer.text)}"
        if path.startswith("/static/") or "format=" in path:
            continue
        assert "<img" not in answer.text
        assert "<b>" not in answer.text
        assert "\u202e" not in re.sub(r'value="[^"]*"', "", answer.text)  # a form sends the id itself
        assert " style=" not in answer.text  # the policy would not let it through
        assert not re.search(r" on\w+=\"", answer.text)
        found = [urljoin(path, one) for one in links(answer.text)]
        assert all(one.startswith(("/", "data:,", "https://shop.example/")) for one in found), found
        waiting.extend(found)
    kinds = set(of_kind)
    assert kinds >= {"/", "/runs", "/run", "/history", "/groups", "/group", "/labels", "/decisions", "/compare"}
    assert "/compare/cutoffs" in kinds
    assert any(BAD in path or "onerror" in path for path in seen)


def test_datasets(pages: Served) -> None:
    text = text_of(pages.page("/"))
    assert "3 runs · 5 groups · 1 version of labels" in text
    assert "ndcg@10 of the newest run" in text


def test_a_dataset_without_runs(pages: Served) -> None:
    text = text_of(pages.page("/runs?dataset=without+runs"))
    assert "0 runs" in text
    assert "History" not in text
    assert "no run of dataset 'without runs' was evaluated" in pages.get("/history?dataset=without+runs").text.replace(
        "&#39;", "'"
    )


def test_runs_are_searched_and_narrowed_by_tags(pages: Served) -> None:
    def named(query: str) -> list[str]:
        page = pages.page(f"/runs?dataset=shop&baseline=1{query}")
        return re.findall(r'<td class="name"><a [^>]*>([^<]*)</a>', page)

    assert named("") == ["mixed", "dense", "bm25"]
    assert named("&sort=oldest") == ["bm25", "dense", "mixed"]
    assert named("&q=DENSE") == ["bm25", "dense"]  # the baseline stays on top
    assert named("&q=8f2a") == ["bm25"]
    assert named("&q=layers%3D6+trial") == ["bm25", "dense"]
    assert named("&q=%40baseline") == ["bm25"]
    assert named("&tag=branch%3Dmain") == ["mixed", "bm25"]
    assert named("&tag=branch%3Dmain&q=mix") == ["bm25", "mixed"]
    assert named("&tag=branch%3Dnone&run=2") == ["bm25", "dense"]  # what is chosen stays, too
    assert "No run matches these filters" not in pages.page("/runs?dataset=shop&q=nothing")
    assert named("&sort=best")[0] == "bm25"
    assert named("&sort=worst")[-1] == "bm25"


def test_a_long_list_has_pages(pages: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("here", "pages"):
        monkeypatch.setattr(f"ndcg_tracker.ui.{module}.ROWS", 2)
    first = pages.page("/runs?dataset=shop&baseline=3")
    assert "1 to 2 of 3" in text_of(first)
    after = next(one for one in links(first) if "page=2" in one)
    second = pages.page(after)
    assert "3 to 3 of 3" in text_of(second)
    assert "bm25" in text_of(second)
    assert "3 to 3 of 3" in text_of(pages.page(after.replace("page=2", "page=99")))
    groups = pages.page("/groups?dataset=shop")
    assert [key for key in ("q1", "q2", "q3") if f">{key}<" in groups] == ["q1", "q2"]
    assert ">q3<" in pages.page(next(one for one in links(groups) if "page=2" in one))


def test_a_run(pages: Served) -> None:
    text = text_of(pages.page("/run?run=2"))
    assert "9 items in 4 queries" in text
    assert "tag branch=trial layers 6" in text
    assert "Share of ranked items with a label" in text
    assert "PASS" in text or "FAIL" in text or "INCONCLUSIVE" in text
    assert "Is it better than @baseline (bm25)? No difference detected" in text
    assert "Compare with another run" in text
    worst = re.findall(r'<td class="name"><a [^>]*>(q\d)</a>', pages.page("/run?run=2"))
    best = re.findall(r'<td class="name"><a [^>]*>(q\d)</a>', pages.page("/run?run=2&sort=best"))
    assert (worst[0], best[0]) == ("q4", "q1")


def test_history(pages: Served) -> None:
    page = pages.page("/history?dataset=shop&tag=branch%3Dmain")
    names = re.findall(r'<td class="left id"><a [^>]*>([^<]*)</a>', page)
    assert names == ["mixed", "bm25"]
    assert '"History of ndcg@10"' in page
    assert "No run matches these filters" in text_of(pages.page("/history?dataset=shop&tag=a%3Db"))
    assert pages.get("/history?dataset=shop&tag=nonsense").status == 400
    few = text_of(pages.page("/history?dataset=shop&last=1"))
    assert "1 of 3 runs with this metric" in few


def test_a_comparison_is_the_report_with_what_it_asks_for_later(pages: Served) -> None:
    page = pages.page("/compare?baseline=1&run=1&run=2")
    text = text_of(page)
    assert "Is dense better than bm25?" in text
    assert "ndcg-track report bm25 dense --dataset shop --metric" in text
    assert "Gate on ndcg@10" in text
    assert '"ask":{"lists":["/compare/lists?dataset=shop' in page
    lists = pages.get("/compare/lists?run=1&run=2&group=q1").json()
    assert [(row[0], row[2], row[3]) for row in lists["items"]] == [("c", 1, 3), ("a", 3, 1), ("b", 2, 2)]
    assert lists["ideal"] == [["a", 3.0], ["b", 1.0], ["c", 0.0]]
    assert "swap the runs" in text
    assert "Is bm25 better than dense?" in text_of(pages.page("/compare?run=2&run=1"))


def test_several_candidates_share_a_page(pages: Served) -> None:
    text = text_of(pages.page("/compare?run=1&run=2&run=3&metric=ndcg%4010"))
    assert "Is one of 2 candidates better than bm25?" in text


def test_a_metric_that_is_no_sum_over_items_has_lists_all_the_same(pages: Served) -> None:
    page = pages.page("/group?dataset=shop&group=q1&metric=P%405&run=1&run=2")
    assert "is not a sum over items" in text_of(page)
    assert '"moves"' in page


def test_a_group_over_time(pages: Served) -> None:
    page = pages.page("/group?dataset=shop&group=q1")
    text = text_of(page)
    assert "device=phone" in text
    assert "its value in 3 runs" in page
    rows = re.findall(r'<td class="name"><a [^>]*>(\w+)</a></td>.*?<td class="right">([\d.]+)</td>', page, re.DOTALL)
    assert [name for name, _ in rows] == ["mixed", "dense", "bm25"]
    assert rows[0][1] == rows[2][1] != rows[1][1]
    assert "Its lists in dense and mixed" in text  # the newest of two changes of one size
    assert "It changed most between these two" in text
    chosen = text_of(pages.page("/group?dataset=shop&group=q1&baseline=1&run=2"))
    assert "Its lists in bm25 and dense" in chosen
    assert "It changed most" not in chosen
    # a group that one run lacks counts 0 there; one without anything to find is undefined everywhere
    assert ">0.0000<" in pages.page("/group?dataset=shop&group=q5")


def test_texts_of_queries_and_items(pages: Served) -> None:
    page = pages.page("/groups?dataset=shop")
    link = '<a href="https://shop.example/?q=tent" target="_blank" rel="noreferrer noopener">&lt;b&gt;light'
    assert link in page
    assert "lamp" in text_of(page)
    group = pages.page("/group?dataset=shop&group=q1")
    assert link in group
    assert "Tent & more" in text_of(group)
    assert 'href="javascript' not in group
    texts = pages.get("/compare/lists?run=1&run=2&group=q1").json()["texts"]
    assert texts["query"] == ["<b>light</b> tent", "https://shop.example/?q=tent"]
    assert texts["items"] == {"a": ["Tent & more (javascript:alert(1))", ""], "b": ["Lamp", "https://shop.example/b"]}
    assert pages.get("/compare/lists?run=1&run=2&group=q3").json()["texts"] == {
        "query": ["", ""],
        "items": {},
    }
    assert "--texts" in text_of(pages.page("/compare?run=1&run=2"))


def test_labels_and_coverage(pages: Served) -> None:
    text = text_of(pages.page("/labels?dataset=shop"))
    assert "top 5 top 10" in text
    assert re.search(r"dense (\d+\.\d% ){2}", text)
    assert "mixed" not in text_of(pages.page("/labels?dataset=shop&q=dense"))


def test_gates(pages: Served) -> None:
    text = text_of(pages.page("/decisions?dataset=shop"))
    assert "@baseline (bm25)" in text
    assert text.index("mixed") < text.index("dense")
    assert "overridden" in text
    assert "onerror" in text
    assert "No gate has decided" in text_of(pages.page(f"/decisions?dataset={BAD}"))


def test_bounds_of_gates_have_their_levels_and_p_values_their_correction(filled_url: str, pages: Served) -> None:
    rng = np.random.default_rng(4)
    groups = [f"g{number}" for number in range(120)]
    before = rng.normal(0.5, 0.1, 120)
    shifts = {"accuracy": 0.02, "recall": 0.0, "latency": -0.02}
    with Tracker(filled_url) as tracker:
        for metric, shift in shifts.items():
            direction = "lower" if metric == "latency" else "higher"
            asked = {"metric": metric, "direction": direction, "range": (-1, 2), "dataset": "many"}
            after = before + rng.normal(shift, 0.1, 120)
            for name, values in (("old", before), ("new", after)):
                tracker.log_results(dict(zip(groups, values.tolist(), strict=True)), name=name, **asked)
        (old, _), (new, evaluations) = (tracker.run(name, "many") for name in ("old", "new"))
        text_of_metric = {one.metric.partition("(")[0]: one.metric for one in evaluations}
        gates = [
            tracker.gate("new", baseline="old", metric=f"external:{name}", margin=0.01, dataset="many")
            for name in ("accuracy", "latency", "recall")
        ]
        together = {one.metric: one for one in tracker.compare("old", "new", dataset="many").comparisons[0].metrics}
    text = text_of(pages.page("/decisions?dataset=many"))
    assert "one-sided bounds" in text
    assert "95% interval" not in text
    levels = [("95%", "99%"), ("99%", "95%"), ("95%", "99%")]
    for (low, high), found in zip(levels, gates, strict=True):
        decision = found.gated.decision
        assert f"at least {decision.lower:+.4f} ({low}), at most {decision.upper:+.4f} ({high})" in text
    accuracy = text_of_metric["external:accuracy"]
    one = together[accuracy]
    assert one.p_value is not None
    assert one.p_adjusted is not None
    every, alone = (
        text_of(pages.page(f"/compare?run={old.id}&run={new.id}&metric={quote(metric)}")) for metric in ("", accuracy)
    )
    assert f", p {one.p_adjusted:.4f} (Holm-corrected over 3 tests; uncorrected {one.p_value:.4f})" in every
    assert f", p {one.p_value:.4f}" in alone
    assert "tested alone. Holm-corrected over the 3 tests of all metrics that these runs share" in alone
    assert f" share, p is {one.p_adjusted:.4f}: " in alone
    assert "asked for alone" not in every


def test_what_is_not_there_is_said(pages: Served) -> None:
    def said(path: str, status: int) -> str:
        answer = pages.get(path)
        assert answer.status == status, f"{path}: {answer.text}"
        return text_of(answer.text)

    assert "no dataset 'none'" in said("/runs?dataset=none", 404)
    assert "choose a dataset" in said("/runs", 404)
    assert "no run with id 99" in said("/run?run=99", 404)
    assert "no query 'none' in dataset 'shop'" in said("/group?dataset=shop&group=none", 404)
    assert "no run of this dataset has the metric 'x@1'" in said("/runs?dataset=shop&metric=x%401", 404)
    assert "run must be a number from 1, not '-1'" in said("/run?run=-1", 400)
    assert "run must be a number" in said(f"/run?run={10**30}", 400)
    assert "run must be a number" in said(f"/run?run={'1'.zfill(20)}{10**30}", 400)
    assert "run must be a number" in said("/run?run=%D9%A1", 400)  # an Arabic digit
    assert "dataset has a NUL character" in said("/runs?dataset=a%00b", 400)
    assert "choose a baseline" in said("/compare", 400)
    assert "choose a baseline" in said("/compare?run=1", 400)
    assert "several datasets" in said("/compare?run=1&run=4", 400)
    assert "at most 12 runs" in said("/compare?" + "&".join(f"run={n}" for n in range(1, 15)), 400)
    assert "does not name a run" in said("/run", 400)
    assert "missing must be" in said("/compare?run=1&run=2&missing=all", 400)
    assert "not markup" not in said(f"/runs?dataset={quote('<i>not markup')}", 404).replace("'<i>not markup'", "")
    assert "no dataset" in said("/runs?dataset=%ff%fe", 404)
    assert (
        "<p>these runs are of several datasets</p>\n<p>choose runs of one dataset</p>"
        in pages.get("/compare?run=1&run=4").text
    )


def test_nothing_can_be_written(filled_url: str) -> None:
    with Tracker(filled_url, read_only=True) as tracker:
        with pytest.raises(DatabaseError, match="opened for reading only; nothing was stored"):
            tracker.tag_run("bm25", {"a": "b"}, dataset="shop")
        with pytest.raises(DatabaseError, match="opened for reading only"):
            tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [1]}, name="new")
        with tracker.store().read() as tx, pytest.raises(Exception, match=r"(?i)read-?only"):
            tx._session.connection.exec_driver_sql("DELETE FROM runs")
        assert len(tracker.runs()) == 5


def test_pruned_runs_are_shown_by_their_values(filled_url: str, pages: Served) -> None:
    with Tracker(filled_url) as tracker:
        old = {"dataset": "shop", "metrics": ["ndcg@10"], "created_at": "2020-01-01"}
        tracker.ingest(frame_of({**DENSE, "q1": BM25["q2"]}), name="old", **old)
        tracker.prune("2021-01-01", apply=True)
        run_id = tracker.run("old")[0].id
    group = text_of(pages.page(f"/group?dataset=shop&group=q1&run={run_id}&run=1"))
    assert "run 'old' was pruned at " in group
    assert ": its items are gone; to restore them, ingest its file again under the same name" in group
    compared = pages.page(f"/compare?run={run_id}&run=1")
    assert "Lists were pruned: run 'old' was pruned at " in text_of(compared)
    assert "The metric at each cutoff" not in text_of(compared)
    assert pages.page(f"/run?run={run_id}")


def test_what_a_run_ranks_is_said_on_its_page(tmp_path: Path) -> None:
    chunks = {group: {f"{item}#1": score for item, score in items.items()} for group, items in BM25.items()}
    with Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(chunks, name="parts", labels=LABELS, sampled="100/50000", item_to_document="#.*")
    with served(str(tmp_path / "runs.db")) as page:
        said = text_of(page.get("/run?run=1").text)
    assert "Ranked among 100/50000 sampled items, so its metrics are higher than among all items." in said
    assert "Documents are ranked instead of their chunks (max): 2.2 distinct documents in the first ten." in said


def test_labels_of_named_judges_alone_are_those_of_the_newest(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with Tracker(url) as tracker:
        for judge in ("gpt", "human"):
            tracker.add_labels(labels_of(LABELS), judge=judge)
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, judge="*")
    with served(url) as pages:
        for path in (
            "/runs",
            "/history",
            "/labels",
            "/groups",
            "/group?group=q1",
            "/run?run=1",
            "/compare?run=1&run=2",
        ):
            page = pages.page(path)
            assert "labels of judge human" in text_of(page), path
            assert "choose with" not in page, path


def test_the_bounds_of_a_gate_with_a_budget_have_the_level_of_its_look(tmp_path: Path) -> None:
    with Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop")
        tracker.ingest(frame_of(DENSE), name="dense", dataset="shop")
        tracker.gate("dense", baseline="bm25", margin=0.5, dataset="shop")
        tracker.set_alias("prod", "bm25")
        tracker.set_policy("prod", margin=0.5, budget=0.05, looks=40)
        tracker.gate("dense", baseline="@prod")
    with served(str(tmp_path / "runs.db")) as served_pages:
        text = text_of(served_pages.page("/decisions?dataset=shop"))
    assert re.findall(r"at least [^ ]+ \(([\d.]+)%\)", text) == ["99.875", "95"]


def test_checkpoints_are_not_ranked_and_not_in_the_history(tmp_path: Path) -> None:
    with Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(BM25, name="t/iter-1", labels=LABELS, tags={"stage": "iteration"})
        with served(str(tmp_path / "runs.db")) as page:
            alone = text_of(page.page("/datasets"))
            assert "1 run · " in alone
            only = text_of(page.page("/leaderboard?dataset=default"))
            assert "these runs are only checkpoints of trainings; to rank these, give “tags: stage=iteration”" in only
        tracker.ingest(BM25, name="t")
        tracker.ingest(DENSE, name="u/iter-1", tags={"stage": "iteration"})
        tracker.ingest({**DENSE, "q1": BM25["q1"]}, name="u")
        tracker.ingest({**DENSE, "q2": BM25["q2"]}, name="v")
        tracker.ingest(DENSE, name="v/late", tags={"stage": "iteration"})
        mean = tracker.history("ndcg@10")["mean"].iloc[-1]
    told = (
        "left out: 3 checkpoints of trainings, such as t/iter-1: a checkpoint counts only by its name or with the tag"
    )
    with served(str(tmp_path / "runs.db")) as page:
        assert f"{mean:.4f} ndcg@10 of the newest run" in text_of(page.page("/datasets"))
        for address in ("/leaderboard", "/history"):
            shown = page.page(f"{address}?dataset=default")
            assert told in text_of(shown)
            names = re.findall(
                r'<td class="(?:name|left id)[^"]*">(?:<span class="strong">)?<a [^>]*>([^<]*)</a>', shown
            )
            assert sorted(names) == ["t", "u", "v"]
        assert "The newest 2 of 3 runs." in text_of(page.page("/leaderboard?dataset=default&last=2"))
        assert "Is it better than the run before (t)? " in text_of(page.page("/run?run=4"))
