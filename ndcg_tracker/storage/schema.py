"""The tables of the database as SQLAlchemy describes them, for queries; migrations alone create them.

Every table's comment is a sentence "One row per ...", and every column has a comment: the schema page is generated from
them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)
from sqlalchemy.sql.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from ndcg_tracker.storage.column_types import BYTES, COUNT, IDENTIFIER, KEY_LIST, NUMBER_LIST, REAL, TEXT, JsonText

VERSION_TABLE = "ndcg_tracker_version"
"""Alembic's table of the present revision; our own name, so that it differs from other programs'."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _table(name: str, comment: str, *columns: SchemaItem, **options: Any) -> Table:
    """Return a table, whose comment says what a row is."""
    return Table(name, metadata, *columns, comment=comment, **options)


def _maybe(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]], comment: str, **options: Any) -> Column[Any]:
    """Return a column that may be NULL."""
    return Column(name, kind, comment=comment, **options)


def _given(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]], comment: str, **options: Any) -> Column[Any]:
    """Return a column that is never NULL."""
    return Column(name, kind, nullable=False, comment=comment, **options)


def _number(comment: str) -> Column[Any]:
    """Return the number that the database gives each row."""
    return Column("id", IDENTIFIER, Identity(), primary_key=True, comment=comment)


def _refers(name: str, table: str, comment: str, *, nullable: bool = False, **options: Any) -> Column[Any]:
    """Return a column with the number of a row of another table."""
    return Column(name, IDENTIFIER, ForeignKey(f"{table}.id"), nullable=nullable, comment=comment, **options)


def _decided(*between: SchemaItem) -> tuple[SchemaItem, ...]:
    """Return the columns of every decision of a gate: its verdict and who overrode it, and what was left open."""
    return (
        _given("decision", TEXT, "pass, fail or inconclusive."),
        _given("reason", TEXT, "Why, in one sentence."),
        _maybe("acknowledged_reason", TEXT, "Why someone overrode the decision; NULL where nobody did."),
        _maybe("acknowledged_by", TEXT, "Who overrode the decision; NULL where nobody did."),
        _given("created_at_utc", TEXT, "When the decision was made, ISO 8601 in UTC."),
        *between,
        _maybe("unjudged", TEXT, "What an unjudged item was worth: range, zero or bounds; NULL of older decisions."),
        _maybe("delta_low", REAL, "Least delta that unjudged items left open; NULL where that is not known."),
        _maybe("delta_high", REAL, "Greatest delta that unjudged items left open; NULL where that is not known."),
        CheckConstraint("decision IN ('pass', 'fail', 'inconclusive')", name="decision"),
    )


datasets = _table(
    "datasets",
    "One row per dataset: a named set of groups with their labels.",
    _number("Number of the dataset."),
    _given("name", TEXT, "Name of the dataset, unique."),
    _given("created_at_utc", TEXT, "When the dataset was first written to, ISO 8601 in UTC."),
    _maybe("word", TEXT, "What a group is: query, user or session; NULL, said as query, where no file said."),
    UniqueConstraint("name"),
)

groups = _table(
    "groups",
    "One row per group of a dataset: a query, user, session or playlist.",
    _given("id", IDENTIFIER, "Number of the group, in all datasets.", primary_key=True, autoincrement=False),
    _refers("dataset_id", "datasets", "Dataset of the group."),
    _given("key", TEXT, "The group's own id, as the files have it; unique in its dataset."),
    _maybe("weight", REAL, "Weight of the group in weighted means; NULL where none was given."),
    _maybe("attributes", JsonText, "JSON object of the group's attributes, for slices; NULL where none."),
    UniqueConstraint("dataset_id", "key"),
    CheckConstraint("weight >= 0 AND weight <= 1.7e308", name="weight_finite"),
)
Index(None, groups.c.key)

