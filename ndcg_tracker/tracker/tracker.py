"""The tracker: every run of a team in one database, and the questions one asks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metric, parse_metrics
from ndcg_tracker.tracker.ingesting import Ingesting
from ndcg_tracker.tracker.opened import DEFAULT_DATASET, DEFAULT_METRIC

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.comparison.decisions import Scope
    from ndcg_tracker.comparison.inference import CiMethod, TestName
    from ndcg_tracker.comparison.pairing import Missing
    from ndcg_tracker.tracker.conventions import Convention
    from ndcg_tracker.tracker.explanation_result import ExplanationResult
    from ndcg_tracker.tracker.gate_result import GateResult
    from ndcg_tracker.tracker.gating import Margin
    from ndcg_tracker.tracker.history import History
    from ndcg_tracker.tracker.history_filter import HistoryFilter
    from ndcg_tracker.tracker.results import ComparisonResult

# What answers a question is imported where it is asked: most of a small command's time is its start.


class Tracker(Ingesting):
    """Runs, labels, metrics and group results in one database.

    ``location``: a SQLAlchemy URL (``sqlite:///...``, ``postgresql+psycopg://...``) or the path of a SQLite file; by
    default ``NDCG_TRACK_DB``, else ``ndcg-track.db`` in the current folder. A new SQLite file comes to be with the
    first ``ingest``; on Postgres, ``ndcg-track db upgrade`` makes the schema. Opened when first used; close it, or
    use it in a ``with`` statement. Every method raises DatabaseError for a database that cannot be used as it is.

    >>> import tempfile, ndcg_tracker as nt
    >>> shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
    >>> with tempfile.TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     tracker.ingest(shop, name="bm25").outcome
    ...     tracker.sql("SELECT run, metric, round(mean, 4) AS mean FROM run_summary").to_dict("records")
    'stored'
    [{'run': 'bm25', 'metric': 'ndcg@10', 'mean': 0.6309}]
    """

    def compare(
        self,
        baseline: str,
        *candidates: str | Sequence[str],
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        top: int = 10,
        tie_bounds: bool = False,
        test: TestName = "t",
        ci: CiMethod = "t",
        equivalence: float | None = None,
        by: str | None = None,
    ) -> ComparisonResult:
        """Compare a baseline with one candidate or several, group by group, under the newest labels that they share.

        Parameters: ``baseline`` and ``candidates``: run references (name, id, ``@alias``, ``latest``, ``latest~2``,
        unique prefix), the candidates one by one or in lists. ``metrics``: text forms; by default all that both have.
        ``missing``: what to do with groups that have a result in one run only: "error" refuses, "zero" counts 0 there,
        "intersect" leaves them out, "skip" leaves out labelled groups that neither run has as well. ``top``: how many
        worst and best groups to keep. ``tie_bounds``: list the groups that ties in scores leave open. ``test``: where
        p-values come from, "t" (paired t-test), "permutation" (sign flips) or "wilcoxon" (tests symmetry, not the
        mean). ``ci``: where the 95% intervals come from, "t", "bootstrap" or "betting". ``equivalence``: a margin,
        within which delta is to be shown to lie (two one-sided t-tests). ``by``: a group attribute (``set_groups``):
        compare slice by slice as well. Raises: ReferenceNotFoundError; InputError for methods that do not apply and an
        unknown attribute; NotComparableError, naming the command that mends it.
        """
        from ndcg_tracker.tracker.comparing import compared
        from ndcg_tracker.tracker.results import ComparisonResult

        parsed = parse_metrics(metrics)
        with self.store().read() as tx:
            one = tx.runs.resolve(baseline, dataset)
            others = [tx.runs.resolve(candidate, dataset) for candidate in _one_by_one(candidates)]
            found = compared(
                tx,
                one,
                others,
                parsed,
                missing=missing,
                top=top,
                tie_groups=tie_bounds,
                test=test,
                ci=ci,
                equivalence=equivalence,
                by=by,
            )
        return ComparisonResult(found)

    def explain(
        self,
        baseline: str,
        candidate: str,
        *,
        group: str | None = None,
        metric: str | None = None,
        dataset: str | None = None,
        labels_baseline: int | None = None,
        labels_candidate: int | None = None,
        top: int | None = 10,
    ) -> ExplanationResult:
        """Say which items, grades, ranks or labels the difference of two runs comes from.

        Parameters: ``baseline`` and ``candidate``: run references. ``group``: its difference is split by item; by
        default that of the means is added up over all groups by item, by grade, by rank and by what happened.
        ``metric``: a cg, dcg or ndcg; by default ndcg@10 if both runs have it, else the first that they share.
        ``labels_baseline`` and ``labels_candidate``: versions of the labels to hold each run to; by default the newest
        under which both have the metric. Under two versions the change is also split into what the ranking, the grades
        and the coverage of the labels did. ``top``: how many items to keep at either end over all groups, None for
        all. Raises: ReferenceNotFoundError; MetricError for a metric that is not split into items; InputError for a
        group without a result; NotComparableError, naming the command that mends it.
        """
        from ndcg_tracker.tracker.explained_means import run_explanation
        from ndcg_tracker.tracker.explained_runs import explained_sides
        from ndcg_tracker.tracker.explaining import group_explanation
        from ndcg_tracker.tracker.explanation_result import ExplanationResult

        parsed = None if metric is None else parse_metric(metric)
        with self.store().read() as tx:
            one, other = tx.runs.resolve(baseline, dataset), tx.runs.resolve(candidate, dataset)
            sides = explained_sides(tx, one, other, parsed, labels_baseline, labels_candidate)
            if group is not None:
                return ExplanationResult(group_explanation(tx, sides, group))
            return ExplanationResult(run_explanation(tx, sides, top=top))

    def gate(
        self,
        candidate: str,
        *,
        baseline: str,
        metric: str = DEFAULT_METRIC,
        margin: Margin = None,
        scope: Scope = "population",
        tolerance: float | None = None,
        repeats: Sequence[str] = (),
        aa: str | None = None,
        alpha_budget: float | None = None,
        missing: Missing = "error",
        dataset: str | None = None,
        acknowledge: str | None = None,
        acknowledged_by: str | None = None,
        dry_run: bool = False,
        top: int = 10,
    ) -> GateResult:
        """Decide whether a candidate may replace a baseline, and record the decision.

        Parameters: ``candidate``, ``baseline``: run references; a baseline given as ``@alias`` is pinned. ``margin``:
        the drop that is allowed in scope "population", or "auto" to learn it from ``repeats`` (run references) or from
        the runs with the tag ``aa=NAME``, by default the baseline's. ``scope``: "population" (three-way
        non-inferiority) or "set" (exact arithmetic against ``tolerance``, by default 0). ``alpha_budget``: the
        probability of a false FAIL over all decisions of this gate, in the place of 1% for each. ``acknowledge``: why a
        FAIL or INCONCLUSIVE is overridden, ``acknowledged_by`` by whom. ``dry_run``: record nothing. ``missing``,
        ``top``: see ``compare``. Raises: InputError for what does not go together; ReferenceNotFoundError;
        NotComparableError, naming the command that mends it.
        """
        from ndcg_tracker.tracker.gate_result import GateResult
        from ndcg_tracker.tracker.gating import GateQuestion, acknowledged, gated, recorded

        question = GateQuestion(
            candidate,
            baseline,
            parse_metric(metric),
            margin,
            scope,
            tolerance,
            tuple(repeats),
            aa,
            alpha_budget,
            missing,
            dataset,
            top,
        )
        override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
        if dry_run:
            with self.store().read() as tx:
                return GateResult(gated(tx, question))
        with self.store().write() as tx:
            return GateResult(recorded(tx, question, gated(tx, question, override)))

    def history(
        self,
        metric: str = DEFAULT_METRIC,
        *,
        dataset: str = DEFAULT_DATASET,
        tags: Mapping[str, str] | None = None,
        branch: str | None = None,
        commit: str = "",
        since: str | None = None,
        until: str | None = None,
        last: int | None = None,
    ) -> pd.DataFrame:
        """Return a metric over the runs of a dataset, oldest first: one row per run, with its 95% interval.

        ``step`` is true at the first run after the mean stepped, ``delta`` the paired difference to the run before.
        Parameters: ``tags``, ``branch`` (the tag of this name), ``commit`` (its beginning), ``since``, ``until`` (ISO
        8601, UTC) and ``last`` choose runs; steps are looked for among these. Raises: InputError for a date that is
        none; ReferenceNotFoundError for an unknown dataset.
        """
        from ndcg_tracker.tracker.history_filter import HistoryFilter

        wanted = {**(tags or {}), **({} if branch is None else {"branch": branch})}
        chosen = HistoryFilter(wanted, commit, since, until, last)
        return self.history_report(metric, dataset=dataset, wanted=chosen).to_frame()

    def history_report(
        self, metric: str, *, dataset: str = DEFAULT_DATASET, wanted: HistoryFilter | None = None
    ) -> History:
        """Return the history as plain rows with its notes (see ``history``)."""
        from ndcg_tracker.tracker.history import history_of
        from ndcg_tracker.tracker.history_filter import HistoryFilter

        with self.store().read() as tx:
            return history_of(tx, dataset, metric, wanted or HistoryFilter())

    def conventions(self, reference: str, *, cutoff: int = 10, dataset: str | None = None) -> list[Convention]:
        """Return a run's NDCG as every tool computes it, each with the axes that move it."""
        from ndcg_tracker.tracker.conventions import conventions
        from ndcg_tracker.tracker.scoring import stored_weights

        with self.store().read() as tx:
            run = tx.runs.resolve(reference, dataset)
            return conventions(tx, run, cutoff, stored_weights(tx, run.dataset_id))


def _one_by_one(candidates: Sequence[str | Sequence[str]]) -> list[str]:
    """Return the references of runs that were given one by one or in lists (InputError for anything else)."""
    found: list[str] = []
    for given in candidates:
        each = [given] if isinstance(given, str) else given
        if not isinstance(each, (list, tuple)) or not all(isinstance(one, str) for one in each):
            raise InputError(f"a candidate is a run's name, id or @alias as text, or a list of these, not {given!r}")
        found += each
    return found
