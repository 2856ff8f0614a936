"""The views of the facts besides the numbers: the same rows on both engines."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankings_of import ranking_of
from stored_samples import BM25, DENSE, HOSTILE, add_run
from thorough import examples

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage.store import Store

Stores = tuple[Store, Store]
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8) | st.sampled_from(
    [key for key in HOSTILE if len(key) < 100]
)
FACTS = st.dictionaries(TEXTS, TEXTS, max_size=3)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e300, 1e300, allow_subnormal=False)


def test_commits_aliases_and_decisions(both: Stores) -> None:
    for store in both:
        with store.write() as tx:
            one = add_run(tx, "one", BM25)
            dataset = one.dataset_id
            details = {"git_commit": "abc", "parameters": {"lr": "0.1"}}
            other = tx.write.runs.insert(dataset, "other", ranking_of(DENSE), **details)
            tx.write.aliases.set(dataset, "prod", other.id)
            tx.write.decisions.insert(
                dataset, one.id, other.id, metric="ndcg@10", label_set_id=tx.labels.sets(dataset)[0].id,
                scope="population", margin=0.01, delta=-0.5, ci_low=-0.75, ci_high=float("nan"), alpha=0.05,
                decision="fail",
                reason="too low", baseline_alias="prod",
                acknowledged_reason="known", acknowledged_by="me", unjudged="range", delta_low=-0.625, delta_high=-0.25,
            )  # fmt: skip
        assert store.query("SELECT run, git_commit, source, n_groups, n_items FROM run_details").rows == [
            ("one", None, "one.run", len(BM25), sum(map(len, BM25.values()))),
            ("other", "abc", None, len(DENSE), sum(map(len, DENSE.values()))),
        ]
        assert store.query("SELECT * FROM run_parameters").rows == [("other", other.id, "shop", "lr", "0.1")]
        assert store.query("SELECT * FROM run_tags").rows == [("one", one.id, "shop", "stage", "test")]
        assert store.query("SELECT dataset, alias, run, run_id FROM run_aliases").rows == [
            ("shop", "prod", "other", other.id)
        ]
        (row,) = store.query("SELECT * FROM gate_decisions").rows
        decided = dict(zip(store.query("SELECT * FROM gate_decisions").columns, row, strict=True))
        assert decided.pop("created_at_utc") == decided.pop("created_at")
        assert tuple(decided.values()) == (
            1, "shop", "one", "other", "prod", "ndcg@10", 1, "population", 0.01, -0.5, -0.75, None, 0.05, "fail",
            "too low", "known", "me", 1, "", "range", -0.625, -0.25, None, None, None, None,
        )  # fmt: skip


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    parameters=FACTS,
    tags=FACTS,
    attributes=st.dictionaries(TEXTS, TEXTS | NUMBERS, max_size=4) | st.none(),
)
def test_facts_come_out_as_they_went_in(
    both: Stores, parameters: dict[str, str], tags: dict[str, str], attributes: dict[str, str | float] | None
) -> None:
    for store in both:
        with store.write() as tx:
            name = f"d{len(tx.datasets.all())}"
            dataset = tx.write.datasets.ensure(name).id
            tx.write.runs.insert(dataset, "run", ranking_of({"q": {"a": 1.0}}), parameters=parameters, tags=tags)
            (group,) = tx.write.groups.ensure(dataset, Keys.from_strings(["q"])).tolist()
            tx.write.groups.set_attributes(dataset, {group: attributes})
        for view, facts in (("run_parameters", parameters), ("run_tags", tags)):
            rows = store.query(f"SELECT name, value FROM {view} WHERE dataset = '{name}'").rows
            assert dict(rows) == facts
            assert len(rows) == len(facts)
        rows = store.query(f"SELECT attribute, value, number FROM group_attributes WHERE dataset = '{name}'").rows
        found = {key: number if value is None else value for key, value, number in rows}
        assert len(rows) == len(found)
        # SQLite's own JSON reader may miss a double by one unit in the last place
        assert found == {
            key: value if isinstance(value, str) else pytest.approx(value, rel=4e-16, abs=0)
            for key, value in (attributes or {}).items()
        }


def test_numbers_and_the_order_of_facts_are_those_of_both_engines(both: Stores) -> None:
    given = {"bb": 1e300, "a": 17976931348623157e292, "c": 5e-324, "d": 3, "e": 3.0, "f": 1e16, "g": -(2**53), "h": "x"}
    found = []
    for store in both:
        with store.write() as tx:
            dataset = tx.write.datasets.ensure("shop").id
            (group,) = tx.write.groups.ensure(dataset, Keys.from_strings(["q"])).tolist()
            tx.write.groups.set_attributes(dataset, {group: given})
        with store.read() as tx:
            found.append(tx.groups.attributes(dataset)[group])
    assert repr(found[0]) == repr(found[1]) == repr(dict(sorted(given.items())))