label_sets = _table(
    "label_sets",
    "One row per version of a dataset's labels; a version never changes.",
    _number("Number of the label set."),
    _refers("dataset_id", "datasets", "Dataset of the labels."),
    _given("version", COUNT, "1 for the dataset's first labels, 2 for the next, and so on."),
    _given("digest", TEXT, "Digest of all (group, item, grade), independent of their order."),
    _given("n_groups", COUNT, "How many groups have labels."),
    _given("n_labels", COUNT, "How many labels there are."),
    _maybe("source", TEXT, "Where the labels came from, such as a file name."),
    _given("created_at_utc", TEXT, "When the labels were stored, ISO 8601 in UTC."),
    _maybe(
        "by_row_number",
        Boolean,
        "Whether items are known by row numbers, for want of ids; NULL where older programs did not say.",
    ),
    _given(
        "judge",
        TEXT,
        "Who gave the labels: a person, a pool, a model; empty for the judge that counts unless another is named.",
        server_default="",
    ),
    _maybe("extends", IDENTIFIER, "Version whose labels it has, and further ones; NULL where it has none of another."),
    _maybe("added_by", TEXT, "Who gave the labels that it adds; NULL where that is the judge."),
    _maybe("from_runs", JsonText, "JSON object: names of the runs whose logs gave the labels; NULL where not said."),
    _maybe("same_items", JsonText, "JSON object: which ids are one item; NULL where each is its own."),
    UniqueConstraint("dataset_id", "version"),
    CheckConstraint("version >= 1", name="version_from_1"),
    CheckConstraint("n_groups >= 0 AND n_labels >= 0", name="counts"),
)

label_lists = _table(
    "label_lists",
    "One row per group of a label set: all its judged items and their grades.",
    _given("label_set_id", IDENTIFIER, "Label set of the list."),
    _given("group_id", IDENTIFIER, "Group of the list."),
    _given("item_keys", KEY_LIST, "The judged items: an array, on SQLite as JSON text."),
    _given("grades", NUMBER_LIST, "The grade of each judged item, in the same order."),
    PrimaryKeyConstraint("label_set_id", "group_id"),
)

label_reasons = _table(
    "label_reasons",
    "One row per label with a reason, or whose judge gave several; versions that extend it have it too.",
    _refers("label_set_id", "label_sets", "Label set that brought the label."),
    _refers("group_id", "groups", "Group of the label."),
    _given("item_key", TEXT, "The judged item."),
    _maybe("reason", TEXT, "Why the judge gave it; NULL where not said."),
    _given("n_given", COUNT, "How many labels the judge gave, whose mean is the grade."),
    _given("std_dev", REAL, "Standard deviation of these labels; 0 for one."),
    PrimaryKeyConstraint("label_set_id", "group_id", "item_key"),
    CheckConstraint("n_given >= 1", name="given"),
    CheckConstraint("std_dev >= 0 AND std_dev <= 1.7e308", name="std_dev"),
)

runs = _table(
    "runs",
    "One row per run: one system's ranked items for the groups of a dataset.",
    _number("Number of the run, never used twice."),
    _refers("dataset_id", "datasets", "Dataset of the run."),
    _given("name", TEXT, "Name of the run, unique in its dataset."),
    _given("digest", TEXT, "Digest of all (group, item, score), independent of their order."),
    _given("created_at_utc", TEXT, "When the run was made or stored, ISO 8601 in UTC; orders runs."),
    _maybe("source", TEXT, "Where the run came from, such as a file name."),
    _maybe("git_commit", TEXT, "Commit of the code that made the run."),
    _given("parameters", JsonText, "JSON object of the parameters given with the run."),
    _given("tags", JsonText, "JSON object of the tags of the run; tags may change."),
    _given("n_groups", COUNT, "How many groups the run ranks items for."),
    _given("n_items", COUNT, "How many items the run ranks, over all groups."),
    _given("dataset", TEXT, "Name of the dataset, as datasets has it.", server_default=""),
    _maybe("sampled", TEXT, "Sampled negatives that its items are among, as 100/50000; NULL where all were ranked."),
    _maybe("sample_digest", TEXT, "Digest of all (group, item) of a sampled run; NULL of others."),
    _maybe("collapsed", TEXT, "How chunks became documents: max, first or sum; NULL where its items are its own."),
    _maybe("documents_in_ten", REAL, "Mean of the documents among a group's first ten chunks; NULL without chunks."),
    _maybe("tie_order", TEXT, "input if its order breaks ties in scores; NULL where item ids do, descending."),
    _maybe("stored_by", TEXT, "Role of Postgres that stored it; NULL in SQLite, and where that is unknown."),
    _maybe("groups_share", TEXT, "Share of the groups that it keeps, chosen by a hash of their ids; NULL for all."),
    UniqueConstraint("dataset_id", "name"),
    CheckConstraint("n_groups >= 0 AND n_items >= 0", name="counts"),
    sqlite_autoincrement=True,
)
Index(None, runs.c.name)
Index(None, runs.c.dataset_id, runs.c.digest)

