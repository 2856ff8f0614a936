"""Builds the sdist and from it the wheel, installs the wheel alone, and runs the demo far from the repository."""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ndcg-wheel-") as folder:
        wheel = built_wheel(Path(folder, "dist"))
        check_contents(wheel)
        python = installed(wheel, Path(folder, "environment"))
        check_installation(python, Path(folder, "elsewhere"))
    print(f"{wheel.name}: built, complete, and its demo runs")


def built_wheel(dist: Path) -> Path:
    """Build both; `build` makes the wheel from the sdist, so what the sdist lacks is noticed."""
    run([sys.executable, "-m", "build", "--outdir", str(dist), str(REPOSITORY)], cwd=REPOSITORY)
    (wheel,) = dist.glob("*.whl")
    assert len(list(dist.glob("*.tar.gz"))) == 1, "no sdist was built"
    return wheel


def check_contents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    names = sorted(packed)
    assert "ndcg_tracker/py.typed" in names, "py.typed is not in the wheel"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names), "LICENSE is not in the wheel"
    foreign = [name for name in names if not name.startswith(("ndcg_tracker/", "ndcg_tracker-"))]
    assert not foreign, f"the wheel installs {foreign} beside the package"
    assert not any("__pycache__" in name for name in names), "the wheel carries compiled files"

    here = {path.name: path.read_bytes() for path in (REPOSITORY / "migrations" / "versions").glob("*.py")}
    prefix = "ndcg_tracker/migrations/versions/"
    there = {name.removeprefix(prefix): data for name, data in packed.items() if name.startswith(prefix)}
    assert here, "the repository has no migrations"
    assert sorted(here) == sorted(there), f"revisions differ: {sorted(here)} here, {sorted(there)} in the wheel"
    assert here == there, "a migration in the wheel differs from the repository's"
    assert "ndcg_tracker/migrations/env.py" in names, "the wheel lacks the migrations' env.py"

    package = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "ndcg_tracker").rglob("*.py")}
    missing = package - set(names)
    assert not missing, f"the wheel lacks {sorted(missing)}"


def installed(wheel: Path, environment: Path) -> Path:
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], cwd=environment)
    return python


def check_installation(python: Path, elsewhere: Path) -> None:
    elsewhere.mkdir()
    where = run([str(python), "-c", "import ndcg_tracker; print(ndcg_tracker.__file__)"], cwd=elsewhere).strip()
    assert str(python.parent.parent) in where, f"the package was imported from {where}, not from the wheel"
    output = run([str(python.with_name("ndcg-track")), "demo"], cwd=elsewhere)
    assert output.strip(), "the demo printed nothing"
    versions = {
        run([str(python.with_name(name)), "--version"], cwd=elsewhere) for name in ("ndcg-track", "ndcg-tracker")
    }
    assert len(versions) == 1, f"the two names of the program differ: {versions}"


def run(command: list[str], *, cwd: Path) -> str:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "NDCG_TRACK_DB")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
