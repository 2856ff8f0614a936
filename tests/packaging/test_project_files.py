import re
import subprocess
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import ndcg_tracker

REPOSITORY = Path(__file__).resolve().parents[2]
MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(?:home|Users|root|work|opt|srv|mnt)/[\w.-]+|[A-Z]:\\Users\\")
NOT_OURS = {"dist", "build", "site", "__pycache__", "data"}


def project_files() -> list[Path]:
    """What git tracks or would track; in an unpacked sdist, everything but caches and environments."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    if (REPOSITORY / ".git").exists() and listed.returncode == 0:
        found = [REPOSITORY / name for name in listed.stdout.decode().split("\0") if name]
    else:
        hidden = re.compile(r"\.(?!ci$|git)")
        found = [
            path
            for path in REPOSITORY.rglob("*")
            if not any(hidden.match(part) or part in NOT_OURS for part in path.relative_to(REPOSITORY).parts)
        ]
    return [path for path in found if path.is_file()]


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = []
    for path in project_files():
        text = path.read_bytes().decode("utf-8", "replace")
        for match in MACHINE_PATH.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(REPOSITORY)}:{line}: {match.group()}")
    assert found == []


def test_the_pattern_finds_such_paths() -> None:
    paths = ["/" + "home/ann/x", "C:" + "\\Users\\ann", "(/" + "root/.cache)"]
    assert all(MACHINE_PATH.search(path) for path in paths)
    assert not MACHINE_PATH.search("https://example.org/home/x ./work/x $HOME/opt/x /tmp/x")


def test_the_version_is_the_same_everywhere() -> None:
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    version = config["project"]["version"]
    assert ndcg_tracker.__version__ == version
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)[0] in (version, "Unreleased")


def test_the_kept_versions_are_those_that_the_project_allows() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [Requirement(text) for text in project["dependencies"]]
    asked += [Requirement(text) for extra in ("test", "lint", "docs") for text in extras[extra]]
    kept: dict[str, list[str]] = {}
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE):
        kept.setdefault(canonicalize_name(name), []).append(version)
    assert "://" not in text
    for requirement in asked:
        if requirement.name != "ndcg-tracker":
            versions = kept[canonicalize_name(requirement.name)]
            assert all(version in requirement.specifier for version in versions), (str(requirement), versions)


def test_the_conda_recipe_asks_for_the_same() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((REPOSITORY / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    asked = {Requirement(text).name: Requirement(text).specifier for text in project["dependencies"]}
    needed = dict(line.split(" ", 1) for line in recipe["requirements"]["run"])
    assert needed.pop("python") == project["requires-python"]
    assert {name: SpecifierSet(text) for name, text in needed.items()} == asked
    assert recipe["context"]["version"] == project["version"]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {to}" for name, to in project["scripts"].items()]


def test_links_between_files_lead_somewhere() -> None:
    """Those of docs/ are checked with their anchors by ``mkdocs build --strict``."""
    found = [path for path in project_files() if path.suffix == ".md" and path.parent != REPOSITORY / "docs"]
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} <= {path.name for path in found}
    dead = []
    for path in found:
        for link in re.findall(r"\]\(([^()\s]+)\)", path.read_text(encoding="utf-8")):
            target = link.partition("#")[0]
            if target and "://" not in target and not target.startswith("mailto:"):
                dead += [f"{path.name}: {link}"] if not (path.parent / target).exists() else []
    assert dead == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (REPOSITORY / "ndcg_tracker" / "py.typed").is_file()


def test_the_extra_all_has_every_extra_of_users() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    assert everything.name == "ndcg-tracker"
    assert everything.extras == set(extras) - {"all", "test", "lint", "bench", "docs"}


def test_the_page_list_for_agents_names_pages_of_the_site() -> None:
    text = (REPOSITORY / "docs" / "llms.txt").read_text(encoding="utf-8")
    pages = re.findall(r"\]\(([^)]+)/\)", text)
    assert len(pages) == text.count("](")
    assert [page for page in pages if not (REPOSITORY / "docs" / f"{page}.md").is_file()] == []
