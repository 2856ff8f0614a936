"""One person grades items on the pages: what is asked for, kept, stored, and refused."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from served import HOSTILE, Answered, Served, served

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.ui.judging import Draft, Judging, _mark
from ndcg_tracker.ui.server import FORMS, HEADERS

QUERIES = ["q1", "q2", "q3", "=1+1", HOSTILE]
ITEMS = ["a", "b", "c", "d", "e", "f"]


def fill(url: str) -> None:
    """Store two runs whose first ranks have holes, texts, a model judge, and a design that checks it."""
    rows = [(group, item) for group in QUERIES for item in ITEMS]
    groups, items = zip(*rows, strict=True)
    labels = {group: {"a": 2, "b": 0, "c": 1} for group in QUERIES}
    with nt.Tracker(url) as tracker:
        for name, sign in (("old", -1.0), ("new", 1.0)):
            scores = [sign * ITEMS.index(item) + QUERIES.index(group) / 10 for group, item in rows]
            run = {"group": list(groups), "item": list(items), "score": scores}
            tracker.ingest(run, name=name, dataset="shop", labels=labels, metrics=["ndcg@5"])
        model = {group: {item: place % 4 for place, item in enumerate(ITEMS)} for group in QUERIES}
        tracker.add_labels(model, dataset="shop", judge="model", rescore=True)
        tracker.labels_sample("old", "new", judge="model", budget=12, metric="ndcg@5", seed="s", dataset="shop")
        tracker.add_texts(
            {
                "group": ["q1", "q1", None],
                "item": [None, "f", "e"],
                "text": ["light <b>tent</b>", None, "a long tale"],
                "title": [None, "Tent", "Lamp"],
                "url": [None, "https://shop.example/f", "javascript:alert(1)"],
            },
            dataset="shop",
        )


NEEDED = {"baseline": "1", "run": "2"}
DESIGN = {"dataset": "shop", "design": "1"}


@pytest.fixture
def pages(fill_as: Callable[[Callable[[str], object]], None], database_url: str, in_folder: Path) -> Iterator[Served]:
    """The pages over it, where ann may judge."""
    fill_as(fill)
    with served(database_url, "ann") as found:
        yield found


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to work in, where drafts of a database on a server are kept."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def address_of(task: dict[str, str]) -> str:
    return "/judge?" + "&".join(f"{name}={value}" for name, value in task.items())


def hidden(page: str, path: str) -> dict[str, str]:
    """Return the hidden fields of the first form of a page that is sent to a path."""
    form, *_ = re.findall(rf'<form method="post" action="{path}".*?</form>', page, re.DOTALL)
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)}


def give(pages: Served, task: dict[str, str], grade: str) -> Answered:
    """Give the item that is asked for a grade."""
    form = hidden(pages.page(address_of(task)), "/judge/grade")
    return pages.send("/judge/grade", {**form, "grade": grade})


def store(pages: Served, task: dict[str, str], **further: str) -> str:
    """Store what was graded, and return the page that says so."""
    form = {**task, "form": pages.judging.form, **further} if pages.judging else {}
    answer = pages.send("/judge/store", form)
    assert answer.status == 303, answer.text
    return pages.page(answer.headers["location"])


def drafts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.jsonl"))


def test_needed_items_are_graded_undone_and_stored_as_labels_of_the_person(
    pages: Served, database_url: str, in_folder: Path
) -> None:
    page = pages.page(address_of(NEEDED))
    assert "0 of 15 items" in page
    assert "not stored yet" not in page
    first = hidden(page, "/judge/grade")["item"]
    assert give(pages, NEEDED, "2").headers["location"] == "/judge?baseline=1&run=2"
    page = pages.page(address_of(NEEDED))
    assert "1 of 15 items" in page
    assert hidden(page, "/judge/grade")["item"] != first
    pages.send("/judge/undo", hidden(page, "/judge/undo"))
    assert hidden(pages.page(address_of(NEEDED)), "/judge/grade")["item"] == first
    assert drafts(in_folder) == []
    for grade in ("2", "unsure", "1"):
        give(pages, NEEDED, grade)
    page = pages.page(address_of(NEEDED))
    assert "3 of 15 items, 1 unsure" in page
    assert "2 grades, not stored yet" in page
    with nt.Tracker(database_url) as tracker:
        needed = [(item.group, item.item) for item in tracker.labels_needed("old", "new", dataset="shop").needed.items]
        assert len(tracker.label_versions("shop")) == 2  # nothing is written before it is stored
        page = store(pages, NEEDED)
        newest = tracker.label_versions("shop")[-1]
        assert (newest.judge, newest.n_labels, newest.source) == ("ann", 2, "ui")
        stored = tracker.sql("SELECT group_key, item_key, grade FROM labels WHERE label_set_version = 3")
    rows = {(row.group_key, row.item_key): row.grade for row in stored.itertuples()}
    assert rows == {needed[0]: 2, needed[2]: 1}
    assert "Version 3 of the labels, of judge &#39;ann&#39;: 2 labels" in page
    assert "ndcg-track rescore --all --dataset shop --labels 3" in page
    assert drafts(in_folder) == []
    assert "0 of 13 items" in pages.page(address_of(NEEDED))  # those that ann graded are not asked for again


def test_pages_say_what_labels_of_the_person_alone_leave_out(pages: Served, database_url: str) -> None:
    for grade in ("2", "1", "2"):
        give(pages, NEEDED, grade)
    page = pages.page(address_of(NEEDED))
    buttons = re.findall(r'<button class="(\w+)">(store as|add to) [^<]*</button>', page)
    assert buttons == [("main", "add to"), ("plain", "store as")]
    store(pages, NEEDED)
    command = "ndcg-track rescore --all --dataset shop --labels 3"
    runs = pages.page("/runs?dataset=shop&judge=ann")
    assert "No run is evaluated under version 3 of the labels of judge &#39;ann&#39; yet." in runs
    assert command in runs
    board = pages.get("/leaderboard?dataset=shop&judge=ann")
    assert (board.status, command in board.text) == (400, True)
    assert "no run of dataset &#39;shop&#39; was evaluated under the labels of judge &#39;ann&#39; yet" in board.text
    with nt.Tracker(database_url) as tracker:
        tracker.rescore(dataset="shop", judge="ann")
        n = int(tracker.sql("SELECT count(DISTINCT group_key) AS n FROM labels WHERE label_set_version = 3").n[0])
    assert 0 < n < len(QUERIES)
    of_groups = f"of {n} of {len(QUERIES)} groups"
    runs = pages.page("/runs?dataset=shop&judge=ann")
    assert of_groups in runs
    assert "is evaluated under" not in runs
    assert f"The means are over {of_groups.removeprefix('of ')}" in pages.page("/leaderboard?dataset=shop&judge=ann")
    assert "of 5 groups" not in pages.page("/runs?dataset=shop")


def test_grades_can_extend_the_labels_that_lack_them(pages: Served, database_url: str) -> None:
    for grade in ("0", "2"):
        give(pages, NEEDED, grade)
    assert "of the unnamed judge: 17 labels" in store(pages, NEEDED, **{"as": "theirs"})
    with nt.Tracker(database_url) as tracker:
        newest = tracker.label_versions("shop")[-1]
        assert (newest.judge, newest.added_by, newest.extends, newest.n_labels) == ("", "ann", 1, 17)
        assert tracker.labels_needed("old", "new", dataset="shop").needed.n_unjudged == 13


def test_a_design_is_answered_and_what_the_judge_said_is_not_shown(pages: Served, database_url: str) -> None:
    with nt.Tracker(database_url) as tracker:
        sample = tracker.labels_sample("old", "new", judge="model", budget=12, metric="ndcg@5", dataset="shop").sample
    n_drawn = len(sample.items)
    assert f"design 1</a>: {n_drawn} items to check judge &#39;model&#39;, for old, new" in pages.page(
        "/judge?dataset=shop"
    )
    page = pages.page(address_of(DESIGN))
    assert f"0 of {n_drawn} items" in page
    assert "The grades of the judge are hidden" in page
    shown = re.search(r'<section class="card wide item">(.*?)<div class="grades"', page, re.DOTALL)
    assert shown is not None
    assert not re.search(r"\b[0-3]\b", re.sub(r'<input[^>]*>|href="[^"]*"', "", shown[1]).replace("q1", ""))
    for place in range(n_drawn):
        give(pages, DESIGN, "unsure" if place == 1 else str(place % 4))
    assert f"All {n_drawn} items are done." in pages.page(address_of(DESIGN))
    assert "Your answers to design 1." in store(pages, DESIGN)
    with nt.Tracker(database_url) as tracker:
        left = tracker.labels_sample("old", "new", judge="model", budget=12, metric="ndcg@5", dataset="shop").sample
        assert list(left.items) == [sample.items[1]]
        assert left.n_answered == n_drawn - 1
        assert [version.judge for version in tracker.label_versions("shop")] == ["", "model"]
    page = pages.page(address_of(DESIGN))
    assert "0 of 1 item" in page  # what ann was unsure of is open


def test_what_one_was_unsure_of_is_asked_for_again(pages: Served, in_folder: Path) -> None:
    for _ in range(15):
        give(pages, NEEDED, "unsure")
    page = pages.page(address_of(NEEDED))
    assert "15 of 15 items, 15 unsure" in page
    assert "not stored yet" not in page
    pages.send("/judge/again", hidden(page, "/judge/again"))
    assert "0 of 15 items" in pages.page(address_of(NEEDED))
    assert drafts(in_folder) == []


def test_grades_outlive_the_server_and_labels_add_reads_their_file(
    fill_as: Callable[[Callable[[str], object]], None], database_url: str, in_folder: Path
) -> None:
    fill_as(fill)
    with served(database_url, "ann") as pages:
        for grade in ("2", "unsure", "1"):
            give(pages, NEEDED, grade)
        asked = hidden(pages.page(address_of(NEEDED)), "/judge/grade")["item"]
    (path,) = in_folder.rglob("*.jsonl")
    with served(database_url, "ann") as pages:
        page = pages.page(address_of(NEEDED))
        assert "3 of 15 items, 1 unsure" in page
        assert hidden(page, "/judge/grade")["item"] == asked
    with served(database_url, "ben") as pages:  # whose grades they are is in the file's name
        assert "0 of 15 items" in pages.page(address_of(NEEDED))
    with nt.Tracker(database_url) as tracker:
        assert tracker.add_labels(path, dataset="shop", judge="ann").version == 3
        assert tracker.label_versions("shop")[-1].n_labels == 2


@pytest.mark.nightly
def test_the_draft_is_saved_as_csv_that_is_safe_to_open(pages: Served, database_url: str, in_folder: Path) -> None:
    for grade in ("2", "1", "unsure"):
        give(pages, NEEDED, grade)
    answer = pages.get("/judge/grades?" + address_of(NEEDED).partition("?")[2])
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="grades.csv"'
    path = in_folder / "grades.csv"
    if answer.status == 200:
        path.write_text(answer.text, newline="")
        with nt.Tracker(database_url) as tracker:
            assert tracker.add_labels(path, dataset="shop", judge="ann").version == 3
            assert tracker.label_versions("shop")[-1].n_labels == 2
    for _ in range(12):
        give(pages, NEEDED, "0")
    answer = pages.get("/judge/grades?" + address_of(NEEDED).partition("?")[2])
    assert answer.status == 400
    assert "group &#39;=1+1&#39; cannot be read back from CSV that is safe to open" in answer.text


def test_texts_stand_where_ids_would_and_obey_nobody(pages: Served) -> None:
    found = ""
    for _ in range(15):
        found += pages.page(address_of(NEEDED))
        give(pages, NEEDED, "0")
    assert '<p class="query">light &lt;b&gt;tent&lt;/b&gt;</p><p class="muted">query q1</p>' in found
    assert '<a href="https://shop.example/f" target="_blank" rel="noreferrer noopener">Tent</a>' in found
    assert "<h2>Lamp" in found
    assert "a long tale" in found
    assert 'href="javascript:' not in found
    assert "<img" not in found


def test_a_grade_is_typed_where_there_are_many(pages: Served, database_url: str) -> None:
    task = {**NEEDED, "greatest": "100"}
    page = pages.page(address_of(task))
    assert "grade, 0 to 100" in page
    assert 'data-key="0"' not in page
    for typed, said in (("101", "'101' is not a whole number from 0 to 100"), ("1,5", "'1,5' is not a whole")):
        answer = give(pages, task, typed)
        assert answer.status == 400
        assert said in unescape(answer.text)
    assert give(pages, task, "73").status == 303
    assert "of judge &#39;ann&#39;: 1 label" in store(pages, task)


def test_unsure_counts_where_a_grade_was_typed_before(pages: Served) -> None:
    task = {**NEEDED, "greatest": "100"}
    form = hidden(pages.page(address_of(task)), "/judge/grade")
    assert pages.send("/judge/grade", [*form.items(), ("grade", "73"), ("grade", "unsure")]).status == 303
    page = pages.page(address_of(task))
    assert "1 of 15 items, 1 unsure" in page
    assert "not stored yet" not in page


def test_undo_takes_back_what_the_page_counts(pages: Served) -> None:
    few = {**NEEDED, "budget": "2"}
    for task, grade in ((few, "2"), (few, "1"), (NEEDED, "0")):
        give(pages, task, grade)
    assert "2 of 2 items" in pages.page(address_of(few))
    pages.send("/judge/undo", hidden(pages.page(address_of(few)), "/judge/undo"))
    page = pages.page(address_of(few))
    assert "1 of 2 items" in page
    assert "1 grade, not stored yet" in page
    assert "with 1 grade of other items" in page


def test_the_labels_that_were_chosen_are_those_that_lack_a_grade(pages: Served, database_url: str) -> None:
    with nt.Tracker(database_url) as tracker:
        tracker.add_labels({group: {"a": 1} for group in QUERIES}, dataset="shop", judge="few")
        tracker.rescore(["old", "new"], metrics=["ndcg@3"], dataset="shop", judge="few")
    compared = pages.page("/compare?run=1&run=2&judge=few")
    (to_judge,) = re.findall(r'href="(/judge\?run=[^"]*)"', compared)
    assert "in the labels of judge &#39;few&#39;" in pages.page(unescape(to_judge))
    choices = pages.page("/judge?dataset=shop&judge=few")
    assert '<option value="ndcg@3"' in choices
    assert '<input type="hidden" name="judge" value="few">' in choices
    page = pages.page(address_of({**NEEDED, "metric": "ndcg@3", "whose": "few", "judge": "few"}))
    assert "in the labels of judge &#39;few&#39;" in page
    assert hidden(page, "/judge/grade")["judge"] == "few"


@pytest.mark.nightly
def test_two_servers_keep_each_others_grades(pages: Served, database_url: str) -> None:
    with served(database_url, "ann") as others:
        for asked, grade in ((pages, "2"), (others, "1"), (pages, "0")):
            give(asked, NEEDED, grade)
        for asked in (pages, others):
            assert "3 of 15 items" in asked.page(address_of(NEEDED))


@pytest.mark.nightly
def test_no_two_drafts_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url, run = f"sqlite:///{tmp_path / 'runs.db'}", {"group": ["q", "q"], "item": ["a", "b"]}
    with nt.Tracker(url) as tracker:
        for dataset in ("shop", "new.shop"):
            for name, scores in (("old", [1.0, 2.0]), ("new", [2.0, 1.0])):
                labels = {"q": {"c": 1}}
                tracker.ingest({**run, "score": scores}, name=f"{name}", dataset=dataset, labels=labels)
    for person, first in (("ann.new", "1"), ("ann", "3")):
        with served(url, person) as pages:
            task = {"baseline": first, "run": str(int(first) + 1)}
            assert "0 of 2 items" in pages.page(address_of(task))
            give(pages, task, "1")
    assert drafts(tmp_path) == ["runs.db.ann%2Enew.shop.jsonl", "runs.db.ann.new%2Eshop.jsonl"]


REFUSED = [
    ("/judge?run=1", 400, "this page needs two runs or more"),
    ("/judge?run=1&run=99", 404, "no run with id 99"),
    ("/judge?baseline=1&run=2&whose=nobody", 400, "dataset 'shop' has no labels of judge 'nobody'"),
    ("/judge?dataset=shop&design=7", 400, "there is no design 7 of dataset 'shop' (it only has 1)"),
    ("/judge?baseline=1&run=2&metric=ndcg@7", 404, "no run of this dataset has the metric 'ndcg@7'"),
    ("/judge?baseline=1&run=2&budget=x", 400, "budget must be a number from 1, not 'x'"),
]


@pytest.mark.parametrize(("path", "status", "said"), REFUSED)
def test_what_cannot_be_judged_is_refused(judged_pages: Served, path: str, status: int, said: str) -> None:
    answer = judged_pages.get(path)
    assert answer.status == status
    assert said in unescape(answer.text)


@pytest.fixture(scope="module")
def judged_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The pages over it on SQLite, for what does not depend on the engine."""
    url = f"sqlite:///{tmp_path_factory.mktemp('judging') / 'runs.db'}"
    fill(url)
    with served(url, "ann") as found:
        yield found


