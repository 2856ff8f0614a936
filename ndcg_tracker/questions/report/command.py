"""``ndcg-track report``: a comparison as a page."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Annotated

from ndcg_tracker.asked import Everyday, Positional
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.report import report as ask_report
from ndcg_tracker.rules import refuse


@takes(ask_report, runs=("baseline", "candidates"))
def report(
    asked: Asked,
    candidates: Annotated[
        list[str] | None, Positional("One or more runs to compare with the baseline.", metavar="CANDIDATE...")
    ] = None,
    output: Annotated[str, Everyday("File of the page.", ("--output", "-o"), metavar="FILE")] = "report.html",
    all: Annotated[bool, Everyday("Compare the baseline with all other runs.")] = False,
) -> None:
    """Write a comparison as a web page.

    The page shows every group, the lists of the groups that changed, and the history. It is one file and needs no
    network. The page draws the first metric group by group. With several candidates, it has a tab for each and a
    picture of all pairs.

    --suite shows the verdict over all datasets with a picture of each, a tab for every dataset, and all systems of the
    suite.

    Example: ndcg-track report @baseline dense -o report.html
    """
    from ndcg_tracker.errors import InputError, worded
    from ndcg_tracker.render.whole_file import whole_file

    refuse("complete report", {"candidates": candidates, "all": all})
    runs, dataset = [*asked.positional, *(candidates or ())], asked.named.get("dataset")
    with options.tracker() as tracker, whole_file(output, "--output") as write:
        if all:
            others, left_out = tracker.comparable_others(*runs, **asked.part(tracker.comparable_others))
            for run, why in left_out:
                options.say(f"note: left out {run.name}: {worded(why.message, options.as_option)}")
            runs += [run.name for run in others]  # a name counts before the id of another run
            dataset = others[0].dataset if others else dataset
            if not others:
                raise InputError(f"no other run can be compared with {runs[0]!r}", advice="store one, or name another")
        of_runs = replace(asked, positional=tuple(runs))
        page = of_runs.of(tracker.report, dataset=dataset, output=output).to_html()
        write(page)
    options.say(f"wrote {shlex.quote(output)}: open it in a browser")
