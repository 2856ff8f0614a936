"""``ndcg-track labels``: versions of a dataset's labels."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ndcg_tracker.api import storing
from ndcg_tracker.asked import Option, Positional
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.labels import label_versions, labels_agreement, labels_diff, labels_needed, labels_sample
from ndcg_tracker.questions.labels.carry import carry_labels
from ndcg_tracker.words.notes import in_words
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.render.formats import Said

app = options.command_group("Manage labels: add, carry, list, diff, agreement, needed, sample.")


ItemsFile = Annotated[str | None, Option("Write to a file.", ("--output", "-o"), metavar="FILE")]
ItemsFormat = Annotated[
    Literal["text", "json", "markdown", "csv", "quepid", "elasticsearch"] | None,
    Option("How to write the items.", ("--format",), default="text, csv with -o"),
]


@app.command("add")
@takes(storing.add_labels, rules="labels add")
def add_labels(
    asked: Asked,
    design: Annotated[
        int | None, Option("The labels are answers to this design of labels sample.", metavar="N")
    ] = None,
) -> None:
    """Store the labels of a file as a dataset's latest version.

    Labels that are already stored add nothing. An empty label means that the item is unjudged. Labels of a named judge,
    such as a model, count if the unnamed judge has none, or if --judge names the model. A file with a column judge
    gives each judge in it a version. A file with columns document, start and end has gold spans, from which the labels
    of chunks of any size follow.

    With --design, the labels do not make a version: they are answers to a sample of labels sample, which check a judge
    or fill holes. There, the word unsure, like an empty label, means that there is no answer.

    Example: ndcg-track labels add qrels.txt --dataset shop --rescore
    """
    from ndcg_tracker.cli.input_files import shown_reading

    (file,), given = asked.positional, asked.named
    if design is not None:
        _add_answers(file, design, given)
        return
    extends, from_runs = given.get("extend", False), given.get("from_runs", [])
    with options.tracker() as tracker, shown_reading(file):
        first = asked.of(tracker.add_labels)
        for added in (first, *first.further):
            state = "stored" if added.is_new else "already stored"
            whose = f" of judge {added.judge!r}" if added.judge else ""
            labels = "the labels of its part" if added.n_left_out else counted(added.n_labels, "label")
            notes = tracker.change_of_labels(added.version, dataset=added.dataset, extends=extends)
            beside = "" if added.extends is None else " added to the version before"
            told = f"version {added.version} of dataset {added.dataset!r}: {labels}{whose}{beside}"
            n_new, n_kept = added.n_reasons
            options.say(f"{state} as {told}{f', {n_new:,} with a reason' if n_new else ''}")
            if n_kept:
                what = (
                    f"{counted(n_kept, 'label')} already {'has' if n_kept == 1 else 'have'} another reason, which stays"
                )
                options.say(f"note: {what}; to keep both, add the file as labels of another judge with --judge NAME")
            options.say_notes(notes if added.is_new else ())
            if added.n_left_out:
                options.say(f"note: left out the labels of {counted(added.n_left_out, 'group')} of the sealed part")
            if given.get("rescore"):
                n_rescored = sum(bool(run.metrics) for run in added.rescored)
                options.say(f"rescored {n_rescored} of {len(added.rescored)} runs")
        stored = {run.name for run in tracker.runs(first.dataset)} if from_runs else set()
        unknown = [run for run in from_runs if run not in stored and not run.startswith("@")]
        if unknown:
            options.say(f"note: no run {unknown[0]!r} is stored in dataset {first.dataset!r} yet (--from-runs)")


def _add_answers(file: str, design: int, given: Mapping[str, Any]) -> None:
    """Store answers to a design, and print how many answers are still missing."""
    from ndcg_tracker.cli.input_files import shown_reading

    with options.tracker() as tracker, shown_reading(file):
        done = tracker.add_answers(file, design=design, **given)
    known = f", {done.n_known:,} already known" if done.n_known else ""
    rest = f"{done.n_unanswered:,} still without an answer" if done.n_unanswered else "all items have an answer"
    whose = f" of {done.judge!r}" if done.judge else ""
    options.say(
        f"stored {counted(done.n_new, 'answer')}{whose} to design {design} of dataset {done.dataset!r}{known}; {rest}"
    )


@app.command("carry")
@takes(carry_labels)
def carry(asked: Asked, format: options.Output = "text") -> None:
    """Carry labels to new ids of their items.

    Makes a version of the labels in which the old and the new id of an item are one, by a file, a pattern or texts.
    Runs with old ids and runs with new ids are compared under it. An item that was split is listed; its label stays.

    Example: ndcg-track labels carry --pattern '^v2-' --rescore
    """
    from ndcg_tracker.questions.labels.carry import carried_said

    with options.tracker() as tracker:
        options.show_answer(carried_said(asked.of(tracker.carry_labels)), format)


@app.command("list")
@takes(label_versions)
def list_labels(asked: Asked, format: options.Output = "text") -> None:
    """List the versions of a dataset's labels, oldest first.

    For each version, shows how many groups, items and labels it has, how often each grade was given, and how many runs
    are evaluated under it.

    Example: ndcg-track labels list
    """
    from ndcg_tracker.questions.labels.say import label_versions_as

    versions = asked.answered(label_versions)
    options.show(label_versions_as(format, versions, **options.list_screen(by_time=True)))


@app.command("diff")
@takes(labels_diff)
def diff_labels(asked: Asked, format: options.Output = "text") -> None:
    """Compare two versions of a dataset's labels.

    Shows how far the versions agree where both have a label, which grades changed, and which groups and labels are new
    or gone.

    Example: ndcg-track labels diff 1 2
    """
    from ndcg_tracker.questions.labels.say import labels_diff_said

    differences = asked.answered(labels_diff)
    options.show_answer(labels_diff_said(differences), format)


@app.command("agreement")
@takes(labels_agreement)
def judges_agreement(
    asked: Asked,
    names: Annotated[list[str] | None, Positional("One or two judges, as with --judge.", metavar="JUDGE")] = None,
    export_pairs: Annotated[str | None, Option("Also write both grades of each item, as CSV.", metavar="FILE")] = None,
    format: options.Output = "text",
) -> None:
    """Show how far two judges agree, and for which runs one errs.

    Compares the latest labels of a named judge with those of the unnamed judge, or of another named judge. Shows
    weighted kappa, a table of grades against grades, and by how much one judge errs among the first ranks of each run.

    If one judge answered designs of labels sample that check the other one, agreement and errors use these answers
    alone.

    Example: ndcg-track labels agreement gpt ann
    """
    from ndcg_tracker.questions.labels.say import agreement_said, pairs_csv
    from ndcg_tracker.render.whole_file import whole_file

    with options.tracker() as tracker, whole_file(export_pairs, "--export-pairs") as write:
        agreement = replace_fields(asked, positional=(*(names or ()), *asked.positional)).of(tracker.labels_agreement)
        write(pairs_csv(agreement))
    options.show_answer(agreement_said(agreement), format)


@app.command("needed")
@takes(labels_needed)
def needed_labels(
    asked: Asked,
    every: Annotated[bool, Option("Show all items; --budget is ignored.", ("--all",))] = False,
    output: ItemsFile = None,
    format: ItemsFormat = None,
) -> None:
    """List the unjudged items to judge next.

    These are the items that could move a difference most. For a --judge without labels, they are a first batch over all
    groups. Store the grades with labels add --extend; the formats csv, quepid and elasticsearch have a place for each
    grade.

    Example: ndcg-track labels needed bm25 dense --budget 50 -o judge.csv
    """
    from ndcg_tracker.questions.labels.say_items import needed_said
    from ndcg_tracker.render.whole_file import whole_file

    with options.tracker() as tracker, whole_file(output, "--output") as write:
        needed = asked.of(tracker.labels_needed, **({"budget": None} if every else {})).needed
        write(_for_file(needed_said(needed), output, format))
    judge, extend = needed.label_set.judge, () if needed.is_first_batch else ("--extend",)
    whose = ("--judge", judge) if judge else ()
    added = (*extend, "--rescore", "--dataset", needed.dataset, *whose)
    _show_items(needed_said(needed), len(needed.items), output, format, added)


@app.command("sample")
@takes(labels_sample)
def sampled_labels(
    asked: Asked,
    output: ItemsFile = None,
    format: ItemsFormat = None,
) -> None:
    """Draw whole queries for people to grade.

    They check a judge, or fill the holes of people's labels. With --judge, the answers say how far the judge's labels
    can be trusted: compare and gate with --check-with give the verdict by them, however good the judge is. Without
    --judge, they fill the holes of people's labels, and count by themselves. The queries come in one permanent random
    order; a larger --budget adds to it, and only what nobody has answered is written. Store the answers with labels add
    --design.

    Example: ndcg-track labels sample bm25 dense --judge gpt --budget 400 -o ask.csv
    """
    from ndcg_tracker.questions.labels.say_items import sample_said, sample_words
    from ndcg_tracker.render.whole_file import whole_file

    with options.tracker() as tracker, whole_file(output, "--output") as write:  # a wrong path draws nothing
        sample = asked.of(tracker.labels_sample).sample
        write(_for_file(sample_said(sample), output, format))
    if output is not None:
        options.say_notes(in_words(sample.notes))
        options.say(f"design {sample.design}: {sample_words(sample)}")
    whose = () if sample.checks is None else ("--judge", "NAME")
    added = (*whose, "--design", str(sample.design), "--dataset", sample.dataset)
    _show_items(sample_said(sample), len(sample.items), output, format, added)


def _for_file(said: Said, output: str | None, format: str | None) -> str:
    return "" if output is None else said.in_format(format or "csv")


def _show_items(said: Said, n_items: int, output: str | None, format: str | None, added: Sequence[str]) -> None:
    """Show items to grade, or name the command that adds the grades in a file."""
    if output is None:
        options.show_answer(said, format or "text")
        return
    filled = f"; fill in the grades, then type: {shlex.join(('ndcg-track', 'labels', 'add', output, *added))}"
    options.say(f"wrote {counted(n_items, 'item')}{filled if n_items else ''}")
