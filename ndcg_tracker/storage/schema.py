"""The tables of the database as SQLAlchemy describes them, for queries; migrations alone create them.

Every table's comment is a sentence "One row per ...", and every column has a comment: the schema page is generated from
them.
"""

from __future__ import annotations

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

datasets = Table(
    "datasets",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the dataset."),
    Column("name", TEXT, nullable=False, comment="Name of the dataset, unique."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the dataset was first written to, ISO 8601 in UTC."),
    Column("word", TEXT, comment="What a group is: query, user or session; NULL, said as query, where no file said."),
    UniqueConstraint("name"),
    comment="One row per dataset: a named set of groups with their labels.",
)

groups = Table(
    "groups",
    metadata,
    Column("id", IDENTIFIER, primary_key=True, autoincrement=False, comment="Number of the group, in all datasets."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the group."),
    Column("key", TEXT, nullable=False, comment="The group's own id, as the files have it; unique in its dataset."),
    Column("weight", REAL, comment="Weight of the group in weighted means; NULL where none was given."),
    Column("attributes", JsonText, comment="JSON object of the group's attributes, for slices; NULL where none."),
    UniqueConstraint("dataset_id", "key"),
    CheckConstraint("weight >= 0 AND weight <= 1.7e308", name="weight_finite"),
    comment="One row per group of a dataset: a query, user, session or playlist.",
)
Index(None, groups.c.key)

label_sets = Table(
    "label_sets",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the label set."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the labels."),
    Column("version", COUNT, nullable=False, comment="1 for the dataset's first labels, 2 for the next, and so on."),
    Column("digest", TEXT, nullable=False, comment="Digest of all (group, item, grade), independent of their order."),
    Column("n_groups", COUNT, nullable=False, comment="How many groups have labels."),
    Column("n_labels", COUNT, nullable=False, comment="How many labels there are."),
    Column("source", TEXT, comment="Where the labels came from, such as a file name."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the labels were stored, ISO 8601 in UTC."),
    Column(
        "by_row_number",
        Boolean,
        comment="Whether items are known by row numbers, for want of ids; NULL where older programs did not say.",
    ),
    Column(
        "judge",
        TEXT,
        nullable=False,
        server_default="",
        comment="Who gave the labels: a person, a pool, a model; empty for the judge that counts unless another is "
        "named.",
    ),
    Column(
        "extends",
        IDENTIFIER,
        comment="Version whose labels it has, and further ones; NULL where it has none of another.",
    ),
    Column("added_by", TEXT, comment="Who gave the labels that it adds; NULL where that is the judge."),
    Column(
        "from_runs",
        JsonText,
        comment="JSON object: names of the runs whose logs gave the labels; NULL where not said.",
    ),
    Column("same_items", JsonText, comment="JSON object: which ids are one item; NULL where each is its own."),
    UniqueConstraint("dataset_id", "version"),
    CheckConstraint("version >= 1", name="version_from_1"),
    CheckConstraint("n_groups >= 0 AND n_labels >= 0", name="counts"),
    comment="One row per version of a dataset's labels; a version never changes.",
)

label_lists = Table(
    "label_lists",
    metadata,
    Column("label_set_id", IDENTIFIER, nullable=False, comment="Label set of the list."),
    Column("group_id", IDENTIFIER, nullable=False, comment="Group of the list."),
    Column("item_keys", KEY_LIST, nullable=False, comment="The judged items: an array, on SQLite as JSON text."),
    Column("grades", NUMBER_LIST, nullable=False, comment="The grade of each judged item, in the same order."),
    PrimaryKeyConstraint("label_set_id", "group_id"),
    comment="One row per group of a label set: all its judged items and their grades.",
)

label_reasons = Table(
    "label_reasons",
    metadata,
    Column(
        "label_set_id",
        IDENTIFIER,
        ForeignKey("label_sets.id"),
        nullable=False,
        comment="Label set that brought the label.",
    ),
    Column("group_id", IDENTIFIER, ForeignKey("groups.id"), nullable=False, comment="Group of the label."),
    Column("item_key", TEXT, nullable=False, comment="The judged item."),
    Column("reason", TEXT, comment="Why the judge gave it; NULL where not said."),
    Column("n_given", COUNT, nullable=False, comment="How many labels the judge gave, whose mean is the grade."),
    Column("std_dev", REAL, nullable=False, comment="Standard deviation of these labels; 0 for one."),
    PrimaryKeyConstraint("label_set_id", "group_id", "item_key"),
    CheckConstraint("n_given >= 1", name="given"),
    CheckConstraint("std_dev >= 0 AND std_dev <= 1.7e308", name="std_dev"),
    comment="One row per label with a reason, or whose judge gave several; versions that extend it have it too.",
)

runs = Table(
    "runs",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the run, never used twice."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the run."),
    Column("name", TEXT, nullable=False, comment="Name of the run, unique in its dataset."),
    Column("digest", TEXT, nullable=False, comment="Digest of all (group, item, score), independent of their order."),
    Column(
        "created_at_utc", TEXT, nullable=False, comment="When the run was made or stored, ISO 8601 in UTC; orders runs."
    ),
    Column("source", TEXT, comment="Where the run came from, such as a file name."),
    Column("git_commit", TEXT, comment="Commit of the code that made the run."),
    Column("parameters", JsonText, nullable=False, comment="JSON object of the parameters given with the run."),
    Column("tags", JsonText, nullable=False, comment="JSON object of the tags of the run; tags may change."),
    Column("n_groups", COUNT, nullable=False, comment="How many groups the run ranks items for."),
    Column("n_items", COUNT, nullable=False, comment="How many items the run ranks, over all groups."),
    Column("dataset", TEXT, nullable=False, server_default="", comment="Name of the dataset, as datasets has it."),
    Column(
        "sampled",
        TEXT,
        comment="Sampled negatives that its items are among, as 100/50000; NULL where all were ranked.",
    ),
    Column("sample_digest", TEXT, comment="Digest of all (group, item) of a sampled run; NULL of others."),
    Column(
        "collapsed",
        TEXT,
        comment="How chunks became documents: max, first or sum; NULL where its items are its own.",
    ),
    Column(
        "documents_in_ten",
        REAL,
        comment="Mean of the documents among a group's first ten chunks; NULL without chunks.",
    ),
    Column("tie_order", TEXT, comment="input if its order breaks ties in scores; NULL where item ids do, descending."),
    Column("stored_by", TEXT, comment="Role of Postgres that stored it; NULL in SQLite, and where that is unknown."),
    Column(
        "groups_share",
        TEXT,
        comment="Share of the groups that it keeps, chosen by a hash of their ids; NULL for all.",
    ),
    UniqueConstraint("dataset_id", "name"),
    CheckConstraint("n_groups >= 0 AND n_items >= 0", name="counts"),
    comment="One row per run: one system's ranked items for the groups of a dataset.",
    sqlite_autoincrement=True,
)
Index(None, runs.c.name)
Index(None, runs.c.dataset_id, runs.c.digest)

prunings = Table(
    "prunings",
    metadata,
    Column(
        "run_id",
        IDENTIFIER,
        ForeignKey("runs.id"),
        primary_key=True,
        autoincrement=False,
        comment="Run without its items.",
    ),
    Column("created_at_utc", TEXT, nullable=False, comment="When it was pruned last, ISO 8601 in UTC."),
    Column("summaries_only", Boolean, nullable=False, comment="Whether the results of its groups are gone, too."),
    Column("packed_group_ids", BYTES, nullable=False, comment="The groups it has, int64; see evaluations."),
    Column(
        "kept_share",
        REAL,
        comment="Share of the groups whose items were stored, by a hash of their keys: 0 for none; NULL where all "
        "were, and are gone.",
    ),
    comment="One row per pruned run: its items are gone, its means are kept.",
)

ranked_lists = Table(
    "ranked_lists",
    metadata,
    Column("run_id", IDENTIFIER, nullable=False, comment="Run of the list."),
    Column("group_id", IDENTIFIER, nullable=False, comment="Group of the list."),
    Column("item_keys", KEY_LIST, nullable=False, comment="The items, best first: an array, on SQLite as JSON text."),
    Column("scores", NUMBER_LIST, nullable=False, comment="The score of each item, in the same order."),
    PrimaryKeyConstraint("run_id", "group_id"),
    comment="One row per group of a run: all its items and scores in rank order.",
)

metrics = Table(
    "metrics",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the metric."),
    Column("text", TEXT, nullable=False, comment="The metric's canonical text form, unique."),
    UniqueConstraint("text"),
    comment="One row per metric definition that some run was evaluated under.",
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the evaluation."),
    Column("run_id", IDENTIFIER, ForeignKey("runs.id"), nullable=False, comment="Run that was evaluated."),
    Column("label_set_id", IDENTIFIER, ForeignKey("label_sets.id"), nullable=False, comment="Labels it was held to."),
    Column("metric_id", IDENTIFIER, ForeignKey("metrics.id"), nullable=False, comment="Metric that was computed."),
    Column("mean", REAL, comment="The metric over all its groups; NULL where no group has a value."),
    Column(
        "worst_mean", REAL, comment="The mean if all ties in scores fell for the worst; NULL where there is no mean."
    ),
    Column("best_mean", REAL, comment="The mean if all ties in scores fell for the best; NULL where there is no mean."),
    Column("std_dev", REAL, comment="Sample standard deviation of the groups' values; NULL below two values."),
    Column("n_groups", COUNT, nullable=False, comment="How many groups are in the mean."),
    Column("n_missing", COUNT, nullable=False, comment="How many groups have labels that the run has no items for."),
    Column("n_undefined", COUNT, nullable=False, comment="How many groups the metric is undefined for."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the evaluation was stored, ISO 8601 in UTC."),
    Column(
        "requested_as", TEXT, comment="The text that the metric was asked for by; NULL where that is its canonical one."
    ),
    Column("run", TEXT, nullable=False, comment="Name of the run, as runs has it."),
    Column("dataset", TEXT, nullable=False, comment="Name of the dataset of the run."),
    Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
    Column("judge", TEXT, nullable=False, comment="Who gave the labels, as label_sets has it."),
    Column("run_created_at_utc", TEXT, nullable=False, comment="When the run was made, as runs has it."),
    Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the run."),
    Column("label_set_version", COUNT, nullable=False, comment="Version of the labels."),
    Column("packed_group_ids", BYTES, comment="The groups of packed_values, int64; the first if each is one more."),
    Column("packed_values", BYTES, comment="All group results again, by group id, float64, to be read at once."),
    UniqueConstraint("run_id", "label_set_id", "metric_id"),
    CheckConstraint("n_groups >= 0 AND n_missing >= 0 AND n_undefined >= 0", name="counts"),
    CheckConstraint("abs(mean) <= 1.7e308", name="mean_finite"),
    comment="One row per run, label set and metric: the metric's mean and what it rests on.",
)
Index(None, evaluations.c.run, evaluations.c.metric)

group_results = Table(
    "group_results",
    metadata,
    Column("evaluation_id", IDENTIFIER, nullable=False, comment="Evaluation of the result."),
    Column("group_id", IDENTIFIER, nullable=False, comment="Group of the result."),
    Column("value", REAL, comment="The metric's value for the group; NULL where it is undefined."),
    Column("dcg", REAL, comment="Discounted cumulative gain of the group, where the metric has one."),
    Column("ideal_dcg", REAL, comment="The best discounted cumulative gain possible, where the metric has one."),
    Column("undefined_reason", TEXT, comment="Why the value is undefined; NULL where it is defined."),
    PrimaryKeyConstraint("evaluation_id", "group_id"),
    CheckConstraint("(value IS NULL) = (undefined_reason IS NOT NULL)", name="undefined_has_reason"),
    CheckConstraint("abs(value) <= 1.7e308", name="value_finite"),
    comment="One row per group of an evaluation: the metric's value for this group.",
    sqlite_with_rowid=False,
)

paired_sums = Table(
    "paired_sums",
    metadata,
    Column(
        "evaluation_id",
        IDENTIFIER,
        ForeignKey("evaluations.id"),
        nullable=False,
        comment="Evaluation of the candidate.",
    ),
    Column("baseline_run_id", IDENTIFIER, ForeignKey("runs.id"), nullable=False, comment="Run it was compared with."),
    Column("n_groups", COUNT, nullable=False, comment="How many groups have a value in both runs."),
    Column("baseline_mean", REAL, nullable=False, comment="Mean of the baseline over these groups; 0 without any."),
    Column("delta", REAL, nullable=False, comment="Mean of candidate minus baseline over them; 0 without any."),
    Column("m2", REAL, nullable=False, comment="Sum of the squared distances of the differences from delta."),
    Column("m3", REAL, nullable=False, comment="Sum of the cubes of these distances."),
    Column("wins", COUNT, nullable=False, comment="How many groups have a greater value in the candidate."),
    Column("losses", COUNT, nullable=False, comment="How many groups have a smaller value in the candidate."),
    Column("only_in_baseline", COUNT, nullable=False, comment="How many groups have a value in the baseline only."),
    Column("only_in_candidate", COUNT, nullable=False, comment="How many groups have a value in the candidate only."),
    Column("n_undefined", COUNT, nullable=False, comment="How many groups have a value in neither."),
    Column("details", JsonText, nullable=False, comment="JSON object of the same sums by slice, and of clusters."),
    Column("created_at_utc", TEXT, nullable=False, comment="When they were stored, ISO 8601 in UTC."),
    PrimaryKeyConstraint("evaluation_id", "baseline_run_id"),
    CheckConstraint("n_groups >= 0 AND wins >= 0 AND losses >= 0 AND wins + losses <= n_groups", name="counts"),
    CheckConstraint("m2 >= 0 AND m2 <= 1.7e308 AND abs(delta) <= 1.7e308", name="finite"),
    comment="One row per evaluation of a run stored as sums and its baseline: the sums of the groups' differences.",
)
Index(None, paired_sums.c.baseline_run_id)

coverages = Table(
    "coverages",
    metadata,
    Column("run_id", IDENTIFIER, ForeignKey("runs.id"), nullable=False, comment="Run."),
    Column("label_set_id", IDENTIFIER, ForeignKey("label_sets.id"), nullable=False, comment="Labels."),
    Column("cutoff", COUNT, nullable=False, comment="How many items from the top of each list; 0 for the whole list."),
    Column("judged_share", REAL, nullable=False, comment="Which share of those items has a label, from 0 to 1."),
    PrimaryKeyConstraint("run_id", "label_set_id", "cutoff"),
    CheckConstraint("cutoff >= 0", name="cutoff"),
    CheckConstraint("judged_share >= 0 AND judged_share <= 1", name="judged_share"),
    comment="One row per run, label set and cutoff: how much of what the run ranks has a label.",
)

aliases = Table(
    "aliases",
    metadata,
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the alias."),
    Column("name", TEXT, nullable=False, comment="Name of the alias, without the @ that references put before it."),
    Column("run_id", IDENTIFIER, ForeignKey("runs.id"), nullable=False, comment="Run that the alias stands for."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the alias was made, ISO 8601 in UTC."),
    Column("updated_at_utc", TEXT, nullable=False, comment="When the alias was last pointed at a run."),
    PrimaryKeyConstraint("dataset_id", "name"),
    comment="One row per alias of a dataset: a name such as baseline that may move from run to run.",
)

alias_moves = Table(
    "alias_moves",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the move."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the alias."),
    Column("alias", TEXT, nullable=False, comment="Name of the alias, without the @."),
    Column(
        "run_id",
        IDENTIFIER,
        ForeignKey("runs.id"),
        comment="Run it was pointed at; NULL once that run or the alias is deleted.",
    ),
    Column("run", TEXT, comment="Name of the run at that time; NULL where the alias was deleted."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the alias was moved, ISO 8601 in UTC."),
    comment="One row per move of an alias: the run that it was pointed at, or that it was deleted.",
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the decision."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of both runs."),
    Column(
        "baseline_run_id",
        IDENTIFIER,
        ForeignKey("runs.id"),
        comment="Baseline; NULL of several runs, and once it is deleted.",
    ),
    Column(
        "candidate_run_id",
        IDENTIFIER,
        ForeignKey("runs.id"),
        comment="Candidate; NULL of several runs, and once it is deleted.",
    ),
    Column("baseline_run", TEXT, nullable=False, comment="Name of the baseline at that time."),
    Column("candidate_run", TEXT, nullable=False, comment="Name of the candidate at that time."),
    Column("baseline_alias", TEXT, comment="Alias that the baseline was given by; NULL where by another reference."),
    Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
    Column("label_set_id", IDENTIFIER, ForeignKey("label_sets.id"), nullable=False, comment="Labels of both runs."),
    Column("scope", TEXT, nullable=False, comment="What the decision speaks about, such as the population of groups."),
    Column("margin", REAL, comment="Loss that was allowed; NULL where the scope needs none."),
    Column("delta", REAL, comment="Candidate minus baseline; NULL where undefined."),
    Column("ci_low", REAL, comment="Lower end of the confidence interval of delta."),
    Column("ci_high", REAL, comment="Upper end of the confidence interval of delta."),
    Column("alpha", REAL, comment="Error probability that the interval allows."),
    Column("decision", TEXT, nullable=False, comment="pass, fail or inconclusive."),
    Column("reason", TEXT, nullable=False, comment="Why, in one sentence."),
    Column("acknowledged_reason", TEXT, comment="Why someone overrode the decision; NULL where nobody did."),
    Column("acknowledged_by", TEXT, comment="Who overrode the decision; NULL where nobody did."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the decision was made, ISO 8601 in UTC."),
    Column(
        "repeats",
        JsonText,
        comment="JSON object: ids of the runs of baseline and candidate where one has several; NULL of two runs.",
    ),
    Column(
        "unjudged",
        TEXT,
        comment="What an unjudged item was worth: range, zero or bounds; NULL of older decisions.",
    ),
    Column("delta_low", REAL, comment="Least delta that unjudged items left open; NULL where that is not known."),
    Column("delta_high", REAL, comment="Greatest delta that unjudged items left open; NULL where that is not known."),
    Column("checked_by", TEXT, comment="Who answered the sample that checks the judge; NULL where nobody did."),
    Column("budget", REAL, comment="Chance of any false PASS, or FAIL, that its looks share; NULL without a budget."),
    Column("looks", COUNT, comment="How many looks share the budget; NULL where there is no end, or no budget."),
    Column("look", COUNT, comment="Which look it is at the baseline's lists, from 1; NULL without a budget."),
    Column("baseline_lists", JsonText, comment="JSON object that knows the baseline's lists; NULL without a budget."),
    Column("question", TEXT, comment="Digest of the question: runs, labels and rules; NULL of older decisions."),
    CheckConstraint("decision IN ('pass', 'fail', 'inconclusive')", name="decision"),
    comment="One row per decision of a gate, and who overrode it with which reason.",
    sqlite_autoincrement=True,
)

policies = Table(
    "policies",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the policy."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the alias."),
    Column("alias", TEXT, nullable=False, comment="Name of the alias, without the @."),
    Column("rules", JsonText, nullable=False, comment="JSON object: the rules of a gate, by option."),
    Column("set_by", TEXT, nullable=False, comment="Who set them."),
    Column("set_at_utc", TEXT, nullable=False, comment="When that was, ISO 8601 in UTC."),
    comment="One row per time that somebody set the rules of the gates against an alias; the latest is in force.",
    sqlite_autoincrement=True,
)

budget_resets = Table(
    "budget_resets",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the reset."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the baseline."),
    Column("baseline_run", TEXT, nullable=False, comment="Name of the baseline at that time."),
    Column(
        "baseline_lists",
        JsonText,
        nullable=False,
        comment="JSON object that knows the baseline's lists; {} since budgets belong to aliases.",
    ),
    Column("reason", TEXT, nullable=False, comment="Why they no longer count."),
    Column("reset_by", TEXT, nullable=False, comment="Who said so."),
    Column("after_decision_id", IDENTIFIER, nullable=False, comment="Last decision that no longer counts."),
    Column("created_at_utc", TEXT, nullable=False, comment="When that was, ISO 8601 in UTC."),
    Column("alias", TEXT, comment="Alias of the budget; NULL of older resets."),
    comment="One row per time that somebody began a budget anew: looks at an alias that no longer count.",
    sqlite_autoincrement=True,
)

seals = Table(
    "seals",
    metadata,
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), primary_key=True, comment="Dataset."),
    Column("is_sealed", Boolean, nullable=False, comment="Whether only gates read it; else it is an open part."),
    Column("budget", REAL, comment="Chance of any false PASS over all looks; NULL of an open part."),
    Column("looks", COUNT, comment="How many looks share the budget; NULL where there is no end."),
    Column("split", JsonText, comment="JSON object: other part, share, cluster, key; NULL where nothing was split."),
    Column("created_at_utc", TEXT, nullable=False, comment="When it was sealed or split, ISO 8601 in UTC."),
    Column("metric", TEXT, comment="The metric of all its gates; NULL of an open part, and before a move."),
    Column("margin", REAL, comment="The drop that all its gates allow; NULL where metric is."),
    Column("baseline_run", TEXT, comment="Name of the baseline of all its gates; NULL where each gate names one."),
    comment="One row per open part of a split dataset, or the one row of a sealed database.",
)

