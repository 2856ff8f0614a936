"""What is written is what is read: one suite for both engines."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankings_of import Run, labels_of, ranking_of
from stored_samples import BM25, DENSE, HOSTILE, LABELS, add_run
from thorough import examples

from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, Ranking
from ndcg_tracker.storage import database, datasets, evaluations
from ndcg_tracker.storage.bulk import sqlite
from ndcg_tracker.storage.records import LabelOrigin
from ndcg_tracker.storage.store import Store

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
ITEMS = st.dictionaries(IDS | st.sampled_from(HOSTILE), st.floats(allow_nan=False, allow_infinity=False), max_size=5)
GROUPS = IDS | st.sampled_from([key for key in HOSTILE if len(key) < 100])
RUNS = st.dictionaries(GROUPS, ITEMS.filter(bool), min_size=1, max_size=5)


def content(items: GroupedItems) -> dict[str, list[tuple[str, int]]]:
    """Return the items of each group in their order, numbers as their bits."""
    bits = items.numbers.view(np.uint64).tolist()
    keys = items.item_keys.to_list()
    ends = items.offsets.tolist()
    return {
        group: list(zip(keys[start:end], bits[start:end], strict=True))
        for group, start, end in zip(items.group_keys.to_list(), ends[:-1], ends[1:], strict=True)
    }


def test_datasets(store: Store) -> None:
    with store.write() as tx:
        shop, books = tx.write.datasets.ensure("shop"), tx.write.datasets.ensure("Bücher")
        assert tx.write.datasets.ensure("shop") == shop
    with store.read() as rx:
        assert rx.datasets.all() == [shop, books]
        assert rx.datasets.named("Bücher") == books
        assert rx.datasets.named("none") is None


def test_a_run_comes_back(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
    with store.read() as rx:
        assert rx.runs.all() == rx.runs.all("shop") == [run] == [rx.runs.named(run.dataset_id, "bm25")]
        assert rx.runs.all("none") == []
        assert rx.runs.named(run.dataset_id, "none") is None
        assert rx.runs.with_id(run.id) == run
        assert content(rx.runs.ranking(run.id)) == content(ranking_of(BM25))
        assert rx.runs.ranking(run.id).digest() == run.digest == ranking_of(BM25).digest()
    assert (run.name, run.dataset, run.source, run.git_commit) == ("bm25", "shop", "bm25.run", None)
    assert (run.parameters, run.tags, run.n_groups, run.n_items) == ({}, {"stage": "test"}, 3, 5)
    moment = datetime.strptime(run.created_at_utc, "%Y-%m-%dT%H:%M:%S.%f%z")
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 3600


def test_details_of_a_run_come_back(store: Store) -> None:
    parameters = {"k1": 0.9, "n": 3, "deep": {"list": [1, None, True, "é\"'\\"]}, "%s": ":x"}
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("shop")
        run = tx.write.runs.insert(
            dataset.id,
            "x'; DROP TABLE runs; --",
            ranking_of(BM25),
            source="a\nb",
            git_commit="abc",
            parameters=parameters,
            tags={"b": "1", "a": "2"},
            created_at_utc="2025-01-31T08:00:00.000001Z",
        )
    with store.read() as rx:
        assert rx.runs.all() == [run]
    assert (run.parameters, run.tags) == (parameters, {"a": "2", "b": "1"})
    assert (run.source, run.git_commit, run.created_at_utc) == ("a\nb", "abc", "2025-01-31T08:00:00.000001Z")


@pytest.mark.parametrize("small", [0, 1 << 40])
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(run=RUNS)
def test_any_ids_and_scores_come_back(store: Store, monkeypatch: pytest.MonkeyPatch, small: int, run: Run) -> None:
    monkeypatch.setattr(sqlite, "SMALL_BLOCK", small)
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("any")
        n_before = len(tx.runs.all())
        ranking = ranking_of(run)
        stored = tx.write.runs.insert(dataset.id, f"run {n_before}", ranking)
        labels = tx.write.labels.insert(dataset.id, labels_of(run))
    with store.read() as rx:
        assert content(rx.runs.ranking(stored.id)) == content(ranking)
        assert content(rx.labels.lists(labels.id)) == content(labels_of(run))


def test_every_hostile_id_comes_back(store: Store) -> None:
    run: Run = {
        group: {item: float(place) for place, item in enumerate(HOSTILE)} for group in HOSTILE if len(group) < 100
    }
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("shop")
        stored = tx.write.runs.insert(dataset.id, "hostile", ranking_of(run))
    with store.read() as rx:
        assert content(rx.runs.ranking(stored.id)) == content(ranking_of(run))


def test_more_lists_than_one_block_or_fetch(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ndcg_tracker.storage.bulk.protocol.BLOCK_ITEMS", 50)
    monkeypatch.setattr("ndcg_tracker.storage.bulk.sqlite._BLOCK_BYTES", 100)
    numbers = np.random.default_rng(0).normal(size=2000)
    groups = Keys.from_strings([f"g{row // 3}" for row in range(2000)])
    ranking = Ranking.from_rows(groups, Keys.from_numbers(np.arange(2000)), numbers)
    with store.write() as tx:
        stored = tx.write.runs.insert(tx.write.datasets.ensure("shop").id, "many", ranking)
    with store.read() as rx:
        assert content(rx.runs.ranking(stored.id)) == content(ranking)


def test_a_run_without_items(store: Store) -> None:
    with store.write() as tx:
        stored = tx.write.runs.insert(tx.write.datasets.ensure("shop").id, "nothing", ranking_of({}))
    with store.read() as rx:
        ranking = rx.runs.ranking(stored.id)
    assert (ranking.n_groups, ranking.n_items, ranking.offsets.tolist()) == (0, 0, [0])


def test_lists_without_items(store: Store) -> None:
    ranking = Ranking(
        Keys.from_strings(["q1", "q2", "q3"]), np.array([0, 0, 1, 1]), Keys.from_strings(["a"]), np.ones(1)
    )
    with store.write() as tx:
        stored = tx.write.runs.insert(tx.write.datasets.ensure("shop").id, "gaps", ranking)
    with store.read() as rx:
        assert content(rx.runs.ranking(stored.id)) == content(ranking)


def test_label_sets_are_versions(store: Store) -> None:
    other: Run = {"q1": {"a": 2.0}}
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("shop")
        assert tx.labels.newest(dataset.id) is None
        first = tx.write.labels.insert(dataset.id, labels_of(LABELS), LabelOrigin("a.qrels"))
        second = tx.write.labels.insert(dataset.id, labels_of(other))
        elsewhere = tx.write.labels.insert(tx.write.datasets.ensure("books").id, labels_of(other))
    assert [one.version for one in (first, second, elsewhere)] == [1, 2, 1]
    assert (first.digest, first.n_groups, first.n_labels, first.source) == (labels_of(LABELS).digest(), 2, 3, "a.qrels")
    assert second.source is None
    with store.read() as rx:
        assert rx.labels.sets(dataset.id) == [first, second]
        assert rx.labels.newest(dataset.id) == second
        assert content(rx.labels.lists(first.id)) == content(labels_of(LABELS))
        assert content(rx.labels.lists(second.id)) == content(labels_of(other))
        judged_zero = [rx.labels.has_judged_zero(label_set.id) for label_set in (first, second)]
        assert judged_zero == [any(grade <= 0 for grade in labels_of(one).grades) for one in (LABELS, other)]


@pytest.mark.parametrize("few", [0, 500])
def test_groups_keep_their_ids(store: Store, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    for module in (evaluations, datasets):
        monkeypatch.setattr(module, "FEW", few)
    keys = Keys.from_strings(["b", "a", "ü", "b", "B"])
    with store.write() as tx:
        dataset, other = tx.write.datasets.ensure("shop"), tx.write.datasets.ensure("books")
        ids = tx.write.groups.ensure(dataset.id, keys)
        assert ids[0] == ids[3]
        assert np.unique(ids).size == 4
        assert tx.write.groups.ensure(dataset.id, keys).tolist() == ids.tolist()
        more = tx.write.groups.ensure(dataset.id, Keys.from_strings(["z", "a", "y", "z"]))
        assert more[1] == ids[1]
        assert more[0] == more[3]
        assert not set(more[[0, 2]].tolist()) & set(ids.tolist())
        assert not set(tx.write.groups.ensure(other.id, keys).tolist()) & {*ids.tolist(), *more.tolist()}
        assert tx.write.groups.ensure(dataset.id, Keys.from_strings([])).tolist() == []
    with store.read() as rx:
        assert rx.groups.keys(dataset.id, ids).to_list() == keys.to_list()
        assert rx.groups.keys(dataset.id, ids[:0]).to_list() == []
        assert rx.groups.ids(dataset.id, Keys.from_strings(["a", "nope"])).tolist() == [ids[1], -1]
        with pytest.raises(ReferenceNotFoundError, match="no group with id 99 in dataset"):
            rx.groups.keys(dataset.id, np.array([ids[0], 99]))
        with pytest.raises(ReferenceNotFoundError, match="no group with id"):
            rx.groups.keys(other.id, ids)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("a\0b", "a group id contains a NUL character, which no database can store; remove it"),
        ("x" * 2001, "group id 'xxxxxxxxxxxxxxxxxxxx...' has 2001 bytes; a group id has at most 2000"),
    ],
)
def test_groups_that_no_database_holds(store: Store, key: str, message: str) -> None:
    with pytest.raises(InputError) as caught, store.write() as tx:
        tx.write.groups.ensure(tx.write.datasets.ensure("shop").id, Keys.from_strings(["fine", key]))
    assert str(caught.value) == message
    with store.read() as rx:
        assert rx.datasets.all() == []


def test_a_group_id_may_be_long(store: Store) -> None:
    longest = np.random.default_rng(0).integers(33, 127, 2000, dtype=np.uint8).tobytes().decode()
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("shop")
        ids = tx.write.groups.ensure(dataset.id, Keys.from_strings([longest]))
    with store.read() as rx:
        assert rx.groups.keys(dataset.id, ids).to_list() == [longest]


def test_weights_and_attributes_of_groups(store: Store) -> None:
    with store.write() as tx:
        dataset = tx.write.datasets.ensure("shop")
        ids = tx.write.groups.ensure(dataset.id, Keys.from_strings(["a", "b", "c"]))
        tx.write.groups.set_weights(dataset.id, ids[:2], np.array([0.5, 3.0]))
        tx.write.groups.set_weights(dataset.id, ids[1:2], np.array([np.nan]))
        attributes = {int(ids[0]): {"lang": "de", "é": [1]}, int(ids[2]): {"lang": "en"}}
        tx.write.groups.set_attributes(dataset.id, attributes)
        tx.write.groups.set_attributes(dataset.id, {int(ids[2]): None})
        tx.write.groups.set_attributes(dataset.id, {})
    with store.read() as rx:
        found = rx.groups.weights(dataset.id)
        assert (found.ids.tolist(), found.weights.tolist()) == ([ids[0]], [0.5])
        assert rx.groups.attributes(dataset.id) == {int(ids[0]): {"lang": "de", "é": [1]}}
    for wrong in (-1.0, np.inf):
        with pytest.raises(InputError, match="a group weight is negative or infinite"), store.write() as tx:
            tx.write.groups.set_weights(dataset.id, ids[:1], np.array([wrong]))
    with pytest.raises(ReferenceNotFoundError), store.write() as tx:
        tx.write.groups.set_weights(tx.write.datasets.ensure("books").id, ids[:1], np.array([1.0]))


def test_evaluations_come_back(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
    with store.read() as rx:
        (evaluation,) = rx.evaluations.of_run(run.id)
        columns = rx.evaluations.results(evaluation.id)
        whole = rx.evaluations.results(evaluation.id, components=True)
        keys = rx.groups.keys(run.dataset_id, columns.group_ids).to_list()
    assert (evaluation.metric, evaluation.label_set_version, evaluation.run_id) == ("ndcg@10", 1, run.id)
    assert (evaluation.n_groups, evaluation.n_missing, evaluation.n_undefined) == (2, 0, 1)
    values = np.array([0.29, 0.54, np.nan])
    assert evaluation.mean == pytest.approx(0.415)
    assert evaluation.std_dev == pytest.approx(np.std(values[:2], ddof=1))
    assert keys == ["q1", "q2", "q3"]
    assert (columns.group_ids.dtype, columns.values.dtype) == (np.int64, np.float64)
    np.testing.assert_allclose(columns.values, values)
    assert (columns.dcg, columns.ideal_dcg) == (None, None)
    assert (columns.undefined.tolist(), columns.reasons) == ([2], ["no label"])
    assert columns.reasons_by_row().tolist() == [None, None, "no label"]
    assert whole.dcg is not None
    assert whole.ideal_dcg is not None
    np.testing.assert_array_equal(whole.dcg, columns.values * 2)
    np.testing.assert_array_equal(whole.ideal_dcg, columns.values * 4)


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.floats(-1e300, 1e300) | st.none(),
            st.floats(-1e300, 1e300) | st.none(),
            st.floats(-1e300, 1e300) | st.none(),
            st.sampled_from(["no label", "no relevant item", "é"]),
        ),
        max_size=250,
    ),
    seed=st.integers(0, 9),
)
def test_any_results_come_back_by_group_id(
    store: Store, rows: list[tuple[float | None, float | None, float | None, str]], seed: int
) -> None:
    columns = [np.array([row[place] for row in rows], dtype=np.float64) for place in range(3)]
    undefined = np.isnan(columns[0])
    reasons = [row[3] if row[0] is None else None for row in rows]
    with store.write() as tx:
        run = add_run(tx, f"run {len(tx.runs.all())}", BM25)
        ids = tx.write.groups.ensure(run.dataset_id, Keys.from_strings([f"g{row}" for row in range(len(rows))]))
        order = np.random.default_rng(seed).permutation(len(rows))
        evaluation_id = tx.write.evaluations.insert(
            run.id,
            tx.labels.sets(run.dataset_id)[0].id,
            "other",
            mean=None,
            n_groups=int((~undefined).sum()),
            n_missing=0,
            n_undefined=int(undefined.sum()),
            group_ids=ids[order],
            values=columns[0][order],
            dcg=columns[1][order],
            ideal_dcg=columns[2][order],
            reasons=[reasons[row] for row in order],
        )
    with store.read() as rx:
        found = rx.evaluations.results(evaluation_id, components=True)
    assert found.group_ids.tolist() == ids.tolist()
    for stored, given_column in zip((found.values, found.dcg, found.ideal_dcg), columns, strict=True):
        np.testing.assert_array_equal(stored, given_column)
    assert found.reasons == [reason for reason in reasons if reason is not None]
    assert found.undefined.tolist() == np.flatnonzero(undefined).tolist()


def test_evaluations_that_are_refused(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        label_set_id = tx.labels.sets(run.dataset_id)[0].id
        ids = tx.write.groups.ensure(run.dataset_id, Keys.from_strings(["q1"]))
    counts = {"n_groups": 1, "n_missing": 0, "n_undefined": 0}
    cases = [
        ("ndcg@10", 0.5, 0.5, ConflictError, f"run {run.id} has ndcg@10 under label set {label_set_id} already"),
        ("p@1", 0.5, np.nan, InputError, f"p@1 of run {run.id} has an undefined value without a reason"),
        ("p@1", 0.5, np.inf, InputError, f"p@1 of run {run.id} has an infinite value; only finite numbers are stored"),
        ("p@1", np.inf, 0.5, InputError, f"p@1 of run {run.id} has an infinite value; only finite numbers are stored"),
    ]
    for metric, mean, value, kind, message in cases:
        with pytest.raises(kind) as caught, store.write() as tx:
            tx.write.evaluations.insert(
                run.id, label_set_id, metric, mean=mean, group_ids=ids, values=np.array([value]), **counts
            )
        assert str(caught.value) == message


def test_a_mean_that_is_undefined_is_none(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "one", {"q": {"a": 1.0}})
        tx.write.evaluations.insert(
            run.id,
            tx.labels.sets(run.dataset_id)[0].id,
            "p@1",
            mean=float("nan"),
            n_groups=0,
            n_missing=0,
            n_undefined=1,
            group_ids=tx.write.groups.ensure(run.dataset_id, Keys.from_strings(["q"])),
            values=np.array([np.nan]),
            reasons=["no label"],
        )
    with store.read() as rx:
        assert [(one.mean, one.std_dev) for one in rx.evaluations.of_run(run.id)] == [(None, None), (None, None)]


def test_coverages(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        label_set_id = tx.labels.sets(run.dataset_id)[0].id
        tx.write.evaluations.insert_coverage(run.id, label_set_id, 10, 0.75)
        tx.write.evaluations.insert_coverage(run.id, label_set_id, 100, 1.0)
    with store.read() as rx:
        found = rx.evaluations.coverages(run.id, label_set_id)
    assert [(one.cutoff, one.judged_share) for one in found] == [(10, 0.75), (100, 1.0), (None, 0.25)]


def test_history_is_in_the_order_of_ids(store: Store) -> None:
    with store.write() as tx:
        second = add_run(tx, "b", BM25)
        first = add_run(tx, "a", DENSE)
        again = add_run(tx, "c", BM25, {"q1": {"a": 2.0}})
        add_run(tx, "x", BM25, dataset="books")
    with store.read() as rx:
        rows = rx.evaluations.history(second.dataset_id, "ndcg@10")
        newest = rx.labels.newest(second.dataset_id)
        assert newest is not None
        narrowed = rx.evaluations.history(second.dataset_id, "ndcg@10", newest.id)
        assert rx.evaluations.history(second.dataset_id, "ndcg@5") == []
        evaluation = rx.evaluations.of_run(second.id)[0]
    assert [(row.run, row.run_id, row.label_set_version) for row in rows] == [
        ("b", second.id, 1),
        ("a", first.id, 1),
        ("c", again.id, 2),
    ]
    assert narrowed == rows[2:]
    assert (rows[0].evaluation_id, rows[0].mean, rows[0].std_dev) == (
        evaluation.id,
        evaluation.mean,
        evaluation.std_dev,
    )
    assert rows[0].created_at_utc == second.created_at_utc


def test_runs_of_the_same_content_are_found(store: Store) -> None:
    with store.write() as tx:
        one, other = add_run(tx, "one", BM25), add_run(tx, "other", BM25)
        add_run(tx, "third", DENSE)
        add_run(tx, "one", BM25, dataset="books")
    with store.read() as rx:
        assert rx.runs.with_digest(one.dataset_id, one.digest) == [one, other]
        assert rx.runs.with_digest(one.dataset_id, "none") == []


def test_references_to_runs(store: Store) -> None:
    with store.write() as tx:
        one, other = add_run(tx, "one", BM25), add_run(tx, "one", DENSE, dataset="books")
        tx.write.aliases.set(one.dataset_id, "prod", one.id)
    with store.read() as rx:
        assert rx.runs.resolve("one", "shop") == one
        assert rx.runs.resolve("latest") == other
        assert rx.runs.resolve("@prod") == one
        assert rx.runs.resolve(str(other.id)) == other
        for reference, dataset, message in (
            ("one", None, "run 'one' exists in several datasets (books, shop); choose with dataset="),
            ("one", "shpo", "no dataset 'shpo'; did you mean 'shop'?"),
            (str(other.id), "shop", f"no run '{other.id}' in dataset 'shop'; there is only 'one'"),
            ("@prod", "books", "no alias '@prod' in dataset 'books'; create it with: ndcg-track alias set prod RUN"),
        ):
            with pytest.raises(ReferenceNotFoundError) as caught:
                rx.runs.resolve(reference, dataset)
            assert str(caught.value) == message


def test_a_name_is_taken_within_its_dataset_only(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        add_run(tx, "bm25", BM25, dataset="books")
    with pytest.raises(ConflictError) as caught, store.write() as tx:
        add_run(tx, "bm25", DENSE)
    assert str(caught.value) == (f"run 'bm25' exists already in dataset 'shop' (id {run.id}); choose another name")


def test_numbers_and_items_that_no_database_holds(store: Store) -> None:
    for run, message in (
        ({"q": {"a": np.inf}}, "a score is not a finite number; only finite numbers are stored"),
        ({"q": {"a": np.nan}}, "a score is not a finite number; only finite numbers are stored"),
        ({"q": {"a\0": 1.0}}, "an item id contains a NUL character, which no database can store; remove it"),
    ):
        with pytest.raises(InputError) as caught, store.write() as tx:
            tx.write.runs.insert(tx.write.datasets.ensure("shop").id, "bad", ranking_of(run))
        assert str(caught.value) == message
    with pytest.raises(InputError, match="a grade is not a finite number"), store.write() as tx:
        tx.write.labels.insert(tx.write.datasets.ensure("shop").id, labels_of({"q": {"a": np.inf}}))


def test_what_a_store_says_of_itself(store: Store, database_url: str) -> None:
    assert store.dialect == ("sqlite" if database_url.startswith("sqlite") else "postgresql")
    assert store.display_url in database_url
    result = store.query("SELECT count(*) AS n FROM run_summary")
    assert (result.columns, result.rows) == (["n"], [(0,)])
    assert database.check(database_url) == []
