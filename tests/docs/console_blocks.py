"""Runs the ```console blocks of a document and compares what is printed with what the document shows.

In a block, a line that begins with `$ ` is a command (it goes on in the next line after a backslash or inside quotes);
the lines up to the next command are its output, standard error included. `...` in a line stands for any text, a line
of `...` alone for any number of lines, and one time of day is as good as another. All blocks of a document run in one
shell, in one folder, which has `examples` as a checkout has. A command that fails must be followed by `$ echo $?`.
`postgresql://` URLs in commands are replaced by the test server's.

    python tests/docs/console_blocks.py docs/sql.md     # writes what is printed now into the document
"""

import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
POSTGRES_URL = re.compile(r"postgresql(?:\+psycopg)?://[^\s'\"`]+")
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNSEEN_DEMO = re.compile(r"\bndcg-track demo (?:> /dev/null 2>&1|&> /dev/null)")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?")
_END_OF_COMMAND = "--- end of command"


@dataclass
class Step:
    """One command of a document, the output that the document shows, and where it stands."""

    command: str
    expected: list[str]
    line: int
    fails: bool = False


@dataclass
class Outcome:
    """What a command printed, and its exit code."""

    output: list[str]
    status: int


def steps_of(text: str) -> list[Step]:
    """Return the commands of all console blocks of a document, in order."""
    steps: list[Step] = []
    for block in _BLOCK.finditer(text):
        first_line = text.count("\n", 0, block.start(1)) + 1
        steps += _steps_of_block(block.group(1).splitlines(), first_line)
    for step, following in itertools.pairwise(steps):
        step.fails = following.command.strip() == "echo $?"
    return steps


def _steps_of_block(lines: list[str], first_line: int) -> list[Step]:
    steps: list[Step] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if not line.startswith("$ "):
            if not steps:
                raise ValueError(f"line {first_line + position - 1}: a console block begins with a command")
            steps[-1].expected.append(line.rstrip())
            continue
        command, place = line[2:], first_line + position - 1
        while _goes_on(command) and position < len(lines):
            command += "\n" + lines[position]
            position += 1
        steps.append(Step(command, [], place))
    return steps


def _goes_on(command: str) -> bool:
    if command.endswith("\\"):
        return True
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False


def run_steps(
    steps: list[Step],
    folder: Path,
    postgres_url: str | None,
    *,
    programs: Path | None = None,
    demo: Path | None = None,
) -> list[Outcome]:
    """Run the commands in one shell in a folder and return the outcome of each.

    ``programs``: a folder whose programs come before those that are installed (see ``preloaded``). ``demo``: what
    ``ndcg-track demo`` leaves, copied where a page has it run and shows nothing of it: most pages begin so.
    """
    (folder / "examples").symlink_to(REPOSITORY / "examples")
    script = ["exec 2>&1"]
    for step in steps:
        command = POSTGRES_URL.sub(lambda _: shlex.quote(postgres_url or ""), step.command)
        if demo is not None:
            command = UNSEEN_DEMO.sub(f"cp -R {shlex.quote(str(demo))}/. .", command)
        script += [command, "status=$?", f"printf '\\n{_END_OF_COMMAND} %d\\n' $status", "(exit $status)"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=environment_of(folder, postgres_url, programs),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
    )
    outcomes: list[Outcome] = []
    rest = done.stdout.decode()
    for end in re.finditer(rf"(?P<output>.*?)\n{_END_OF_COMMAND} (?P<status>\d+)\n", rest, re.DOTALL):
        output = [line.rstrip() for line in end["output"].splitlines()]
        outcomes.append(Outcome(output, int(end["status"])))
    if len(outcomes) != len(steps):
        raise RuntimeError(f"the shell ended after {len(outcomes)} of {len(steps)} commands: {rest[-2000:]}")
    return outcomes


def environment_of(folder: Path, postgres_url: str | None, programs: Path | None = None) -> dict[str, str]:
    """Return the variables that the commands of a document run under."""
    places = [programs, Path(sys.executable).parent, os.environ.get("PATH", os.defpath)]
    environment = {
        "PATH": os.pathsep.join(str(place) for place in places if place),
        "HOME": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "OMP_NUM_THREADS": "1",
    }
    if postgres_url:
        environment["PG_URL"] = postgres_url
    return environment


def matches(expected: list[str], printed: list[str]) -> bool:
    """Return whether the printed lines are those that the document shows, `...` standing for anything."""
    pattern = ""
    for line in _comparable(expected):
        any_text = ".*".join(re.escape(part) for part in line.split("..."))
        pattern += "(?:.*\n)*" if line.strip() == "..." else f"{any_text}\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _comparable(printed))) is not None


def _comparable(lines: list[str]) -> list[str]:
    return _TIME.sub("TIME", "\n".join(lines)).strip("\n").split("\n") if any(lines) else []


def rewritten(text: str, outcomes: list[Outcome]) -> str:
    """Return the document with the outputs that no longer match replaced by those printed now."""
    remaining = iter(outcomes)

    def block_of(block: re.Match[str]) -> str:
        lines = ["```console"]
        for step in _steps_of_block(block.group(1).splitlines(), 1):
            outcome = next(remaining)
            kept = matches(step.expected, outcome.output)
            lines += [f"$ {step.command}", *(step.expected if kept else outcome.output)]
        return "\n".join([*lines, "```"])

    return _BLOCK.sub(block_of, text)


def main(paths: list[str]) -> None:
    """Rewrite documents in place; PG_URL names the Postgres database for those that need one."""
    if not paths:
        sys.exit(
            "name the documents: [PG_URL=postgresql://...] python tests/docs/console_blocks.py README.md docs/X.md"
        )
    for name in paths:
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        if "PG_URL" not in os.environ and any(POSTGRES_URL.search(step.command) for step in steps_of(text)):
            sys.exit(f"{name} has commands for Postgres; give PG_URL=postgresql://..., a database that may be written")
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent, "work")
            folder.mkdir()
            outcomes = run_steps(steps_of(text), folder, os.environ.get("PG_URL"))
        path.write_text(rewritten(text, outcomes), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