prunings = _table(
    "prunings",
    "One row per pruned run: its items are gone, its means are kept.",
    _refers("run_id", "runs", "Run without its items.", primary_key=True, autoincrement=False),
    _given("created_at_utc", TEXT, "When it was pruned last, ISO 8601 in UTC."),
    _given("summaries_only", Boolean, "Whether the results of its groups are gone, too."),
    _given("packed_group_ids", BYTES, "The groups it has, int64; see evaluations."),
    _maybe(
        "kept_share",
        REAL,
        "Share of the groups whose items were stored, by a hash of their keys: 0 for none; NULL where all "
        "were, and are gone.",
    ),
)

ranked_lists = _table(
    "ranked_lists",
    "One row per group of a run: all its items and scores in rank order.",
    _given("run_id", IDENTIFIER, "Run of the list."),
    _given("group_id", IDENTIFIER, "Group of the list."),
    _given("item_keys", KEY_LIST, "The items, best first: an array, on SQLite as JSON text."),
    _given("scores", NUMBER_LIST, "The score of each item, in the same order."),
    PrimaryKeyConstraint("run_id", "group_id"),
)

metrics = _table(
    "metrics",
    "One row per metric definition that some run was evaluated under.",
    _number("Number of the metric."),
    _given("text", TEXT, "The metric's canonical text form, unique."),
    UniqueConstraint("text"),
)

evaluations = _table(
    "evaluations",
    "One row per run, label set and metric: the metric's mean and what it rests on.",
    _number("Number of the evaluation."),
    _refers("run_id", "runs", "Run that was evaluated."),
    _refers("label_set_id", "label_sets", "Labels it was held to."),
    _refers("metric_id", "metrics", "Metric that was computed."),
    _maybe("mean", REAL, "The metric over all its groups; NULL where no group has a value."),
    _maybe("worst_mean", REAL, "The mean if all ties in scores fell for the worst; NULL where there is no mean."),
    _maybe("best_mean", REAL, "The mean if all ties in scores fell for the best; NULL where there is no mean."),
    _maybe("std_dev", REAL, "Sample standard deviation of the groups' values; NULL below two values."),
    _given("n_groups", COUNT, "How many groups are in the mean."),
    _given("n_missing", COUNT, "How many groups have labels that the run has no items for."),
    _given("n_undefined", COUNT, "How many groups the metric is undefined for."),
    _given("created_at_utc", TEXT, "When the evaluation was stored, ISO 8601 in UTC."),
    _maybe("requested_as", TEXT, "The text that the metric was asked for by; NULL where that is its canonical one."),
    _given("run", TEXT, "Name of the run, as runs has it."),
    _given("dataset", TEXT, "Name of the dataset of the run."),
    _given("metric", TEXT, "The metric's canonical text form."),
    _given("judge", TEXT, "Who gave the labels, as label_sets has it."),
    _given("run_created_at_utc", TEXT, "When the run was made, as runs has it."),
    _given("dataset_id", IDENTIFIER, "Dataset of the run."),
    _given("label_set_version", COUNT, "Version of the labels."),
    _maybe("packed_group_ids", BYTES, "The groups of packed_values, int64; the first if each is one more."),
    _maybe("packed_values", BYTES, "All group results again, by group id, float64, to be read at once."),
    UniqueConstraint("run_id", "label_set_id", "metric_id"),
    CheckConstraint("n_groups >= 0 AND n_missing >= 0 AND n_undefined >= 0", name="counts"),
    CheckConstraint("abs(mean) <= 1.7e308", name="mean_finite"),
)
Index(None, evaluations.c.run, evaluations.c.metric)