def test_items_that_are_row_numbers_cannot_be_judged(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'rows.db'}"
    rows = {"group": ["q", "q"], "label": [1, 0]}
    with nt.Tracker(url) as tracker:
        for name, scores in (("old", [1.0, 2.0]), ("new", [2.0, 1.0])):
            tracker.ingest({**rows, "score": scores}, name=name, dataset="shop")
    with served(url, "ann") as pages:
        answer = pages.get(address_of(NEEDED))
        assert answer.status == 400
        assert "have no ids, only row numbers" in answer.text


@pytest.mark.nightly
def test_labels_that_came_meanwhile_are_told_and_the_draft_stays(pages: Served, database_url: str) -> None:
    give(pages, NEEDED, "2")
    with nt.Tracker(database_url) as tracker:
        (item, *_) = tracker.labels_needed("old", "new", dataset="shop").needed.items
        tracker.add_labels({item.group: {item.item: 1}}, dataset="shop", judge="ann")
    give(pages, NEEDED, "1")
    page = pages.page(address_of(NEEDED))
    assert "1 of 14 items" in page  # the one that has a label by now is not asked for, and not stored
    assert "with 1 grade of other items" in page
    assert "2 labels of" in store(pages, NEEDED)
    with nt.Tracker(database_url) as tracker:
        labels = tracker.sql("SELECT grade FROM labels WHERE label_set_version = 4 ORDER BY grade")
        assert labels["grade"].tolist() == [1.0, 1.0]
    assert "0 of 13 items" in pages.page(address_of(NEEDED))


