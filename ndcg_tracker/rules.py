"""The arguments that do not go together: a row says which, why, and what to give instead.

The rows of a command hold at every door: its question checks them where it is made, and the command line before it
reads anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import fields
from typing import Any, NamedTuple

from ndcg_tracker.errors import InputError, argument


class Rule(NamedTuple):
    """Arguments of which none goes with any of ``other``, or of which each ``needs`` one of ``other``.

    Both are names as in Python, separated by blanks: NAME, NAME=VALUE or NAME!=VALUE|VALUE, or a name of ``KINDS``.
    ``given`` is "" if the command always needs one of ``other``.
    """

    given: str
    other: str
    why: str
    instead: str = ""
    needs: bool = False

    def sentence(self, given: str, other: str) -> tuple[str, str]:
        """Return what is wrong if the one is given, and the advice."""
        if self.needs:
            alone = f"give {other}, or leave out {given}" if self.given else "give one"
            return f"{given} needs {other}: {self.why}", self.instead or alone
        return f"{given} does not go with {other}: {self.why}", self.instead or "leave one out"


KINDS = {
    "arms": "arms of repeated runs",
    "several_files": "several files",
    "several_datasets": "an export of several datasets",
    "weights": "a metric with weights",
    "several_metrics": "several metrics",
    "several_measures": "several measures",
    "fixed_baseline": "a sealed dataset whose split named a baseline",
    "row_numbers": "items that are row numbers",
    "no_file": "rows that are in no file",
    "budget_of_policy": "the budget of a policy",
    "paper": "a table for a paper",
    "two_versions": "two versions of the labels",
    "several_judges": "several judges",
    "in_memory": "a table in memory",
    "file_runs": "files in the place of runs",
}
"""What an argument may not go with that is not an argument."""

_BY_TAG = Rule("by_tag", "suite", "it names the systems of a suite", needs=True)
_NEWEST = Rule("labels", "check_with", "the latest labels of the judge count")
_ONE_DATASET = "a suite has several datasets"
_READ_BY_SPARK = "reader columns items scores stream item_to_document"
_SPARK = "Spark reads the rows, not this program"
_OF_SINGLE_GROUPS = "kind=every|scatter|histogram|cutoffs|heatmap"
_ONE_OF_JUDGES = "it shows one version of one judge"
_NO_LISTS = "it holds values per group, not lists"
_NO_VERSION = "answers to a design make no version of the labels"
_EACH_A_LOOK = "each decision is a look that counts"
_ONE_BY_ONE = "ingest them one by one"
_USUAL = {"metric": "external:latency", "direction": "lower", "range": "0,inf"}
_LIKE_THIS = f"give, for example, {' '.join(argument(name, value) for name, value in _USUAL.items())}"
_AGE_OR_LABELS = f"give {argument('older_than', '90d')} or {argument('results_of_old_labels', True)}"
_SECOND = "give a second run, or a published mean"
_FOR_ORIGINAL = "it stands for the original run alone"
_PROXY = "a proxy has a secret, and the page a name there"
_SOME_OR_ALL = (
    Rule("", "runs every", "it takes some runs, or all", needs=True),
    Rule("runs", "every", "all runs are taken"),
)
_COMPARE = "leave it out, or see the difference with: ndcg-track compare"


def _of_files(stored: str) -> tuple[Rule, ...]:
    """Return the rules of a command in which files may stand for runs; ``stored``: what only stored runs have."""
    read = Rule("read", "file_runs", "stored runs have been read", needs=True)
    return Rule(stored, "file_runs", "it is about what is stored"), read


RULES: Mapping[str, tuple[Rule, ...]] = {
    "": (Rule("quiet", "verbose", "one prints less, and the other more"),),
    "compare": (
        Rule("test ci", "check_with", "drawn queries have their own bounds"),
        Rule("top", "check_with", "drawn queries tell about the mean, not which group is the worst"),
        _NEWEST,
        Rule("tie_bounds", "check_with", "it shows groups under the labels of one judge"),
        Rule("judge=*", "check_with", "a sample checks one judge"),
        Rule("check_with", "arms", "a sample checks a judge on single runs"),
        Rule("test ci", "arms cluster", "only t-tests know repeats and clusters"),
        Rule("cluster tie_bounds", "arms", "it is for single runs"),
        Rule("by tie_bounds equivalence", "paper", "it has a row per metric"),
        _BY_TAG,
        Rule("dataset check_with fresh", "suite", _ONE_DATASET),
        Rule("labels=all judge=*", "suite", _ONE_DATASET, "name one version or judge"),
        Rule("labels!=all|newest", "judge=*", "a version has one judge"),
        Rule("by tie_bounds format=latex", "labels=all judge=*", _ONE_OF_JUDGES),
        *_of_files("dataset suite judge=* check_with fresh"),
    ),
    "check": (
        Rule("accept", "against", "the results are written to that file", needs=True),
        Rule("margin", "against", "it bounds the drop from that file", needs=True),
    ),
    "gate": (
        Rule("margin=auto by cluster max_harm", "scope=set", "it compares two means without a test"),
        Rule("scope=set", "check_with", "drawn queries involve chance, but this is exact arithmetic"),
        Rule("max_harm", "check_with", "drawn queries do not show how much each group loses"),
        Rule("margin=auto", "check_with", "it learns how runs vary from the labels that are checked"),
        _NEWEST,
        Rule("unjudged=zero", "check_with", "people grade what nobody judged"),
        Rule("acknowledge", "dry_run", "a dry run records nothing"),
        Rule("dry_run scope=set", "budget_of_policy", _EACH_A_LOOK, _COMPARE),
        Rule("baseline", "fixed_baseline", "its gates have one baseline", "leave it out"),
        Rule("max_harm", "weights", "it counts all groups equally"),
        Rule("margin=auto", "arms", "it learns from repeats of a single run"),
        _BY_TAG,
        Rule("suite", "margin", "it is the allowed drop of the macro mean", needs=True),
        Rule("by!=dataset", "suite", "its slices are its datasets", f"give {argument('by', 'dataset')}"),
        Rule("dataset check_with margin=auto repeats", "suite", _ONE_DATASET),
        Rule("scope=set", "suite", "a suite is decided by a test"),
        *_of_files("dataset suite acknowledge check_with fresh"),
    ),
    "complete gate": (
        Rule("", "baseline", "it is the run to compare against", "name one", needs=True),
        Rule("repeats", "margin=auto", "it learns from these runs", needs=True),
        Rule("slice_margin", "by", "the attribute makes the slices", needs=True),
        Rule("by", "slice_margin", "the allowed drop of a slice, such as 0.05", needs=True),
    ),
    "leaderboard": (
        Rule("by test suite", "check_with", "answers tell about means, by their own bounds"),
        Rule("test tags", "arms", "arms name their runs, and have t-tests alone"),
        Rule("dataset by measures test", "suite", _ONE_DATASET),
        Rule("test=permutation", "weights", "sign flips count all groups equally", f"give {argument('test', 't')}"),
        _BY_TAG,
        Rule("runs", "all", "all runs are ranked"),
        Rule("by", "paper", "it has no slices"),
        *_of_files("dataset suite tags check_with"),
    ),
    "explain": (
        Rule("labels_baseline labels_candidate", "labels", "it is for both runs"),
        Rule("group", "by", "slices are of all groups"),
        Rule("by", "two_versions", "slices are under one version"),
        *_of_files("dataset labels_baseline labels_candidate"),
    ),
    "show": (Rule("labels", "file_runs", "a stored run has its own", needs=True), *_of_files("dataset")),
    "diff": (
        Rule("labels", "file_runs", "stored lists are compared without labels", needs=True),
        *_of_files("dataset"),
    ),
    "plan": (
        Rule("labels dataset judge", "candidate", "without runs it goes by what is typical", needs=True),
        *_of_files("dataset"),
    ),
    "history": (
        Rule("dataset digest", "suite", _ONE_DATASET),
        Rule("new_steps newest_first", "digest", "a digest has the new steps, the latest last"),
        _BY_TAG,
    ),
    "plot history": (Rule("dataset", "suite", _ONE_DATASET), _BY_TAG),
    "plot compare": (
        Rule("by dataset check_with fresh", "suite", _ONE_DATASET),
        Rule("kind!=forest", "suite", "it shows the groups of one dataset"),
        Rule("by", "kind=histogram|cutoffs|heatmap", "it does not show attributes"),
        Rule(_OF_SINGLE_GROUPS, "check_with", "people answered only drawn groups", "draw the forest or the slices"),
        _BY_TAG,
        *_of_files("dataset suite check_with fresh"),
    ),
    "plot slices": _of_files("dataset check_with fresh"),
    "plot cutoffs": _of_files("dataset check_with fresh"),
    "plot explain": _of_files("dataset labels_baseline labels_candidate"),
    "report": (
        Rule("dataset check_with all", "suite", _ONE_DATASET),
        _BY_TAG,
        Rule("candidates", "all", "all other runs are compared"),
        *_of_files("dataset suite all check_with fresh texts"),
    ),
    "complete report": (
        Rule("", "candidates all", "a page compares two runs or more", "name one after the baseline", needs=True),
    ),
    "reproduce": (
        Rule("published", "several_metrics", "it is the mean of one", "name one metric"),
        Rule("baseline_original baseline_reproduced", "published", _FOR_ORIGINAL),
        Rule("baseline_original", "baseline_reproduced", "a single baseline gives no effect to compare", needs=True),
        Rule("baseline_reproduced", "baseline_original", "a single baseline gives no effect to compare", needs=True),
    ),
    "complete reproduce": (
        Rule("", "reproduced published", "there is nothing to reproduce", _SECOND, needs=True),
        Rule("reproduced", "published", _FOR_ORIGINAL),
    ),
    "ingest": (
        Rule("files labels scores item items score label weight columns", "results", _NO_LISTS),
        Rule("metadata item_to_document collapse sampled engine=spark judge allow", "results", _NO_LISTS),
        Rule("text item_is_text", "results", _NO_LISTS),
        Rule("direction range value measure", "results", "it describes values from another engine", needs=True),
        Rule("results", "metrics", "it names the values", _LIKE_THIS, needs=True),
        Rule("results", "direction", "it says which values are better", _LIKE_THIS, needs=True),
        Rule("results", "range", "it says which values there can be", _LIKE_THIS, needs=True),
        Rule("results", "several_metrics several_measures", "they are the values of one", _ONE_BY_ONE),
        Rule("scores metadata", "several_files", "it is of one run", _ONE_BY_ONE),
        Rule(_READ_BY_SPARK, "engine=spark", _SPARK),
        Rule("item_is_text", "item_to_document", "each text is its own document"),
        Rule("text", "no_file", "its column is read from a file", "write the rows to one first"),
        Rule(
            *("collapse", "item_to_document", "it says how to combine chunks, but not what the documents are"),
            *(f"name the documents with {argument('item_to_document', '#.*')}", True),
        ),
    ),
    "complete ingest": (
        Rule("", "files", "there is nothing to store", "name one, or give - for standard input", needs=True),
    ),
    "evaluate": (
        Rule("scores metrics_json", "several_files", "it is of one run", "evaluate them one by one"),
        Rule(f"{_READ_BY_SPARK} weight judge", "engine=spark", _SPARK),
        Rule("judge", "labels", "the file names the judges", needs=True),
        Rule("by", "groups", "the file has the attribute", needs=True),
        Rule("groups", "by", "slices are by an attribute of the file", needs=True),
        Rule("by", "per_group engine=spark", "means of slices are computed here, and shown alone"),
        Rule("reader columns scores", "in_memory", "it is for files"),
        Rule("labels", "row_numbers", "those of two tables differ", f"name the column with {argument('item')}"),
        Rule(
            "null_scores=not_retrieved", "in_memory", "in a file null means not retrieved, NaN is an error", needs=True
        ),
    ),
    "pull mlflow": (Rule("name", "several_files", "it is of one run", "leave it out"),),
    "import": (Rule("dataset", "several_datasets", "it renames a single one", "leave it out"),),
    "policy set": (Rule("looks", "budget", "they share it", needs=True),),
    "rescore": _SOME_OR_ALL,
    "complete rescore": (Rule("labels", "several_judges", "a version has one judge"),),
    "export": _SOME_OR_ALL,
    "groups set": (Rule("", "frame default_weight", "there is nothing to set", needs=True),),
    "datasets split": (
        Rule("", "seal move", "it seals a share, or moves what an older version sealed", needs=True),
        Rule("seal", "move", "a dataset that moves is sealed already"),
    ),
    "ui": (
        Rule("proxy_secret", "allowed_host", _PROXY, needs=True),
        Rule("allowed_host", "proxy_secret", _PROXY, needs=True),
    ),
    "runs prune": (
        Rule("", "older_than results_of_old_labels", "it deletes only what is named", _AGE_OR_LABELS, True),
        Rule("older_than", "results_of_old_labels", "labels are old by their version", _AGE_OR_LABELS),
    ),
    "runs list": (Rule("sort=mean", "metric", "the mean is of a metric", needs=True),),
    "labels add": (
        Rule("extend replace rescore added_by from_runs model prompt item_to_document", "design", _NO_VERSION),
        Rule("extend", "replace", "one adds to the latest version, the other replaces it"),
        Rule("item_is_text", "item_to_document", "each text is its own document"),
    ),
}
"""The rules of each command; those of a complete question when all is known, such as the policy of an alias."""


def refuse(command: str, given: Mapping[str, object]) -> None:
    """Refuse arguments that do not go together by the rules of a command (InputError); None and empty ones are absent.

    >>> refuse("explain", {"group": None, "by": "device"})
    """
    for rule in RULES.get(command, ()):
        others = _found(rule.other, given)
        own = _found(rule.given, given) if rule.given else [command.removeprefix("complete ")]
        for one in own if bool(others) != rule.needs else ():
            what, advice = rule.sentence(one, others[0] if others else " or ".join(spelled(rule.other)))
            raise InputError(what, advice=advice)


def given_of(question: Any) -> dict[str, object]:
    """Return the fields of a question that do not have their defaults."""
    return {of.name: value for of in fields(question) if (value := getattr(question, of.name)) != of.default}


def spelled(names: str) -> list[str]:
    """Return the arguments and kinds that a side of a rule names, as parts of a message."""
    return [KINDS.get(name) or argument(name, "" if is_other else values) for name, values, is_other in _parts(names)]


def _parts(names: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each name of a side with its values, and whether it is about all other values."""
    for name in names.split():
        own, _, values = name.partition("=")
        yield own.rstrip("!"), values, own.endswith("!")


def _found(names: str, given: Mapping[str, object]) -> list[str]:
    """Return those of the names that are given, as parts of a message."""
    found = []
    for name, values, is_other in _parts(names):
        value = given.get(name)
        is_given = value is not None and value is not False and not (isinstance(value, Sized) and len(value) == 0)
        if is_given and (not values or (str(value) in values.split("|")) != is_other):
            found.append(KINDS.get(name) or argument(name, value if values and not is_other else ""))
    return found
