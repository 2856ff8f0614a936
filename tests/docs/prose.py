"""The prose of the project, read from pages and from source: its sentences, their lengths, and words to avoid.

python tests/docs/prose.py            # words per sentence (median, 95th percentile), for pages and source
python tests/docs/prose.py --words    # each place with words to avoid
python tests/docs/prose.py --long 40  # each sentence of more than 40 words
"""

import argparse
import ast
import io
import re
import statistics
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What a native speaker would have to read twice, each with what to write instead.
WORDS_TO_AVOID = {
    r"(?<!there )(?<!There )\b(?:is|are|was|were) no\b(?! longer)": "'is not a ...' or 'has no ...'",
    r"\b(?:is|are|was|were|be|been) told\b": "say who says it: 'the command prints', 'a note says'",
    r"\bbut for\b": "'except' or 'apart from'",
    r"\bstands?\b(?!-)(?! for\b)(?! out\b)(?! up\b)(?! in their places: were\b)": "'is'",
    r"\bone asks\b": "name the question",
    r"\bnever guessed\b": "say the rule",
    r"\bwitness(?:es)?\b": "'independent'",
    r"\bmakes it again\b": "'recreate it with:'",
    r"\b[Ww]ith less than\b": "'with fewer than'",
    r"\bmay be left out\b": "'is optional'",
    r"\bis (?:\w+ )?spelled out\b": "'is written in full'",
    r"\bspelled (?:as in the|otherwise)\b": "'written as in the ...'",
    r"\b(?<!padded )[Aa]like\b": "'the same', 'in the same way' or 'both'",
    r"\b(?i:whoever)\b": "'anyone who'",
    r"\b(?:thereof|lest|wherein|mended)\b": "a plain word",
    r"\bheld against\b": "'compared with'",
    r"(?<!`)\bbeside\b(?!`)": "'next to' or 'with'",
    r"\b[Tt]he newest\b": "'the latest'",
    r"\bno named judge\b": "'the unnamed judge'",
    r"\bthe only one there is\b": "'else the only one'",
}

_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
_NOT_PROSE = re.compile(r"^\s*(?:#|\||<|!\[|:::|---|\[[^\]]+\]:|[├└│])")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`+[^`]+`+")
_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!\bal\.)(?<=[.!?])[\"')\]*]*\s+(?=[\"'(\[*]*[A-Z0-9`@])")


@dataclass(frozen=True)
class Passage:
    """A paragraph, a list item or a text of the program, with the place it is at."""

    path: Path
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    def sentences(self) -> list[str]:
        return [part for part in _END.split(" ".join(self.text.split())) if _words(part)]


def pages() -> list[Path]:
    """Return every page that people read: the site, README and CONTRIBUTING, and the notes beside examples."""
    beside = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    folders = [ROOT / "docs", ROOT / "examples", ROOT / "benchmarks", ROOT / "conda"]
    return beside + sorted(page for folder in folders for page in folder.rglob("*.md"))


def sources() -> list[Path]:
    """Return every module of the program."""
    return sorted((ROOT / "ndcg_tracker").rglob("*.py"))


def page_passages(path: Path) -> Iterator[Passage]:
    """Yield the paragraphs and list items of a page; no code, no table, no heading."""
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), path.read_text("utf-8"), flags=re.DOTALL)
    start, gathered, fenced = 0, list[str](), False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if _FENCE.match(line):
            fenced = not fenced
            line = ""
        elif fenced:
            continue
        is_item = _ITEM.match(line)
        if gathered and (not line.strip() or is_item or _NOT_PROSE.match(line)):
            yield Passage(path, start, "\n".join(gathered))
            gathered = []
        if not line.strip() or _NOT_PROSE.match(line):
            continue
        start = start if gathered else number
        prose = _CODE.sub("Code", _LINK.sub(r"\1", _ITEM.sub("", line)))
        gathered.append(prose)


def source_passages(path: Path) -> Iterator[Passage]:
    """Yield the docstrings, texts and comments of a module; a value within a text is read as one word."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = [str(v.value) if isinstance(v, ast.Constant) else "x" for v in node.values]
            yield Passage(path, node.lineno, "".join(values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            for paragraph in re.split(r"\n\s*\n", node.value):
                if " " in paragraph.strip() and not paragraph.lstrip().startswith((">>>", "SELECT", "WITH ")):
                    yield Passage(path, node.lineno, paragraph)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Passage(path, token.start[0], token.string.lstrip("# "))


def avoided(passage: Passage) -> list[str]:
    """Return one line for each of the words to avoid in a passage: the place, the words, what to write instead."""
    text = " ".join(passage.text.split())
    found = [(match, instead) for words, instead in WORDS_TO_AVOID.items() for match in re.finditer(words, text)]
    return [f"{passage.place}: {_around(text, match)!r}; write {instead}" for match, instead in found]


def lengths(passages: Iterator[Passage]) -> list[int]:
    """Return the words of each sentence of four words or more, ascending."""
    counts = (_words(sentence) for passage in passages for sentence in passage.sentences())
    return sorted(count for count in counts if count >= 4)


def _words(sentence: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def _around(text: str, found: re.Match[str]) -> str:
    return text[max(found.start() - 30, 0) : found.end() + 20]


def _all(of: str) -> Iterator[Passage]:
    if of == "pages":
        return (passage for page in pages() for passage in page_passages(page))
    return (passage for module in sources() for passage in source_passages(module))


def main() -> None:
    parser = argparse.ArgumentParser(description="Sentence lengths and words to avoid.")
    parser.add_argument("--words", action="store_true", help="print each place with words to avoid")
    parser.add_argument("--long", type=int, metavar="N", help="print each sentence of more than N words")
    parser.add_argument("paths", nargs="*", help="parts of the paths to look at; default: all")
    asked = parser.parse_args()
    for of in ("pages", "source"):
        chosen = [p for p in _all(of) if not asked.paths or any(path in p.place for path in asked.paths)]
        if asked.words:
            print(*(line for passage in chosen for line in avoided(passage)), sep="\n")
        elif asked.long:
            for passage in chosen:
                for sentence in passage.sentences():
                    if _words(sentence) > asked.long:
                        print(f"{passage.place}: {_words(sentence)} words: {sentence}")
        elif counts := lengths(iter(chosen)):
            tail = counts[int(0.95 * (len(counts) - 1))]
            print(f"{of}: {len(counts)} sentences, median {statistics.median(counts):g} words, 95% {tail}")


if __name__ == "__main__":
    main()