@pytest.mark.nightly
def test_two_clicks_store_once(pages: Served, database_url: str) -> None:
    give(pages, NEEDED, "2")
    first = store(pages, NEEDED)
    assert store(pages, NEEDED) == first
    with nt.Tracker(database_url) as tracker:
        assert len(tracker.label_versions("shop")) == 3


def test_an_answer_that_came_meanwhile_is_not_asked_for(pages: Served, database_url: str) -> None:
    give(pages, DESIGN, "1")
    with nt.Tracker(database_url) as tracker:
        sample = tracker.labels_sample("old", "new", judge="model", budget=12, metric="ndcg@5", dataset="shop").sample
        first, second, *_ = sample.items
        answers = {item.group: {item.item: 2} for item in (first,)}
        tracker.add_answers(answers, design=1, judge="ann", dataset="shop")
    assert hidden(pages.page(address_of(DESIGN)), "/judge/grade")["item"] == _mark((second.group, second.item))
    give(pages, DESIGN, "3")
    assert "Your answers to design 1." in store(pages, DESIGN)
    with nt.Tracker(database_url) as tracker:
        left = tracker.labels_sample("old", "new", judge="model", budget=12, metric="ndcg@5", dataset="shop").sample
    assert left.n_answered == 2


def test_a_grade_for_another_item_than_the_shown_one_is_not_kept(judged_pages: Served) -> None:
    form = hidden(judged_pages.page(address_of(NEEDED)), "/judge/grade")
    for changed in ({"number": "2"}, {"item": "0" * 16}, {"number": "99"}, {"number": "0"}, {"grade": ""}):
        answer = judged_pages.send("/judge/grade", {**form, "grade": "1", **changed})
        assert answer.status == 400
    assert "0 of 15 items" in judged_pages.page(address_of(NEEDED))