group_results = _table(
    "group_results",
    "One row per group of an evaluation: the metric's value for this group.",
    _given("evaluation_id", IDENTIFIER, "Evaluation of the result."),
    _given("group_id", IDENTIFIER, "Group of the result."),
    _maybe("value", REAL, "The metric's value for the group; NULL where it is undefined."),
    _maybe("dcg", REAL, "Discounted cumulative gain of the group, where the metric has one."),
    _maybe("ideal_dcg", REAL, "The best discounted cumulative gain possible, where the metric has one."),
    _maybe("undefined_reason", TEXT, "Why the value is undefined; NULL where it is defined."),
    PrimaryKeyConstraint("evaluation_id", "group_id"),
    CheckConstraint("(value IS NULL) = (undefined_reason IS NOT NULL)", name="undefined_has_reason"),
    CheckConstraint("abs(value) <= 1.7e308", name="value_finite"),
    sqlite_with_rowid=False,
)

paired_sums = _table(
    "paired_sums",
    "One row per evaluation of a run stored as sums and its baseline: the sums of the groups' differences.",
    _refers("evaluation_id", "evaluations", "Evaluation of the candidate."),
    _refers("baseline_run_id", "runs", "Run it was compared with."),
    _given("n_groups", COUNT, "How many groups have a value in both runs."),
    _given("baseline_mean", REAL, "Mean of the baseline over these groups; 0 without any."),
    _given("delta", REAL, "Mean of candidate minus baseline over them; 0 without any."),
    _given("m2", REAL, "Sum of the squared distances of the differences from delta."),
    _given("m3", REAL, "Sum of the cubes of these distances."),
    _given("wins", COUNT, "How many groups have a greater value in the candidate."),
    _given("losses", COUNT, "How many groups have a smaller value in the candidate."),
    _given("only_in_baseline", COUNT, "How many groups have a value in the baseline only."),
    _given("only_in_candidate", COUNT, "How many groups have a value in the candidate only."),
    _given("n_undefined", COUNT, "How many groups have a value in neither."),
    _given("details", JsonText, "JSON object of the same sums by slice, and of clusters."),
    _given("created_at_utc", TEXT, "When they were stored, ISO 8601 in UTC."),
    PrimaryKeyConstraint("evaluation_id", "baseline_run_id"),
    CheckConstraint("n_groups >= 0 AND wins >= 0 AND losses >= 0 AND wins + losses <= n_groups", name="counts"),
    CheckConstraint("m2 >= 0 AND m2 <= 1.7e308 AND abs(delta) <= 1.7e308", name="finite"),
)
Index(None, paired_sums.c.baseline_run_id)

coverages = _table(
    "coverages",
    "One row per run, label set and cutoff: how much of what the run ranks has a label.",
    _refers("run_id", "runs", "Run."),
    _refers("label_set_id", "label_sets", "Labels."),
    _given("cutoff", COUNT, "How many items from the top of each list; 0 for the whole list."),
    _given("judged_share", REAL, "Which share of those items has a label, from 0 to 1."),
    PrimaryKeyConstraint("run_id", "label_set_id", "cutoff"),
    CheckConstraint("cutoff >= 0", name="cutoff"),
    CheckConstraint("judged_share >= 0 AND judged_share <= 1", name="judged_share"),
)