texts = Table(
    "texts",
    metadata,
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the text."),
    Column("group_id", IDENTIFIER, nullable=False, comment="Group of the text; 0 for an item in every group."),
    Column("item_key", TEXT, nullable=False, comment="Item of the text; empty for the group itself."),
    Column("text", TEXT, comment="Text of the query, or of the item; NULL where none was given."),
    Column("title", TEXT, comment="Title; NULL where none was given."),
    Column("url", TEXT, comment="Where to find it, as it was given; NULL where nothing was given."),
    PrimaryKeyConstraint("dataset_id", "group_id", "item_key"),
    CheckConstraint("group_id > 0 OR item_key <> ''", name="of_something"),
    comment="One row per text: of a group, of an item in every group, or of an item in one group.",
)

suite_datasets = Table(
    "suite_datasets",
    metadata,
    Column("suite", TEXT, nullable=False, comment="Name of the suite."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset that belongs to it."),
    Column("place", IDENTIFIER, nullable=False, comment="Place of the dataset in the suite, from 0."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the suite was made, ISO 8601 in UTC."),
    PrimaryKeyConstraint("suite", "dataset_id"),
    comment="One row per dataset of a suite: named datasets that are looked at together.",
)

suite_decisions = Table(
    "suite_decisions",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the decision."),
    Column("suite", TEXT, nullable=False, comment="Name of the suite at that time."),
    Column("baseline", TEXT, nullable=False, comment="System to be replaced: the name of its runs, or a tag."),
    Column("candidate", TEXT, nullable=False, comment="System to replace it."),
    Column("by_tag", TEXT, comment="Tag whose value is the system; NULL where it is the name of its runs."),
    Column(
        "runs",
        JsonText,
        nullable=False,
        comment="JSON object by dataset: version of the labels, ids of the runs of baseline and candidate.",
    ),
    Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
    Column("margin", REAL, nullable=False, comment="Loss that the macro mean was allowed."),
    Column("dataset_margin", REAL, comment="Loss that each dataset was allowed; NULL where nobody asked."),
    Column("delta", REAL, comment="Candidate minus baseline, the macro mean; NULL where undefined."),
    Column("ci_low", REAL, comment="Lower bound of delta that decided."),
    Column("ci_high", REAL, comment="Upper bound of delta that decided."),
    Column("alpha", REAL, comment="Error probability that FAIL allows."),
    Column("decision", TEXT, nullable=False, comment="pass, fail or inconclusive."),
    Column("reason", TEXT, nullable=False, comment="Why, in one sentence."),
    Column("acknowledged_reason", TEXT, comment="Why someone overrode the decision; NULL where nobody did."),
    Column("acknowledged_by", TEXT, comment="Who overrode the decision; NULL where nobody did."),
    Column("created_at_utc", TEXT, nullable=False, comment="When the decision was made, ISO 8601 in UTC."),
    Column(
        "unjudged",
        TEXT,
        comment="What an unjudged item was worth: range, zero or bounds; NULL of older decisions.",
    ),
    Column("delta_low", REAL, comment="Least delta that unjudged items left open; NULL where that is not known."),
    Column("delta_high", REAL, comment="Greatest delta that unjudged items left open; NULL where that is not known."),
    Column(
        "judge",
        TEXT,
        nullable=False,
        server_default="",
        comment="Who gave the labels; empty for the judge that counts unless another is named.",
    ),
    Column("question", TEXT, comment="Digest of the question: runs, labels and rules; NULL of older decisions."),
    CheckConstraint("decision IN ('pass', 'fail', 'inconclusive')", name="decision"),
    comment="One row per decision of a gate on a suite, and who overrode it with which reason.",
    sqlite_autoincrement=True,
)

designs = Table(
    "designs",
    metadata,
    Column("id", IDENTIFIER, Identity(), primary_key=True, comment="Number of the design, in all datasets."),
    Column("dataset_id", IDENTIFIER, ForeignKey("datasets.id"), nullable=False, comment="Dataset of the items."),
    Column("number", COUNT, nullable=False, comment="1 for the dataset's first design, 2 for the next, and so on."),
    Column(
        "label_set_id",
        IDENTIFIER,
        ForeignKey("label_sets.id"),
        nullable=False,
        comment="Labels of the judge that is to be checked; their ideal is frozen.",
    ),
    Column("checked_by", TEXT, comment="Who graded the drawn items; NULL before the first answer."),
    Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
    Column("n_looks", COUNT, nullable=False, comment="How many looks are planned; they share the level of a verdict."),
    Column("look", COUNT, nullable=False, comment="The look that is drawn now, from 1."),
    Column("planned_budget", COUNT, nullable=False, comment="How many items all looks are to draw, on average."),
    Column("budget", COUNT, nullable=False, comment="How many items were to be drawn up to this look, on average."),
    Column("seed", TEXT, nullable=False, comment="Key of the hash that gives each item its random number for good."),
    Column("not_tuned", Boolean, nullable=False, comment="Whether what is newer was said not to depend on answers."),
    Column("greatest_grade", REAL, comment="Greatest grade that people may give; NULL where it is the judge's."),
    Column("created_at_utc", TEXT, nullable=False, comment="When it was drawn first, ISO 8601 in UTC."),
    Column("answered_after_run_id", IDENTIFIER, comment="Newest run before the first answer; NULL without an answer."),
    Column(
        "answered_after_label_set_id",
        IDENTIFIER,
        comment="Newest label set before the first answer; NULL without an answer.",
    ),
    Column(
        "kind",
        TEXT,
        nullable=False,
        server_default="items",
        comment="What it is for: judge or holes, of whole queries; items: single items, drawn by an older version.",
    ),
    UniqueConstraint("dataset_id", "number"),
    CheckConstraint("number >= 1 AND budget >= 1 AND planned_budget >= budget", name="counts"),
    CheckConstraint("look >= 1 AND look <= n_looks", name="looks"),
    CheckConstraint("abs(greatest_grade) <= 1.7e308", name="greatest_grade_finite"),
    comment="One row per design: a sample of items, drawn to check a judge on the differences of runs.",
    sqlite_autoincrement=True,
)

design_runs = Table(
    "design_runs",
    metadata,
    Column("design_id", IDENTIFIER, ForeignKey("designs.id"), nullable=False, comment="Design of the run."),
    Column("place", COUNT, nullable=False, comment="0 for the baseline, 1 for the first candidate, and so on."),
    Column("run_id", IDENTIFIER, ForeignKey("runs.id"), comment="The run; NULL once it is deleted."),
    Column("run", TEXT, nullable=False, comment="Name of the run at that time."),
    PrimaryKeyConstraint("design_id", "place"),
    CheckConstraint("place >= 0", name="place_from_0"),
    comment="One row per run of a design: the baseline, and each candidate.",
)

drawn_items = Table(
    "drawn_items",
    metadata,
    Column("design_id", IDENTIFIER, ForeignKey("designs.id"), nullable=False, comment="Design that drew the item."),
    Column("group_id", IDENTIFIER, ForeignKey("groups.id"), nullable=False, comment="Group of the item."),
    Column("item_key", TEXT, nullable=False, comment="The item."),
    Column(
        "probability",
        REAL,
        comment="With which probability it was drawn; NULL of an item that was not drawn, whose grade is kept apart.",
    ),
    Column("grade", REAL, comment="What people graded it; NULL before they did."),
    Column("answered_at_utc", TEXT, comment="When the grade was stored, ISO 8601 in UTC; NULL before that."),
    Column(
        "answered_after_run_id",
        IDENTIFIER,
        comment="Newest run before the grade was stored; NULL before that, and of older answers.",
    ),
    PrimaryKeyConstraint("design_id", "group_id", "item_key"),
    CheckConstraint("probability > 0 AND probability <= 1", name="probability"),
    CheckConstraint("abs(grade) <= 1.7e308", name="grade_finite"),
    CheckConstraint("(grade IS NULL) = (answered_at_utc IS NULL)", name="answered"),
    CheckConstraint("probability IS NOT NULL OR grade IS NOT NULL", name="kept_apart"),
    comment="One row per item that a design drew or that is kept apart, with the grade that people gave it.",
)
