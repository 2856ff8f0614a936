"""``ndcg-track gate``: whether a candidate may replace the baseline."""

from __future__ import annotations

import getpass
import inspect
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import Everyday, Option, Positional
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate import gate as ask_gate
from ndcg_tracker.questions.gate import reset_gate
from ndcg_tracker.questions.gate import set_policy as ask_policy
from ndcg_tracker.rules import refuse
from ndcg_tracker.words.texts import counted, short_name

if TYPE_CHECKING:
    from ndcg_tracker.api.tracker import Tracker

FAIL, INCONCLUSIVE = 3, 4


Junit = Annotated[str | None, Option("Write a JUnit report.", metavar="FILE")]
ReportPage = Annotated[
    str | None, Option("Write the report page; Markdown output then has its picture and a link.", metavar="FILE")
]


@dataclass(frozen=True)
class Outputs:
    """The files that a decision is written to."""

    junit: Junit = None
    report: ReportPage = None


@takes(ask_gate, Outputs, runs=("candidate", "baseline", "repeats"))
def gate(
    asked: Asked,
    baseline: Annotated[
        str | None,
        Everyday(
            "Run to compare against, preferably a pinned @alias.",
            metavar="RUN",
            default="required, except on sealed data whose split has fixed it",
        ),
    ] = None,
    format: options.Output = "text",
) -> None:
    """Decide whether a candidate may replace the baseline.

    Prints PASS, FAIL or INCONCLUSIVE, and records the decision. Exit codes: 0 PASS or overridden, 3 FAIL, 4
    INCONCLUSIVE, 5 not comparable, 2 bad input.

    --suite decides on the macro mean of a suite, in which each dataset counts once. Add --by dataset and --slice-margin
    to limit the drop of each dataset.

    If the baseline is an alias with a policy (policy set), its rules hold, and only stricter ones may be given. In a
    job of GitHub Actions, the report is also appended to the job's summary.

    Example: ndcg-track gate dense --baseline @baseline --margin 0.01
    """
    from ndcg_tracker.questions.gate.say import gate_junit, gate_said
    from ndcg_tracker.render.whole_file import appended_summary, artifact_link, summary_path, whole_file

    if baseline is not None:
        asked = replace(asked, named={"baseline": baseline, **asked.named})
    if "dataset" in asked.named:
        with options.tracker() as tracker:
            if tracker.is_sealed(asked.named["dataset"]):
                _gate_sealed(tracker, asked, format)
                return
    refuse("complete gate", {"baseline": baseline})
    summary = summary_path()
    to, asked = asked.apart(Outputs)
    with ExitStack() as files:
        write_junit = files.enter_context(whole_file(to.junit, "--junit"))
        write_report = files.enter_context(whole_file(to.report, "--report"))
        append_summary = files.enter_context(appended_summary(summary)) if summary else None
        picture = ""
        with options.tracker() as tracker:
            unrecorded = {} if options.surroundings.in_memory is None else {"dry_run": True}
            by_whom = person() if "acknowledge" in asked.named else None
            result = asked.of(tracker.gate, acknowledged_by=by_whom, **unrecorded)
            gated, said = result.gated, gate_said(result.gated, options.as_option)
            if to.report is not None:
                page = tracker.gate_report(result, output=to.report)
                write_report(page.to_html())
                picture = page.to_markdown(artifact_link(to.report))
        write_junit(gate_junit(gated, options.as_option))
        if append_summary is not None:
            append_summary(said.in_format("markdown") + picture + "\n")
    shown = options.answer_text(said, format)
    show_decision(
        shown + (picture if format == "markdown" else ""),
        0 if gated.is_accepted else FAIL if gated.decision.decision == "fail" else INCONCLUSIVE,
        is_unneeded="acknowledge" in asked.named and gated.acknowledgement is None,
    )