aliases = _table(
    "aliases",
    "One row per alias of a dataset: a name such as baseline that may move from run to run.",
    _refers("dataset_id", "datasets", "Dataset of the alias."),
    _given("name", TEXT, "Name of the alias, without the @ that references put before it."),
    _refers("run_id", "runs", "Run that the alias stands for."),
    _given("created_at_utc", TEXT, "When the alias was made, ISO 8601 in UTC."),
    _given("updated_at_utc", TEXT, "When the alias was last pointed at a run."),
    PrimaryKeyConstraint("dataset_id", "name"),
)

alias_moves = _table(
    "alias_moves",
    "One row per move of an alias: the run that it was pointed at, or that it was deleted.",
    _number("Number of the move."),
    _refers("dataset_id", "datasets", "Dataset of the alias."),
    _given("alias", TEXT, "Name of the alias, without the @."),
    _refers("run_id", "runs", "Run it was pointed at; NULL once that run or the alias is deleted.", nullable=True),
    _maybe("run", TEXT, "Name of the run at that time; NULL where the alias was deleted."),
    _given("created_at_utc", TEXT, "When the alias was moved, ISO 8601 in UTC."),
)

decisions = _table(
    "decisions",
    "One row per decision of a gate, and who overrode it with which reason.",
    _number("Number of the decision."),
    _refers("dataset_id", "datasets", "Dataset of both runs."),
    _refers("baseline_run_id", "runs", "Baseline; NULL of several runs, and once it is deleted.", nullable=True),
    _refers("candidate_run_id", "runs", "Candidate; NULL of several runs, and once it is deleted.", nullable=True),
    _given("baseline_run", TEXT, "Name of the baseline at that time."),
    _given("candidate_run", TEXT, "Name of the candidate at that time."),
    _maybe("baseline_alias", TEXT, "Alias that the baseline was given by; NULL where by another reference."),
    _given("metric", TEXT, "The metric's canonical text form."),
    _refers("label_set_id", "label_sets", "Labels of both runs."),
    _given("scope", TEXT, "What the decision speaks about, such as the population of groups."),
    _maybe("margin", REAL, "Loss that was allowed; NULL where the scope needs none."),
    _maybe("delta", REAL, "Candidate minus baseline; NULL where undefined."),
    _maybe("ci_low", REAL, "Lower end of the confidence interval of delta."),
    _maybe("ci_high", REAL, "Upper end of the confidence interval of delta."),
    _maybe("alpha", REAL, "Error probability that the interval allows."),
    *_decided(
        _maybe(
            "repeats",
            JsonText,
            "JSON object: ids of the runs of baseline and candidate where one has several; NULL of two runs.",
        ),
    ),
    _maybe("checked_by", TEXT, "Who answered the sample that checks the judge; NULL where nobody did."),
    _maybe("budget", REAL, "Chance of any false PASS, or FAIL, that its looks share; NULL without a budget."),
    _maybe("looks", COUNT, "How many looks share the budget; NULL where there is no end, or no budget."),
    _maybe("look", COUNT, "Which look it is at the baseline's lists, from 1; NULL without a budget."),
    _maybe("baseline_lists", JsonText, "JSON object that knows the baseline's lists; NULL without a budget."),
    _maybe("question", TEXT, "Digest of the question: runs, labels and rules; NULL of older decisions."),
    sqlite_autoincrement=True,
)

policies = _table(
    "policies",
    "One row per time that somebody set the rules of the gates against an alias; the latest is in force.",
    _number("Number of the policy."),
    _refers("dataset_id", "datasets", "Dataset of the alias."),
    _given("alias", TEXT, "Name of the alias, without the @."),
    _given("rules", JsonText, "JSON object: the rules of a gate, by option."),
    _given("set_by", TEXT, "Who set them."),
    _given("set_at_utc", TEXT, "When that was, ISO 8601 in UTC."),
    sqlite_autoincrement=True,
)

