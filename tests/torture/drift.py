"""Row 9: the models of the schema against the migrations, with one planted difference of each kind, per engine."""

from __future__ import annotations

from collections.abc import Iterator

from migrated import catalogue_of
from planted_drift import DRIFTS, catalogue_of_models, differences, planted_and_found, without_views

from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import metadata

from .databases import database, engine_name
from .report import Outcome, Setting

GOAL = "every planted difference found, none without one"


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield, per engine, how many of the planted differences are found; both sizes are the same."""
    for engine in setting.engines:
        with database(setting, engine) as migrated, database(setting, engine, upgraded=False) as empty:
            agreeing = differences(catalogue_of_models(empty, metadata), without_views(catalogue_of(migrated)))
            dialect = parsed_location(migrated).dialect
            planted = [drift for drift in DRIFTS if dialect in drift.engines]
            missed = []
            for drift in planted:
                found = planted_and_found(drift, migrated, empty)
                if not drift.is_named_by(found):
                    missed.append(f"{drift.kind}: {found}")
            untouched = catalogue_of(migrated)
        what = "models against migrations: " + ", ".join(drift.kind for drift in planted)
        figure = f"{len(planted) - len(missed)} of {len(planted)} kinds found and named; {len(agreeing)} false alarms"
        met = not missed and not agreeing and bool(untouched)
        yield Outcome(9, what, engine_name(engine), GOAL, figure, met, "; ".join([*missed, *agreeing]))