def _gate_sealed(tracker: Tracker, asked: Asked, format: options.OutputFormat) -> None:
    """Show the one bit of a gate on a sealed dataset; refuse options that could reveal more (InputError)."""
    from ndcg_tracker.questions.gate.gather_sealed import sealed_said

    taken = inspect.signature(tracker.gate_sealed).parameters
    refused = [name for name in asked.named if name not in taken]
    if refused:
        raise InputError(
            f"{options.as_option(refused[0], '')} does not go with sealed dataset {asked.named['dataset']!r}: the "
            "split has fixed the rules of its gates",
            advice="leave it out",
        )
    result = asked.of(tracker.gate_sealed)
    text = options.answer_text(sealed_said(result), format)
    show_decision(text, 0 if result.is_accepted else INCONCLUSIVE, is_unneeded=False)


policies = options.command_group("Manage policies, the rules of an alias.")

PolicyOf = Annotated[str, Positional("The alias, with or without @.", metavar="ALIAS")]


@policies.command("set")
@takes(ask_policy)
def set_policy(asked: Asked) -> None:
    """Set the rules of every gate against an alias.

    They replace earlier rules. gate CANDIDATE --baseline @ALIAS then takes them all, and refuses looser ones.

    Example: ndcg-track policy set prod --margin .01 --budget .05 --looks 40
    """
    from ndcg_tracker.questions.gate.gather_policy import rules_words

    policy = asked.answered(ask_policy, set_by=person())
    options.say(f"@{policy.alias} of dataset {policy.dataset!r} has the policy: {rules_words(policy.rules)}")


@policies.command("show")
def show_policies(
    alias: Annotated[str | None, Positional("Only of this alias.", metavar="[ALIAS]")] = None,
    dataset: options.AnyDataset = None,
    format: options.Output = "text",
) -> None:
    """Show the policies in force.

    Example: ndcg-track policy show prod
    """
    from ndcg_tracker.questions.gate.gather_policy import no_policy, rules_words
    from ndcg_tracker.render.report import read_by_people

    name = None if alias is None else alias.removeprefix("@")
    with options.tracker() as tracker:
        shown = [policy for policy in tracker.policies(dataset) if name in (None, policy.alias)]
    if name is not None and not shown:
        raise no_policy(name, dataset)
    told, name_of = (dict, str) if format == "json" else (rules_words, short_name)
    rows = [(of.alias, of.dataset, told(of.rules), name_of(of.set_by), of.set_at_utc) for of in shown]
    options.show_rows(format, read_by_people("alias", "dataset", "rules", "set_by", "set_at_utc"), rows)


@policies.command("history")
def show_policy_history(alias: PolicyOf, dataset: options.AnyDataset = None, format: options.Output = "text") -> None:
    """Show who changed a policy or its budget, and when.

    Example: ndcg-track policy history prod
    """
    with options.tracker() as tracker:
        acts = tracker.policy_history(alias, dataset)
    if format == "text":
        acts = [replace(act, by=short_name(act.by)) for act in acts]
    options.show_fields(format, ["at_utc", "by", "rule", "before", "after"], acts)


@policies.command("reset")
@takes(reset_gate, but=["baseline"])
def reset_policy(asked: Asked, alias: PolicyOf) -> None:
    """Restart the budget of an alias, and record the reason.

    Example: ndcg-track policy reset prod --reason 'new query log'
    """
    with options.tracker() as tracker:
        pinned, n_looks = tracker.reset_gate(alias, **asked.named, reset_by=person())
    looks = f"{counted(n_looks, 'look')} no longer count{'s' if n_looks == 1 else ''}"
    options.say(f"the budget of @{pinned.name} on {pinned.dataset!r} starts again; {looks}")


def show_decision(text: str, code: int, *, is_unneeded: bool) -> None:
    """Print a decision and exit with its exit code; ``is_unneeded``: whether it was overridden without need."""
    if is_unneeded:
        options.say("note: PASS needs no --acknowledge; nothing was overridden")
    options.show_decision(text, code)


def person() -> str:
    """Return the name of the person who overrides a decision: the git user, else the user of this machine."""
    settings = [_git_setting("user.name"), _git_setting("user.email")]
    name, email = settings
    if name:
        return f"{name} <{email}>" if email else name
    try:
        return os.environ.get("USER") or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def _git_setting(name: str) -> str:
    try:
        answer = subprocess.run(
            ["git", "config", "--get", name],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
