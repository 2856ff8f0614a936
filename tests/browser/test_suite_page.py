"""The page of a suite in a browser: the verdict and all datasets first, then each dataset in a tab; arms as well."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from layout import layout_faults, looks
from playwright.sync_api import expect
from web_reader import Reader

import ndcg_tracker as nt

DATASETS = ("tents", "lamps", "a dataset with a rather long name")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[nt.Tracker]:
    """Three datasets with two systems of three runs each, the second better."""
    random = np.random.default_rng(5)
    with nt.Tracker(tmp_path_factory.mktemp("suite") / "runs.db") as tracker:
        for n_groups, dataset in zip((40, 30, 20), DATASETS, strict=True):
            names = [f"q{number}" for number in range(n_groups)]
            labels = random.integers(0, 4, n_groups * 12)
            frame = {"group": np.repeat(names, 12), "item": [f"doc {n}" for n in range(12)] * n_groups, "label": labels}
            for name, noise in (("old", 3.0), ("new", 1.5)):
                for seed in range(3):
                    scores = labels + random.normal(0, noise, labels.size)
                    run, tags = f"{name}-{seed}", {"system": name}
                    tracker.ingest({**frame, "score": scores}, name=run, dataset=dataset, tags=tags)
        tracker.create_suite("all", DATASETS)
        yield tracker


@pytest.mark.nightly
def test_the_verdict_and_all_datasets_come_first_and_each_has_a_tab(
    reader: Reader, suite: nt.Tracker, tmp_path: Path
) -> None:
    suite.report("tag:system=old", "tag:system=new", suite="all").save(tmp_path / "suite.html")
    found = reader.opens((tmp_path / "suite.html").as_uri())
    header = found.inner_text("main > header")
    assert "macro ndcg@10: Yes: better by 0." in header
    assert ", 95% interval [+0." in header
    box = found.locator("[data-overview=forest] svg.marks").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    assert found.locator("[role=tab]").all_inner_texts() == list(DATASETS)
    found.click(f"[role=tab]:text-is('{DATASETS[2]}')")
    expect(found).to_have_url(re.compile("#pair=2$"))
    found.wait_for_selector("#pair-2 [data-chart=cutoffs] svg")
    assert found.is_hidden("#pair-0")
    assert "20 queries of a dataset with a rather long name" in found.inner_text("#pair-2 header")
    assert "Of repeated runs, the first is shown: old-0 of tag:system=old (3 runs)" in found.inner_text("#pair-2")
    assert found.locator("#pair-2 [data-part=moves] svg.marks").count() == 1
    assert "2 candidates" not in found.inner_text("main")
    assert reader.serious_faults() == []


@pytest.mark.nightly
def test_it_lies_well_on_every_screen(reader: Reader, suite: nt.Tracker, tmp_path: Path) -> None:
    suite.report("old-0", "new-0", "new-1", suite="all", metrics="ndcg@10").save(tmp_path / "suite.html")
    for look in looks(reader.page):
        found = reader.opens((tmp_path / "suite.html").as_uri())
        assert layout_faults(found) == [], look
