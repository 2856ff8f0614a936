"""``ndcg-track labels``: versions of a dataset's labels."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ndcg_tracker.asked import Pairs
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.labels import label_versions, labels_agreement, labels_diff, labels_needed, labels_sample
from ndcg_tracker.words.notes import in_words
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists

app = options.command_group("Labels: add, list, diff, agreement, needed, sample.")


NeededFormat = Literal["text", "json", "markdown", "csv", "quepid", "elasticsearch"]
"""How the items to judge are written."""


LabelledDataset = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        help="The dataset: the groups and labels to compare runs on.",
        show_default="default; with --extend, --design, --judge or --rescore also the only one there is",
    ),
]


@app.command("add")
def add_labels(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The labels; - is standard input.")],
    dataset: LabelledDataset = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Add them to the newest version, instead of replacing it.")
    ] = False,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Evaluate the stored runs under them, in the same transaction.")
    ] = False,
    reader: options.Reader = None,
    group: options.GroupColumn = None,
    item: options.ItemColumn = None,
    label: options.LabelColumn = None,
    columns: options.Header = None,
    items: options.ResponseItems = None,
    item_to_document: options.ItemToDocument = None,
    judge: options.OfJudge = None,
    added_by: Annotated[
        str | None, typer.Option("--added-by", metavar="NAME", help="Who gave them, where that is not the judge.")
    ] = None,
    from_runs: Annotated[
        list[str] | None, typer.Option("--from-runs", metavar="RUNS", help="Runs whose logs they come from: A,B.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Only rows with this value in this column; repeatable."),
    ] = None,
    design: Annotated[
        int | None, typer.Option(metavar="N", help="They are answers to this design of labels sample.")
    ] = None,
    keep_others: Annotated[
        bool, typer.Option("--keep-others", help="Keep answers to items that the design did not draw, apart.")
    ] = False,
) -> None:
    """Store the labels of a file as a dataset's newest version.

    Labels already stored add nothing. An empty label means that the item is unjudged. Those of a named judge, such as a
    model, count where there are none of no named judge, or where --judge names it. A file with a column judge gives a
    version to each judge that it names.

    With --design they are no version of the labels: they check another judge (compare --check-with). The word unsure is
    no answer there, as is an empty label.
    """
    from ndcg_tracker.api.evaluation import labels_of_judges
    from ndcg_tracker.cli.input_files import labels_by_judge
    from ndcg_tracker.ingest.columns import Columns, header_of
    from ndcg_tracker.ingest.reading import documents_given
    from ndcg_tracker.runs.ingest import source_name

    documents = documents_given(item_to_document)
    names = Columns(group=group, item=item, label=label, header=header_of(columns), items=items, documents=documents)
    chosen, meant = Pairs("--where")(where or ()), options.or_the_only_one(dataset)
    by_judge = labels_by_judge(file, reader=reader, columns=names, where=chosen, unsure=design is not None)
    if design is not None:
        others = {"--extend": extend, "--rescore": rescore, "--added-by": added_by, "--from-runs": from_runs}
        others["--item-to-document"] = item_to_document
        answers = labels_of_judges(by_judge, judge, file, chosen)
        _add_answers(file, answers, meant, design, judge, others, keep_others=keep_others)
        return
    if keep_others:
        raise InputError("--keep-others is for answers to a design", advice="give --design N, or leave it out")
    shown = [run.strip() for runs in from_runs or () for run in runs.split(",")]
    with options.tracker() as tracker:
        for name, lists in labels_of_judges(by_judge, judge, file, chosen).items():
            added = tracker.add_labels(
                lists,
                dataset=meant,
                source=source_name(file),
                judge=name,
                extend=extend,
                rescore=rescore,
                added_by=added_by or "",
                from_runs=shown,
            )
            version, is_new = added
            state = "stored" if is_new else "already stored"
            whose = f" of judge {name!r}" if name else ""
            labels = f"{lists.n_items} label{'' if lists.n_items == 1 else 's'}"
            labels = "those of its part" if added.n_left_out else labels
            notes = tracker.change_of_labels(version, dataset=added.dataset, extends=extend) if is_new else ()
            beside = "" if added.extends is None else " added to the version before"
            options.say(f"{state} as version {version} of dataset {added.dataset!r}: {labels}{whose}{beside}")
            for note in notes:
                options.say(f"note: {note}")
            if added.n_left_out:
                options.say(f"note: those of {counted(added.n_left_out, 'group')} of the sealed part were left out")
            if rescore:
                n_rescored = sum(bool(run.metrics) for run in added.rescored)
                options.say(f"rescored {n_rescored} of {len(added.rescored)} runs")
        stored = {run.name for run in tracker.runs(added.dataset)} if shown else set()
        unknown = [run for run in shown if run not in stored and not run.startswith("@")]
        if unknown:
            options.say(f"note: no run {unknown[0]!r} is stored in dataset {added.dataset!r} yet (--from-runs)")


def _add_answers(
    file: str,
    by_judge: Mapping[str, LabelLists],
    dataset: str,
    design: int,
    judge: str | None,
    others: Mapping[str, object],
    *,
    keep_others: bool,
) -> None:
    """Store answers to a design, and tell what it still waits for."""
    for option, given in others.items():
        if given:
            what = f"{option} makes a version of labels, and answers to a design are none"
            raise InputError(what, advice="leave it out")
    if not judge:
        raise InputError("answers to a design have a name", advice="say whose they are with --judge NAME")
    with options.tracker() as tracker:
        done = tracker.add_answers(
            by_judge[judge], design=design, judge=judge, dataset=dataset, source=file, keep_others=keep_others
        )
    known = f", {done.n_known:,} known already" if done.n_known else ""
    known += f", {done.n_shared:,} more from other designs" if done.n_shared else ""
    apart = f", {done.n_apart:,} more kept apart, to items that it did not draw" if done.n_apart else ""
    rest = f"{done.n_unanswered:,} still without" if done.n_unanswered else "all items have one"
    at = f"look {done.look} of {done.n_looks}: " if done.n_looks > 1 else ""
    options.say(
        f"stored {counted(done.n_new, 'answer')} of {judge!r} to design {design} of dataset {done.dataset!r}"
        f"{known}{apart}; {at}{rest}"
    )


@app.command("list")
@takes(label_versions)
def list_labels(asked: Asked, format: options.Output = "text") -> None:
    """List the versions of a dataset's labels, oldest first.

    Shows how many groups, items and labels each has, how often each grade was given, and how many runs are evaluated
    under it.
    """
    from ndcg_tracker.questions.labels.say import label_versions_as

    with options.tracker() as tracker:
        versions = asked.of(tracker.label_versions)
    options.show(label_versions_as(format, versions, **options.screen()))


@app.command("diff")
@takes(labels_diff)
def diff_labels(asked: Asked, format: options.Output = "text") -> None:
    """Compare two versions of a dataset's labels.

    Shows how far they agree where both have a label, which grades became which, and which groups and labels are new or
    gone.
    """
    from ndcg_tracker.questions.labels.say import labels_diff_said

    with options.tracker() as tracker:
        differences = asked.of(tracker.labels_diff)
    options.show_answer(labels_diff_said(differences), format)


@app.command("agreement")
@takes(labels_agreement)
def judges_agreement(
    asked: Asked,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="JUDGE", help="One or two judges, as with --judge.")
    ] = None,
    format: options.Output = "text",
) -> None:
    """Show how far two judges agree, and for which runs one errs.

    Holds the newest labels of a named judge against those of the unnamed one, or of two named ones against each other:
    weighted kappa, grades against grades, by how much one errs among the first ranks of each run, and the order of all
    runs and the verdicts that turn under the labels of each on the pairs that both labelled.

    Where one answered designs of labels sample that check the other one, agreement and errors are of these answers
    alone, weighted by 1 / probability.
    """
    from ndcg_tracker.questions.labels.say import agreement_said

    with options.tracker() as tracker:
        agreement = replace(asked, positional=(*(names or ()), *asked.positional)).of(tracker.labels_agreement)
    options.show_answer(agreement_said(agreement), format)


@app.command("needed")
@takes(labels_needed)
def needed_labels(
    asked: Asked,
    every: Annotated[bool, typer.Option("--all", help="All items; --budget is ignored.")] = False,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    format: Annotated[NeededFormat, typer.Option("--format", help="How to write the items.")] = "text",
) -> None:
    """Say which unjudged items to judge next.

    They are those that could move a difference most; for a --judge without labels, a first batch over all groups. The
    answers go back with labels add --extend; csv, quepid and
    elasticsearch have a place for each grade.
    """
    from ndcg_tracker.questions.labels.say_items import needed_said
    from ndcg_tracker.render.whole_file import whole_file

    with options.tracker() as tracker, whole_file(output, "--output") as write:
        needed = asked.of(tracker.labels_needed, **({"budget": None} if every else {})).needed
        said = needed_said(needed)
        text = options.answer_text(said, format) if output is None else said.in_format(format)
        write(text)
    if output is None:
        options.show(text)
    else:
        n_items = f"{len(needed.items)} item{'' if len(needed.items) == 1 else 's'}"
        judge = needed.label_set.judge
        whose = ("--judge", judge) if judge else ()
        extend = () if needed.is_first_batch else ("--extend",)
        words = ("ndcg-track", "labels", "add", output, *extend, "--rescore", "--dataset", needed.dataset, *whose)
        options.say(f"wrote {n_items} to judge; with their grades filled in: {shlex.join(words)}")


@app.command("sample")
@takes(labels_sample)
def sampled_labels(
    asked: Asked,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    format: Annotated[
        NeededFormat | None, typer.Option("--format", help="How to write the items.", show_default="text, csv with -o")
    ] = None,
) -> None:
    """Draw items for people to grade, to check a judge.

    They check it on the differences of runs: each is drawn with a probability in proportion to what its grade moves.
    The design is stored, and may be planned anew until somebody answers; with --looks the same command draws the next
    step once all items have answers. The answers go back with labels add --design, and compare --check-with
    says what the judge's labels and they show together. Items come in random order and without the judge's grades.
    """
    from ndcg_tracker.questions.labels.say_items import look_words, sample_said
    from ndcg_tracker.render.whole_file import whole_file
    from ndcg_tracker.runs.designs import answering_command

    with options.tracker() as tracker, whole_file(output, "--output") as write:
        sample = asked.of(tracker.labels_sample).sample
        said, chosen = sample_said(sample), format or ("text" if output is None else "csv")
        text = options.answer_text(said, chosen) if output is None else said.in_format(chosen)
        write(text)
    if output is None:
        options.show(text)
    else:
        words = answering_command(output, sample.design, "NAME", sample.dataset)
        n_items = counted(len(sample.items), "item")
        at = f", look {look_words(sample)}" if sample.n_looks > 1 else ""
        filled = f"; with their grades filled in: {shlex.join(words)}" if sample.items else ""
        options.say(f"wrote {n_items} of design {sample.design}{at}{filled}")
        for note in in_words(sample.notes):
            options.say(f"note: {note}")
