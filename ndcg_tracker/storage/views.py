"""The public views and their columns, as the documentation describes them; migrations alone create them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """A public view: a sentence about its rows, and a sentence about each of its columns, in order."""

    name: str
    sentence: str
    columns: dict[str, str]


_RUN = {"run": "Name of the run.", "run_id": "Number of the run; later runs have higher numbers."}
_DATASET = {"dataset": "Name of the dataset."}
_GROUP = {"group_key": "Id of the group."}
_WEIGHT = {"weight": "Weight of the group in weighted means; NULL where none was given, which counts as 1."}
_METRIC = {"metric": "The metric's canonical text form."}
_REQUESTED = {"requested_as": "The text by which the metric was first requested, such as lightgbm:ndcg@10."}
_VERSION = {"label_set_version": "Version of the dataset's labels."}
_JUDGE = {"judge": "Who gave the labels; empty for the default, unnamed judge."}
_NEWEST_OF_RUN = {
    "is_newest_labels": "Whether these are the latest labels of the unnamed judge under which the run has the metric: "
    "true for one row of several that differ only in labels; on SQLite 1 and 0."
}
_SAMPLED = {"sampled": "Sampled negatives that its items were ranked with, as 100/50000; NULL where all were ranked."}
_NEWEST_OF_BOTH = {
    "is_newest_labels": "Whether these are the latest labels of the unnamed judge under which both runs have the "
    "metric: true for one row of several that differ only in labels; on SQLite 1 and 0."
}
_CREATED = {"created_at_utc": "When the run was created, ISO 8601 in UTC: as given with it, else when it was stored."}
_OPEN = _JUDGE | {
    "unjudged": "What an unjudged item was worth: range, zero or bounds; NULL for older decisions.",
    "delta_low": "Least delta that unjudged items left open; NULL where that is not known.",
    "delta_high": "Greatest delta that unjudged items left open; NULL where that is not known.",
}
_TIMESTAMP = {"created_at": "The same as created_at_utc; on Postgres a timestamp."}


def _fact(what: str) -> dict[str, str]:
    return {"name": f"Name of the {what}.", "value": f"Value of the {what}, as text."}


VIEWS = (
    View(
        "run_summary",
        "One row per run, metric and label set version: the mean and its counts of groups.",
        _RUN
        | _DATASET
        | _CREATED
        | _METRIC
        | _VERSION
        | {
            "mean": "The metric over all its groups; NULL where no group has a value.",
            "n_groups": "How many groups are in the mean.",
            "n_missing": "How many groups have labels, but no items in the run.",
            "n_undefined": "For how many groups the metric is undefined.",
        }
        | _REQUESTED
        | _JUDGE
        | _TIMESTAMP
        | _NEWEST_OF_RUN
        | _SAMPLED,
    ),
    View(
        "group_history",
        "One row per run, metric, label set version and group: the metric's value for this group.",
        _RUN
        | _DATASET
        | _GROUP
        | _METRIC
        | _VERSION
        | {"value": "The metric's value for the group; NULL where it is undefined."}
        | _CREATED
        | _REQUESTED
        | _JUDGE
        | _TIMESTAMP
        | _NEWEST_OF_RUN
        | _WEIGHT
        | {
            "is_missing": "Whether the run lacks the group, which has labels; on SQLite 1 and 0. NULL where nobody can "
            "say: in results of other engines, and for a group without gain in a run that lacks groups and some items.",
        },
    ),
    View(
        "group_diff",
        "One row per pair of runs, metric, label set version and group with a result in both: filter on baseline, "
        "candidate and metric.",
        _DATASET
        | {"baseline": "Name of the first run.", "candidate": "Name of the second run."}
        | _METRIC
        | _VERSION
        | _GROUP
        | {
            "baseline_value": "The metric's value for the group in the first run.",
            "candidate_value": "The metric's value for the group in the second run.",
            "delta": "candidate_value - baseline_value; NULL where either is undefined.",
            "requested_as": "The text by which the candidate's metric was requested; if that is the canonical one, the "
            "baseline's.",
        }
        | _JUDGE
        | _NEWEST_OF_BOTH,
    ),
    View(
        "items",
        "One row per item of a run: filter on run, and on group_key where one group is enough.",
        _RUN
        | _DATASET
        | _GROUP
        | {
            "rank": "Place of the item in its list, from 1.",
            "item_key": "Id of the item.",
            "score": "The number that the run gave the item.",
        },
    ),
    View(
        "labels",
        "One row per label of a label set version.",
        _DATASET
        | _VERSION
        | _GROUP
        | {"item_key": "Id of the judged item.", "grade": "Value of the label."}
        | _JUDGE
        | {
            "is_newest_labels": "Whether this is the latest version of the unnamed judge; on SQLite 1 and 0.",
        },
    ),
    View(
        "label_coverage",
        "One row per run, label set version and cutoff of the run's metrics: how much of the run has a label.",
        {"run": _RUN["run"]}
        | _DATASET
        | _VERSION
        | {
            "cutoff": "How many items from the top of each list; NULL for the whole list.",
            "judged_share": "Share of these items that have a label, from 0 to 1.",
        }
        | _JUDGE
        | {
            "run_id": _RUN["run_id"],
            "is_newest_labels": "Whether these are the latest labels of the unnamed judge that the run was evaluated "
            "with at this cutoff; on SQLite 1 and 0.",
        }
        | _CREATED
        | _TIMESTAMP,
    ),
    View(
        "run_details",
        "One row per run: where it came from and how large it is.",
        _RUN
        | _DATASET
        | _CREATED
        | {
            "git_commit": "Commit of the code that created the run; NULL where it is not known.",
            "source": "Where the run came from, such as a file name.",
            "n_groups": "For how many groups the run ranks items.",
            "n_items": "How many items the run ranks, over all groups.",
        }
        | _TIMESTAMP
        | {"pruned_at_utc": "When its items were deleted, or it was stored without some; NULL where it has them all."}
        | _SAMPLED
        | {
            "collapsed": "How chunks became documents: max, first or sum; NULL where nothing was collapsed.",
            "documents_in_ten": "Mean of the documents among a group's first ten chunks; NULL without chunks.",
            "tie_order": "input if its order breaks ties in scores; NULL where item ids do, descending.",
        },
    ),
    View("run_parameters", "One row per parameter of a run.", _RUN | _DATASET | _fact("parameter")),
    View("run_tags", "One row per tag of a run; tags may change.", _RUN | _DATASET | _fact("tag")),
    View(
        "run_aliases",
        "One row per alias of a dataset, such as baseline.",
        _DATASET
        | {"alias": "Name of the alias, without the @ that references put before it."}
        | _RUN
        | {
            "updated_at_utc": "When the alias was last pointed at a run.",
            "updated_at": "The same as updated_at_utc; on Postgres a timestamp.",
        },
    ),
    View(
        "group_attributes",
        "One row per group and attribute, for slices; a group without the attribute has none.",
        _DATASET
        | _GROUP
        | {
            "attribute": "Name of the attribute.",
            "value": "The attribute's text; NULL where it is a number.",
            "number": "The attribute's number; NULL where it is text.",
        },
    ),
    View(
        "gate_decisions",
        "One row per decision of a gate, and who overrode it with which reason.",
        {"decision_id": "Number of the decision; later ones have higher numbers."}
        | _DATASET
        | {
            "created_at_utc": "When the decision was made, ISO 8601 in UTC.",
            "baseline": "Name of the baseline at that time.",
            "candidate": "Name of the candidate at that time.",
            "baseline_alias": "Alias by which the baseline was given; NULL where it was another reference.",
        }
        | _METRIC
        | _VERSION
        | {
            "scope": "What the decision is about: population or set.",
            "margin": "Loss that the gate allowed; NULL where the scope needs none.",
            "delta": "Candidate minus baseline; NULL where undefined.",
            "ci_low": "Lower end of the confidence interval of delta.",
            "ci_high": "Upper end of the confidence interval of delta.",
            "alpha": "Error probability that the interval allows.",
            "decision": "pass, fail or inconclusive.",
            "reason": "Why, in one sentence.",
            "acknowledged_reason": "Why someone overrode the decision; NULL where nobody did.",
            "acknowledged_by": "Who overrode the decision; NULL where nobody did.",
        }
        | _TIMESTAMP
        | {
            "decision_number": "Number of the decision in its series, from 1 without gaps: of this dataset, metric, "
            "baseline_alias, scope, judge and checked_by.",
        }
        | _OPEN
        | {"checked_by": "Who graded the sample that checks the judge; NULL where nobody did."}
        | {
            "budget": "Chance of any false PASS, or FAIL, that its looks share; NULL without a budget.",
            "looks": "How many looks share the budget; NULL for any number, or without a budget.",
            "look": "Number of this look under its budget, from 1; NULL without a budget.",
        },
    ),
    View(
        "gate_resets",
        "One row per restart of a budget: a reset, or a move of its alias; earlier looks no longer count.",
        _DATASET
        | {
            "baseline": "Name of the baseline at that time.",
            "reason": "Why they no longer count.",
            "reset_by": "Who restarted the budget.",
            "created_at_utc": "When the budget was restarted, ISO 8601 in UTC.",
        },
    ),
    View(
        "drawn_labels",
        "One row per item that a design drew, or that people graded without its being drawn, with their grade.",
        _DATASET
        | {"design": "Number of the design in its dataset."}
        | {"judge": "Judge that the design checks.", "label_set_version": "Version of the judge's labels."}
        | {
            "metric": "Metric for which it was drawn.",
            "checked_by": "Who grades the items; NULL before the first grade.",
        }
        | _GROUP
        | {
            "item_key": "Id of the item.",
            "probability": "Probability with which it was drawn; NULL for an item that was not drawn.",
            "grade": "Grade that people gave; NULL before they did.",
            "answered_at_utc": "When the grade was stored, ISO 8601 in UTC; NULL before that.",
        },
    ),
    View(
        "suite_gate_decisions",
        "One row per decision of a gate on a suite, and who overrode it with which reason.",
        {
            "decision_id": "Number of the decision on suites; later ones have higher numbers.",
            "suite": "Name of the suite at that time.",
            "created_at_utc": "When the decision was made, ISO 8601 in UTC.",
            "baseline": "System to be replaced: the name of its runs, or the value of a tag.",
            "candidate": "System to replace it.",
            "by_tag": "Tag whose value is the system; NULL where it is the name of its runs.",
        }
        | _METRIC
        | {
            "margin": "Loss of the macro mean that the gate allowed.",
            "dataset_margin": "Loss of each dataset that the gate allowed; NULL where there was no such margin.",
            "delta": "Candidate minus baseline, the macro mean; NULL where undefined.",
            "ci_low": "Lower bound of delta that decided.",
            "ci_high": "Upper bound of delta that decided.",
            "alpha": "Error probability that FAIL allows.",
            "decision": "pass, fail or inconclusive.",
            "reason": "Why, in one sentence.",
            "acknowledged_reason": "Why someone overrode the decision; NULL where nobody did.",
            "acknowledged_by": "Who overrode the decision; NULL where nobody did.",
        }
        | _TIMESTAMP
        | {
            "decision_number": "Number of the decision in its series, from 1 without gaps: of this suite, metric, "
            "baseline and judge.",
        }
        | _OPEN,
    ),
    View(
        "run_regressions",
        "One row per run, the run it is compared with, metric, label set version and group with a result in both. It "
        "is compared with the run before it, and with every alias.",
        _DATASET
        | _RUN
        | _CREATED
        | {
            "against": "previous for the run before it, by time, under this metric and these labels; or an alias, "
            "with its @.",
            "baseline": "Name of the run that it is compared with.",
            "baseline_run_id": "Number of that run.",
        }
        | _METRIC
        | _VERSION
        | _JUDGE
        | _GROUP
        | {
            "baseline_value": "The metric's value for the group in the baseline.",
            "value": "The metric's value for the group in the run.",
            "delta": "value - baseline_value; NULL where either is undefined.",
        }
        | _TIMESTAMP
        | {
            "is_newest_labels": "Whether these are the labels of the unnamed judge that count: the latest under which "
            "both runs have the metric; with previous, the latest of those under which the run before it is the "
            "latest. True for one row of several that differ only in labels; on SQLite 1 and 0.",
        },
    ),
    View(
        "alias_history",
        "One row per run that an alias has pointed to, since revision 0007.",
        _DATASET
        | {
            "alias": "Name of the alias, without the @.",
            "run": "Name of the run at that time.",
            "run_id": "Number of the run; NULL once it is deleted.",
            "since_utc": "When the alias was pointed at it, ISO 8601 in UTC.",
            "until_utc": "When it was pointed at another run or deleted; NULL where it was not.",
            "since": "The same as since_utc; on Postgres a timestamp.",
            "until": "The same as until_utc; on Postgres a timestamp.",
        },
    ),
    View(
        "dataset_list",
        "One row per dataset, for the filters of dashboards.",
        _DATASET
        | {
            "n_runs": "How many runs it has.",
            "n_groups": "How many groups it has.",
            "label_set_version": "Latest version of the labels of the unnamed judge; NULL where there are none.",
        },
    ),
    View(
        "group_list",
        "One row per group of a dataset, with its weight, whether or not it has labels or results.",
        _DATASET | _GROUP | _WEIGHT,
    ),
    View(
        "run_list",
        "One row per run, for the filters of dashboards.",
        _DATASET
        | _RUN
        | {
            "place": "1 for the latest run of the dataset, 2 for the run before it, and so on.",
            "aliases": "The aliases of the run, each with its @, with spaces between them; NULL where it has none.",
        }
        | _CREATED
        | _TIMESTAMP,
    ),
    View(
        "metric_list",
        "One row per dataset and metric, for the filters of dashboards.",
        _DATASET | _METRIC | _REQUESTED | {"n_runs": "How many runs have the metric, under any labels."},
    ),
)
