"""The commands ``runs``, ``alias``, ``rescore``, ``datasets``, ``groups`` and ``texts``, which manage stored data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ndcg_tracker.api import storing
from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import Option, Positional, pairs
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.show import list_runs as ask_runs
from ndcg_tracker.questions.show.command import show
from ndcg_tracker.words.texts import counted, units

if TYPE_CHECKING:
    from ndcg_tracker.runs.groups import GroupsSet, TextsAdded

app = options.command_group("Manage stored runs: list, show, rename, tag, prune, delete.")


app.command("show")(show)


@app.command("list")
@takes(ask_runs)
def list_runs(asked: Asked, format: options.Output = "text") -> None:
    """List the runs, oldest first.

    Example: ndcg-track runs list -m ndcg@10 --sort mean --top 10
    """
    from ndcg_tracker.questions.show.say import listed_as

    listed = asked.answered(ask_runs)
    is_by_time = asked.named.get("sort", "time") == "time"
    options.show(listed_as(format, listed, **options.list_screen(by_time=is_by_time)))
    options.say_notes(listed.notes)


@app.command("rename")
def rename_run(
    run: options.Run, name: Annotated[str, Positional("The new name.")], dataset: options.AnyDataset = None
) -> None:
    """Rename a run.

    Example: ndcg-track runs rename dense dense-v2
    """
    with options.tracker() as tracker:
        before = tracker.rename_run(run, name, dataset)
    options.say(f"run {before.id} is now {name!r}; it was {before.name!r}")


@app.command("tag")
def tag_run(
    run: options.Run,
    tags: Annotated[list[str] | None, Positional("Tags to add.", metavar="[KEY=VALUE]...")] = None,
    remove: Annotated[list[str] | None, Option("A key to remove; repeatable.")] = None,
    dataset: options.AnyDataset = None,
) -> None:
    """Add tags to a run, or remove some.

    A pattern such as 'bm25*' stands for every run that matches it.

    Example: ndcg-track runs tag dense model=e5 --remove draft
    """
    added = pairs("tag", tags or ())
    with options.tracker() as tracker:
        records = tracker.runs_named([run], dataset)
        kept = [
            tracker.tag_run(str(record.id), added, remove=remove or (), dataset=record.dataset) for record in records
        ]
    if len(records) == 1:
        options.say(f"tags: {_pairs(kept[0]) or 'none'}")
    else:
        options.say(f"tagged {len(records)} runs: {', '.join(record.name for record in records)}")


@app.command("prune")
@takes(Tracker.prune)
def prune_runs(asked: Asked, format: options.Output = "text") -> None:
    """Delete the items of old runs, or the results under old labels.

    Without --apply, the command only shows what it would delete. It always keeps runs with an alias and runs of a gate
    decision or a design. To restore a pruned run, ingest its file again under the same name.

    Example: ndcg-track runs prune --older-than 90d --keep-tag release
    """
    from ndcg_tracker.render.report import read_by_people

    pruned = asked.answered(Tracker.prune)
    names = ["run", "run_id", "dataset", "created_at_utc", "n_items", "n_results", "n_bytes"]
    rows = [tuple(getattr(run, name) for name in names) for run in pruned.runs]
    if rows or format == "json":
        options.show_rows(format, read_by_people(*names), rows)
    n_items, n_results, n_bytes = (sum(getattr(run, name) for run in pruned.runs) for name in names[-3:])
    is_done = pruned.is_applied
    done, next_step = "pruned" if is_done else "would prune", "" if is_done or not rows else "; to prune, add --apply"
    size = f"about {n_bytes / 1e6:,.1f} MB"
    if pruned.before_utc is None:
        options.say(f"{done} {counted(n_results, 'group result')} under old labels, {size}{next_step}")
        return
    results = f" and {counted(n_results, 'group result')}" if asked.named.get("summaries_only") else ""
    options.say(
        f"{done} {counted(len(rows), 'run')} made before {pruned.before_utc}: {counted(n_items, 'item')}{results}, "
        f"{size}; {counted(pruned.n_kept, 'run')} kept because of an alias, a gate, a design or a tag{next_step}"
    )


@app.command("delete")
def delete_runs(
    runs: Annotated[
        list[str],
        Positional("Names, ids, @aliases, latest, latest~2, before:DATE or unique prefixes.", metavar="RUN..."),
    ],
    yes: options.Yes = False,
    dataset: options.AnyDataset = None,
) -> None:
    """Delete runs with their items, metrics and results.

    The command deletes all of them or none. You cannot undo this.

    Example: ndcg-track runs delete draft --yes
    """

    with options.tracker() as tracker:
        named = {run.id: run for run in tracker.runs_named(runs, dataset)}
        by_id = {run_id: (run, tracker.run(run.name, run.dataset)[1]) for run_id, run in named.items()}
        each = [
            f"run {run.name!r} ({run.id}) of dataset {run.dataset!r}, {counted(len(evaluations), 'evaluation')}"
            for run, evaluations in by_id.values()
        ]
        options.confirm_deletion("; ".join(each), yes=yes)
        tracker.delete_runs(list(by_id))
    for what in each:
        options.say(f"deleted {what}")


def _pairs(pairs: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in pairs.items())


aliases = options.command_group("Manage aliases, names that move between runs: set, list, delete.")

Alias = Annotated[str, Positional("The alias, with or without @.", metavar="NAME")]


@aliases.command("set")
def set_alias(
    alias: Alias,
    run: Annotated[str, Positional("The run it points to.", metavar="RUN")],
    dataset: options.AnyDataset = None,
) -> None:
    """Point an alias at a run; create it if it does not exist.

    Example: ndcg-track alias set baseline bm25
    """
    from ndcg_tracker.questions.gate.command import person

    with options.tracker() as tracker:
        target = tracker.set_alias(alias, run, dataset, set_by=person())
    options.say(f"@{alias.removeprefix('@')} is run {target.name!r} ({target.id}) of dataset {target.dataset!r}")


@aliases.command("list")
def list_aliases(dataset: options.AnyDataset = None, format: options.Output = "text") -> None:
    """List the aliases.

    Example: ndcg-track alias list
    """
    from ndcg_tracker.render.report import read_by_people

    with options.tracker() as tracker:
        stored_aliases = tracker.aliases(dataset)
    columns = ["run", "run_id", "dataset", "updated_at_utc"]
    rows = [(alias.name, *(getattr(alias, column) for column in columns)) for alias in stored_aliases]
    options.show_list(format, read_by_people("alias", *columns), rows)


@aliases.command("delete")
def delete_alias(alias: Alias, dataset: options.AnyDataset = None) -> None:
    """Delete an alias; the run stays.

    Example: ndcg-track alias delete baseline
    """
    from ndcg_tracker.questions.gate.command import person

    with options.tracker() as tracker:
        deleted = tracker.delete_alias(alias, dataset, deleted_by=person())
    options.say(f"deleted alias @{deleted.name}; run {deleted.run!r} stays")


@takes(storing.rescore)
def rescore(
    asked: Asked, runs: options.SomeRuns = None, every: options.EveryRun = False, format: options.Output = "text"
) -> None:
    """Evaluate stored runs under newer labels or more metrics.

    Without --labels, the command uses the latest labels of each --judge. Without --metric, it uses the metrics that
    each run already has. rescore --all --judge '*' evaluates every run under the latest labels of every judge.

    Example: ndcg-track rescore --all -m ndcg@20
    """
    from ndcg_tracker.render.formats import metrics_as

    rescored = asked.answered(storing.rescore, references=runs or ())
    rows = [
        ((run.run, run.run_id, run.dataset, run.label_set_version), new, run.judge)
        for run in rescored
        for new in run.metrics
    ]
    for run in rescored:
        if run.pruned_at_utc is not None:
            options.say(
                f"{run.run}: left out: not all its items are here since {run.pruned_at_utc}; to restore them, ingest "
                "its file again under the same name"
            )
        elif not run.metrics:
            whose = f" of judge {run.judge!r}" if run.judge else ""
            options.say(f"{run.run}: nothing new to compute under labels version {run.label_set_version}{whose}")
    if rows or format == "json":
        names = ("run", "run_id", "dataset", "label_set_version")
        options.show(metrics_as(format, names, rows, **options.screen()))


datasets = options.command_group("Seal a share of a dataset, so that only gates read it: split.")


@datasets.command("split")
@takes(Tracker.split_dataset)
def split_dataset(asked: Asked) -> None:
    """Move a share of the groups, with their labels, to a sealed database.

    NDCG_TRACK_SEALED_DB names that database: a new SQLite file, or a Postgres database, that only CI can read. Only
    ingest and gate use it, as dataset NAME-sealed.

    Example: ndcg-track datasets split shop --seal .5 --metric ndcg@10 --margin .01
    """
    done = asked.answered(Tracker.split_dataset)
    what = "done already" if done.done_before else "split" if done.dataset else "moved"
    rest = f", {done.n_open:,} in {done.dataset!r}" if done.dataset else f" with {counted(done.n_runs, 'run')}"
    parts = f"{counted(done.n_sealed, 'group')} in {done.sealed!r}{rest}"
    options.say(f"{what}: {parts}; only ingest and gate may use the sealed part")
    for backup in done.deleted:
        options.say(f"note: deleted {backup}, which held the sealed part")


groups = options.command_group("Manage attributes (for slices) and weights of groups: set, list.")


@groups.command("set")
@takes(storing.set_groups)
def set_groups(asked: Asked) -> None:
    """Set attributes and weights of groups from a file.

    Every column except group is an attribute; the column weight is the weight. An empty cell removes the attribute or
    weight. Groups and columns that the file lacks keep their values. What it says of groups that are not
    stored yet is kept for them. If weights change, stored means are recomputed.

    Example: ndcg-track groups set groups.csv --attribute product
    """
    options.say(_groups_told(asked.answered(storing.set_groups)))


@groups.command("list")
def list_groups(dataset: options.ExistingDataset = None, format: options.Output = "text") -> None:
    """List the groups of a dataset with their weights and attributes.

    Example: ndcg-track groups list
    """

    with options.tracker() as tracker:
        stored_groups = tracker.groups(options.or_the_only_one(dataset))
    names = sorted({name for group in stored_groups for name in group.attributes})
    rows = [(group.key, group.weight, *(group.attributes.get(name) for name in names)) for group in stored_groups]
    options.show_list(format, ["group", "weight", *names], rows)


def _groups_told(done: GroupsSet) -> str:
    set_here, parts = [], []
    if done.attributes:
        set_here.append(f"{counted(len(done.attributes), 'attribute')} ({', '.join(done.attributes)})")
    if done.has_weights:
        set_here.append("weights")
    if set_here:
        parts = [f"set {' and '.join(set_here)} of {counted(done.n_groups, 'group')} of dataset {done.dataset!r}"]
    if done.default_weight is not None:
        weight = f"{done.default_weight:g}".replace("nan", "none")
        parts.append(f"{units()} of dataset {done.dataset!r} without a weight have {weight}")
    if done.n_recomputed:
        parts.append(f"recomputed {counted(done.n_recomputed, 'weighted mean')}")
    if done.n_unknown:
        be, they = ("is", "it comes") if done.n_unknown == 1 else ("are", "they come")
        new = f"{counted(done.n_unknown, 'group')} of the file {be} not in the dataset yet, first"
        parts.append(f"{new} {done.first_unknown!r}: this is kept until {they}")
    return "; ".join(parts)


texts = options.command_group("Manage query texts, item titles and links: add, list, delete.")

OneGroup = Annotated[str | None, Option("Only texts of this group.", ("--group",), metavar="KEY", default="all")]


@texts.command("add")
@takes(storing.add_texts)
def add_texts(asked: Asked) -> None:
    """Add texts that explain and report show next to ids.

    A row with only a group has the text of the query. A row with only an item has its title, text and URL in every
    group; with both, those in this group. An empty cell removes a text. Rows and columns that the file lacks stay
    unchanged. Texts belong to the dataset, change no result, and leave the database only with --texts.

    Example: ndcg-track texts add products.csv --title name --url link
    """
    options.say(_texts_told(asked.answered(storing.add_texts)))


@texts.command("list")
def list_texts(
    dataset: options.ExistingDataset = None, group: OneGroup = None, format: options.Output = "text"
) -> None:
    """List the texts of a dataset.

    Example: ndcg-track texts list --group 'light tent'
    """

    with options.tracker() as tracker:
        stored_texts = tracker.texts(options.or_the_only_one(dataset), group=group)
    names = ["group", "item", "text", "title", "url"]
    options.show_list(format, names, [[getattr(of, name) for name in names] for of in stored_texts])


@texts.command("delete")
def delete_texts(dataset: options.ExistingDataset = None, group: OneGroup = None, yes: options.Yes = False) -> None:
    """Delete the texts of a dataset.

    You cannot undo this.

    Example: ndcg-track texts delete --group 'light tent'
    """

    with options.tracker() as tracker:
        with tracker.store().read() as tx:
            of = tx.datasets.known(options.or_the_only_one(dataset)).name
        n_texts = len(tracker.texts(of, group=group))
        what = f"{counted(n_texts, 'text')} of {'' if group is None else f'group {group!r} of '}dataset {of!r}"
        options.confirm_deletion(what, yes=yes or not n_texts)
        tracker.delete_texts(of, group=group)
    options.say(f"deleted {what}")


def _texts_told(done: TextsAdded) -> str:

    named = [
        counted(n_texts, kind) + more
        for n_texts, kind, more in (
            (done.n_groups, "group", ""),
            (done.n_items, "item", ""),
            (done.n_pairs, "pair", " of group and item"),
        )
        if n_texts
    ]
    parts = [f"added texts of {', '.join(named)} to dataset {done.dataset!r}"]
    if done.n_unknown:
        be = "is" if done.n_unknown == 1 else "are"
        parts.append(
            f"{counted(done.n_unknown, 'group')} of the file {be} not in the dataset, first {done.first_unknown!r}"
        )
    return "; ".join(parts)