budget_resets = _table(
    "budget_resets",
    "One row per time that somebody began a budget anew: looks at an alias that no longer count.",
    _number("Number of the reset."),
    _refers("dataset_id", "datasets", "Dataset of the baseline."),
    _given("baseline_run", TEXT, "Name of the baseline at that time."),
    _given(
        "baseline_lists", JsonText, "JSON object that knows the baseline's lists; {} since budgets belong to aliases."
    ),
    _given("reason", TEXT, "Why they no longer count."),
    _given("reset_by", TEXT, "Who said so."),
    _given("after_decision_id", IDENTIFIER, "Last decision that no longer counts."),
    _given("created_at_utc", TEXT, "When that was, ISO 8601 in UTC."),
    _maybe("alias", TEXT, "Alias of the budget; NULL of older resets."),
    sqlite_autoincrement=True,
)

seals = _table(
    "seals",
    "One row per open part of a split dataset, or the one row of a sealed database.",
    _refers("dataset_id", "datasets", "Dataset.", primary_key=True),
    _given("is_sealed", Boolean, "Whether only gates read it; else it is an open part."),
    _maybe("budget", REAL, "Chance of any false PASS over all looks; NULL of an open part."),
    _maybe("looks", COUNT, "How many looks share the budget; NULL where there is no end."),
    _maybe("split", JsonText, "JSON object: other part, share, cluster, key; NULL where nothing was split."),
    _given("created_at_utc", TEXT, "When it was sealed or split, ISO 8601 in UTC."),
    _maybe("metric", TEXT, "The metric of all its gates; NULL of an open part, and before a move."),
    _maybe("margin", REAL, "The drop that all its gates allow; NULL where metric is."),
    _maybe("baseline_run", TEXT, "Name of the baseline of all its gates; NULL where each gate names one."),
)

texts = _table(
    "texts",
    "One row per text: of a group, of an item in every group, or of an item in one group.",
    _refers("dataset_id", "datasets", "Dataset of the text."),
    _given("group_id", IDENTIFIER, "Group of the text; 0 for an item in every group."),
    _given("item_key", TEXT, "Item of the text; empty for the group itself."),
    _maybe("text", TEXT, "Text of the query, or of the item; NULL where none was given."),
    _maybe("title", TEXT, "Title; NULL where none was given."),
    _maybe("url", TEXT, "Where to find it, as it was given; NULL where nothing was given."),
    PrimaryKeyConstraint("dataset_id", "group_id", "item_key"),
    CheckConstraint("group_id > 0 OR item_key <> ''", name="of_something"),
)

suite_datasets = _table(
    "suite_datasets",
    "One row per dataset of a suite: named datasets that are looked at together.",
    _given("suite", TEXT, "Name of the suite."),
    _refers("dataset_id", "datasets", "Dataset that belongs to it."),
    _given("place", IDENTIFIER, "Place of the dataset in the suite, from 0."),
    _given("created_at_utc", TEXT, "When the suite was made, ISO 8601 in UTC."),
    PrimaryKeyConstraint("suite", "dataset_id"),
)

suite_decisions = _table(
    "suite_decisions",
    "One row per decision of a gate on a suite, and who overrode it with which reason.",
    _number("Number of the decision."),
    _given("suite", TEXT, "Name of the suite at that time."),
    _given("baseline", TEXT, "System to be replaced: the name of its runs, or a tag."),
    _given("candidate", TEXT, "System to replace it."),
    _maybe("by_tag", TEXT, "Tag whose value is the system; NULL where it is the name of its runs."),
    _given(
        "runs", JsonText, "JSON object by dataset: version of the labels, ids of the runs of baseline and candidate."
    ),
    _given("metric", TEXT, "The metric's canonical text form."),
    _given("margin", REAL, "Loss that the macro mean was allowed."),
    _maybe("dataset_margin", REAL, "Loss that each dataset was allowed; NULL where nobody asked."),
    _maybe("delta", REAL, "Candidate minus baseline, the macro mean; NULL where undefined."),
    _maybe("ci_low", REAL, "Lower bound of delta that decided."),
    _maybe("ci_high", REAL, "Upper bound of delta that decided."),
    _maybe("alpha", REAL, "Error probability that FAIL allows."),
    *_decided(),
    _given(
        "judge",
        TEXT,
        "Who gave the labels; empty for the judge that counts unless another is named.",
        server_default="",
    ),
    _maybe("question", TEXT, "Digest of the question: runs, labels and rules; NULL of older decisions."),
    sqlite_autoincrement=True,
)