FOREIGN = [
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Sec-Fetch-Site": "none"}, 403),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "http://localhost"}, 403),
    ({"Host": "evil.example"}, 400),
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
    ({"cookie": None}, 403),
    ({"cookie": "other=1"}, 403),
]


@pytest.mark.parametrize("path", FORMS)
def test_only_a_form_of_these_pages_is_taken(judged_pages: Served, path: str) -> None:
    assert judged_pages.judging is not None
    secret = judged_pages.judging.form
    fields = {**hidden(judged_pages.page(address_of(NEEDED)), "/judge/grade"), "grade": "1"}
    for headers, status in FOREIGN:
        answer = judged_pages.send(path, fields, **headers)  # type: ignore[arg-type]
        assert answer.status == status, headers
        assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
    for form in ("", "x", secret[:-1], judged_pages.access.token, judged_pages.access.session):
        assert judged_pages.send(path, {**fields, "form": form}).status == 403
    assert judged_pages.send(f"{path}?token={judged_pages.access.token}", fields, cookie=None).status == 403
    assert judged_pages.send(path, {**fields, "more": "x" * (1 << 20)}).status == 413
    assert judged_pages.get(path).status == 405
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"):
        assert judged_pages.get(path, method=method).status == 405
    assert "0 of 15 items" in judged_pages.page(address_of(NEEDED))