designs = _table(
    "designs",
    "One row per design: a sample of items, drawn to check a judge on the differences of runs.",
    _number("Number of the design, in all datasets."),
    _refers("dataset_id", "datasets", "Dataset of the items."),
    _given("number", COUNT, "1 for the dataset's first design, 2 for the next, and so on."),
    _refers("label_set_id", "label_sets", "Labels of the judge that is to be checked; their ideal is frozen."),
    _maybe("checked_by", TEXT, "Who graded the drawn items; NULL before the first answer."),
    _given("metric", TEXT, "The metric's canonical text form."),
    _given("n_looks", COUNT, "How many looks are planned; they share the level of a verdict."),
    _given("look", COUNT, "The look that is drawn now, from 1."),
    _given("planned_budget", COUNT, "How many items all looks are to draw, on average."),
    _given("budget", COUNT, "How many items were to be drawn up to this look, on average."),
    _given("seed", TEXT, "Key of the hash that gives each item its random number for good."),
    _given("not_tuned", Boolean, "Whether what is newer was said not to depend on answers."),
    _maybe("greatest_grade", REAL, "Greatest grade that people may give; NULL where it is the judge's."),
    _given("created_at_utc", TEXT, "When it was drawn first, ISO 8601 in UTC."),
    _maybe("answered_after_run_id", IDENTIFIER, "Newest run before the first answer; NULL without an answer."),
    _maybe(
        "answered_after_label_set_id", IDENTIFIER, "Newest label set before the first answer; NULL without an answer."
    ),
    _given(
        "kind",
        TEXT,
        "What it is for: judge or holes, of whole queries; items: single items, drawn by an older version.",
        server_default="items",
    ),
    UniqueConstraint("dataset_id", "number"),
    CheckConstraint("number >= 1 AND budget >= 1 AND planned_budget >= budget", name="counts"),
    CheckConstraint("look >= 1 AND look <= n_looks", name="looks"),
    CheckConstraint("abs(greatest_grade) <= 1.7e308", name="greatest_grade_finite"),
    sqlite_autoincrement=True,
)

design_runs = _table(
    "design_runs",
    "One row per run of a design: the baseline, and each candidate.",
    _refers("design_id", "designs", "Design of the run."),
    _given("place", COUNT, "0 for the baseline, 1 for the first candidate, and so on."),
    _refers("run_id", "runs", "The run; NULL once it is deleted.", nullable=True),
    _given("run", TEXT, "Name of the run at that time."),
    PrimaryKeyConstraint("design_id", "place"),
    CheckConstraint("place >= 0", name="place_from_0"),
)

drawn_items = _table(
    "drawn_items",
    "One row per item that a design drew or that is kept apart, with the grade that people gave it.",
    _refers("design_id", "designs", "Design that drew the item."),
    _refers("group_id", "groups", "Group of the item."),
    _given("item_key", TEXT, "The item."),
    _maybe(
        "probability",
        REAL,
        "With which probability it was drawn; NULL of an item that was not drawn, whose grade is kept apart.",
    ),
    _maybe("grade", REAL, "What people graded it; NULL before they did."),
    _maybe("answered_at_utc", TEXT, "When the grade was stored, ISO 8601 in UTC; NULL before that."),
    _maybe(
        "answered_after_run_id",
        IDENTIFIER,
        "Newest run before the grade was stored; NULL before that, and of older answers.",
    ),
    PrimaryKeyConstraint("design_id", "group_id", "item_key"),
    CheckConstraint("probability > 0 AND probability <= 1", name="probability"),
    CheckConstraint("abs(grade) <= 1.7e308", name="grade_finite"),
    CheckConstraint("(grade IS NULL) = (answered_at_utc IS NULL)", name="answered"),
    CheckConstraint("probability IS NOT NULL OR grade IS NOT NULL", name="kept_apart"),
)