def test_no_other_page_takes_a_form_and_without_a_judge_none_does(judged_pages: Served, tmp_path: Path) -> None:
    assert judged_pages.judging is not None
    for path in ("/", "/judge", "/judge/grades", "/runs?dataset=shop", "/labels?dataset=shop"):
        answer = judged_pages.send(path, {"form": judged_pages.judging.form})
        assert (answer.status, answer.headers["allow"]) == (405, "GET")
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    fill(url)
    with served(url) as pages:
        assert "Judge" not in pages.page("/runs?dataset=shop")
        for path in ("/judge?dataset=shop", "/judge/grades?run=1&run=2"):
            assert pages.get(path).status == 404
        for path in FORMS:
            assert pages.send(path, NEEDED).status == 405


@pytest.mark.parametrize(("name", "shown"), [("", ""), (" ", "' '"), ("*", "'*'")])
def test_who_judges_has_a_name(name: str, shown: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(f"judge={shown} is not a name; give the name of the person")):
        Judging(name, f"sqlite:///{tmp_path / 'runs.db'}")


def test_a_name_that_no_labels_can_have_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape("a name has at most 250 characters")):
        Judging("x" * 251, f"sqlite:///{tmp_path / 'runs.db'}")


@pytest.mark.nightly
def test_a_draft_that_somebody_broke_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "draft.jsonl"
    draft = Draft.at(path)
    draft.give(("q", "\u2028=1"), 2.0)
    draft.give(("q", "b\n"), None)
    draft.give(("q", "\u2028=1"), 1.0)
    assert list(Draft.at(path).grades.items()) == [(("q", "b\n"), None), (("q", "\u2028=1"), 1.0)]
    assert [json.loads(line) for line in path.read_text().splitlines()][1] == {
        "group": "q",
        "item": "\u2028=1",
        "label": 1.0,
    }
    path.write_text(path.read_text() + '{"group": "q"}\n')
    with pytest.raises(InputError, match=re.escape(f"{path}:3: this line is not a grade that these pages wrote")):
        Draft.at(path)
