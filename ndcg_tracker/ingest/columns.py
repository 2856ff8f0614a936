"""Find the role of each column: by the name that was given, our own name, or a convention of other tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from ndcg_tracker.errors import ColumnsError, InputError, NdcgTrackerWarning, ReadWarning, argument, warn
from ndcg_tracker.ingest.cells import KEEP_ONE
from ndcg_tracker.ingest.documents import Documents
from ndcg_tracker.ingest.shapes import Recognised
from ndcg_tracker.words.texts import counted, in_a_row, shown

Refused = Callable[..., Exception]

IDS = ("group", "item")
NUMBERS = ("score", "label", "weight")

Deciding = Literal["scores", "ranks"]

RANK = "rank"
"""The column that is read together with scores, to see whether it contradicts them."""
RANK_NAMES = ("rank", "position", "pos", "rk")  # columns whose lowest value is the best
OF_A_FILE = "@"
"""Prefix of the name of a file with one id per line: the groups of JSON responses, in their order."""
JUDGE = "judge"
"""The column of a table of labels that says who gave each."""
REASONS = ("reason", "reasoning", "rationale", "explanation", "justification")
"""The names, in any case, of a column that says why each label was given; the first of them is read."""
EACH_ROW = "=1"
"""In place of the name of a label column: every row is a relevant item, of grade 1."""
_NEGATED = "-"  # before the name of a score column in which the lowest is the best

_OFTEN: dict[str, tuple[str, ...]] = {
    "group": ("query", "queryid", "topic", "user", "userid", "uid", "session", "sessionid", "requestid", "customerid"),
    "item": ("doc", "document", "documentid", "product", "productid", "sku", "movieid", "iid", "items", "asin"),
    "score": (
        *("prediction", "predictions", "predicted", "pred", "preds", "ypred", "yscore", "yhat", "similarity", "scores"),
    ),
    "label": (
        "relevance",
        "rel",
        "grade",
        "gain",
        "target",
        "ytrue",
        "y",
        "judgment",
        "judgement",
        "rating",
        "ratings",
        "click",
        "clicked",
        "purchased",
        "bought",
    ),
}
"""Frequent names of columns, without "_" and "-": errors suggest them, but they are never read unasked."""

ONE_TABLE = "row numbers can identify items only if one table holds both scores and labels"


class ColumnWarning(NdcgTrackerWarning):
    """A warning that a column is read, or is read in a way, that the caller may not expect."""


@dataclass(frozen=True, slots=True)
class Convention:
    """The names that other tools give to the columns of a table.

    ``score``: the names of a score.
    ``label``: the name of a label in any table; ``label_apart``: its name in a table of labels only, because next to
    scores the name means something else. ``beside_relevant``: the columns that a table of labels may have besides
    group and item if it has no label, because every row is a relevant item; the first of them holds numbers.
    ``has_ranks``: whether runs may have a column ``rank``, from 1 for the best, and no scores. ``is_by_rank``: whether
    that column decides even if there are scores. ``is_whole``: whether the names count only if group, item and a label
    or score are all there, because each of them alone often means something else.
    """

    tools: str
    group: str
    item: str
    label: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    label_apart: str | None = None
    beside_relevant: tuple[str, ...] = ()
    has_ranks: bool = False
    is_by_rank: bool = False
    is_whole: bool = False

    def is_of(self, header: Collection[str]) -> bool:
        """Return whether a table has the group, the item and a label or score of this convention, and no others."""
        numbers = {*self.label, *self.score, "label", "score", "rank"}
        if not ({self.group, self.item} <= {*header} and numbers & {*header}):
            return False
        return {*often_called("group", header), *often_called("item", header)} <= {self.group, self.item}

    def holds(self, names: Mapping[str, str]) -> bool:
        """Return whether these are the group and the item of a table."""
        return names.get("group") == self.group and names.get("item") == self.item


CONVENTIONS = (
    Convention("PyTerrier", "qid", "docno", ("label", "rel")),
    Convention("ir_datasets and ir_measures", "query_id", "doc_id", ("relevance",)),
    Convention("ranx", "q_id", "doc_id", label_apart="score"),
    Convention("BEIR and MTEB", "query-id", "corpus-id", label_apart="score"),
    Convention(
        "RecTools", "user_id", "item_id", beside_relevant=("weight", "datetime"), has_ranks=True, is_by_rank=True
    ),
    Convention("RecBole", "user_id:token", "item_id:token", ("rating:float", "label:float")),
    Convention("MS MARCO", "qid", "pid", has_ranks=True),
    Convention("Quepid and OpenSearch", "query", "docid", ("rating",), is_whole=True),
    Convention("Recommenders", "userID", "itemID", ("rating",), ("prediction",), is_whole=True),
    Convention("MovieLens", "userId", "movieId", ("rating",), ("prediction",), is_whole=True),
    Convention("LensKit and Spark", "user", "item", ("rating",), ("prediction",), is_whole=True),
    Convention("Surprise", "uid", "iid", ("r_ui", "rating"), ("est",), is_whole=True),
)


def reason_column(header: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """Return the column that says why each label was given, None if there is none; ``taken``: columns that do not.

    >>> reason_column(["query", "doc", "label", "Rationale"])
    'Rationale'
    """
    return next((name for of in REASONS for name in header if name.lower() == of and name not in taken), None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The roles that a reader looks for in a table, and those that it requires."""

    roles: tuple[str, ...]
    required: tuple[str, ...]


RUN_TABLE = Wanted(("group", "item", "score", "label", "weight"), ("group", "score"))
RUN_APART = Wanted(("group", "item", "score", "weight"), ("group", "item", "score"))
"""A run whose labels are in another table: two tables do not know each other's row numbers."""
LABEL_TABLE = Wanted(("group", "item", "label"), ("group", "item", "label"))


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a table; None stands for the role's own name, or else the name of a convention.

    A column that is named here must exist. If none is named and a table has both names, the table is refused. If they
    are not named, ``label`` and ``weight`` are optional; so is ``item`` in a table with both scores and labels, whose
    items are then identified by the row's number within its group, from 1. ``item=False`` (or "") asks for row numbers
    in any case. ``is_shared``: whether group and item also name columns of a second table, that of the labels or the
    run, so that either table may be in a format without columns. A minus before the name of a ``score`` means that
    the lowest is the best, as for a position. ``group`` and ``item`` may be two names with a comma between them: the
    run's column and the labels'. This also works if only one of the tables is read. ``header``: the names of all
    columns of a delimited file, in order, if its first line is a row; None if that line names them. ``items``: the
    path of the list in each JSON response. All other names are then dotted paths: those of group and weight start in
    the response, those of item, score and label in an element of the list. ``by_rank``: whether a column ``rank``
    decides if scores contradict it (see ``deciding``). ``documents``: what the items are chunks of; if it names a
    column, that column is read in place of the items. ``allow``: the doubtful input that may pass (``asked.DOUBTS``).
    ``groups_share``: the share of the groups that is kept, None for all. ``found``: the columns of the table that is
    being read, by role. ``relevant``: the key of the relevant items in a golden set. ``recognised``: takes what was
    recognised in files whose columns no reader knows. ``beside``: the run of labels, or the labels of a run, whose ids
    then help to recognise them. ``grades``: the numbers that words mean as labels. ``origins``: takes what a file says
    of where the labels of each judge come from (see ``LabelSetRecord.from_runs``).

    >>> Columns(group="qid").name_of("group"), Columns().name_of("item")
    ('qid', 'item')
    """

    group: str | None = None
    item: str | Literal[False] | None = None
    score: str | None = None
    label: str | None = None
    weight: str | None = None
    is_shared: bool = False
    header: tuple[str, ...] | None = None
    items: str | None = None
    by_rank: bool = False
    documents: Documents | None = None
    allow: frozenset[str] = frozenset()
    groups_share: Fraction | None = None
    found: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    relevant: str | None = None
    recognised: list[Recognised] | None = field(default=None, compare=False, repr=False)
    grades: Mapping[str, float] = field(default_factory=dict)
    origins: dict[str, dict[str, list[str]]] = field(default_factory=dict, compare=False, repr=False)
    beside: object = field(default=None, compare=False, repr=False)

    @property
    def by_row_number(self) -> bool:
        """Whether items are identified by row numbers, even if there is an item column."""
        return self.item is False or self.item == ""

    @property
    def has_loose_labels(self) -> bool:
        """Whether labels may be words, lack a number or be there several times, as models give them."""
        return bool(self.grades or self.allow & {"bad-grades", "duplicates:mean"})

    def name_of(self, role: str) -> str:
        """Return the name that was given for a role, else the role's own."""
        return self.given(role) or role

    def given(self, role: str) -> str | None:
        """Return the name that was given for this role, None if there is none."""
        return getattr(self, role, None) or None

    def asked(self, role: str, header: Collection[str], wanted: Wanted) -> str | None:
        """Return the column that was named for a role of a table, None if there is none.

        Unless a column has exactly the given name, a minus before it is dropped, and of two names with a comma the
        run's or the labels' is taken.

        >>> columns = Columns(group="uid,user", score="-position", is_shared=True)
        >>> columns.asked("group", (), RUN_APART), columns.asked("group", (), LABEL_TABLE)
        ('uid', 'user')
        >>> columns.asked("score", ["position"], RUN_APART), columns.asked("item", (), RUN_APART)
        ('position', None)
        """
        name = self.given(role)
        if name is None or name in header:
            return name
        if role == "label" and self.each_is_relevant(header, wanted):
            return None
        if role == "score":
            return name.removeprefix(_NEGATED)
        of_run, comma, of_labels = name.partition(",")
        if not comma or role not in IDS:
            is_of_run = self.is_shared and role == "group" and name.startswith(OF_A_FILE)
            return None if is_of_run and wanted is LABEL_TABLE else name
        return (of_labels if wanted is LABEL_TABLE else of_run).strip()

    def if_twice(self, wanted: Wanted) -> str:
        """Return what to do about an item that a search found twice: it may be a document with several chunks."""
        name = self.asked("item", (), wanted)
        if name is None or wanted is LABEL_TABLE or self.documents is not None or not ("." in name or "doc" in name):
            return KEEP_ONE
        rather = f"{argument('item_to_document', name)} in place of {argument('item', name)}"
        return f"{KEEP_ONE}, or, where these are chunks of one document, give {rather}"

    def asked_beside(self, header: Collection[str], wanted: Wanted) -> list[str]:
        """Return the columns that were named for wanted roles but are not in ``header``."""
        names = [self.asked(role, header, wanted) for role in wanted.roles]
        return [name for name in names if name and name not in header]

    def any_given(self) -> str | None:
        """Return the first role that was given a name for this table only, None if there is none."""
        roles = ("items", *(NUMBERS if self.is_shared else (*IDS, *NUMBERS)))
        return next((role for role in roles if self.given(role)), None)

    def names(self, header: Sequence[str], wanted: Wanted, refused: Refused) -> dict[str, str]:
        """Return the column of each wanted role that is there; ranks may replace scores (see ``are_ranks``).

        Raises: the error of ``refused`` for a missing column that is required or was named, for one that appears
        twice, and for several that a convention could mean; the message lists them. Warns (``ColumnWarning``) of a
        column that is read by convention although the table could be read without it.
        """
        names = self.likely_names(header, wanted, refused)
        self.found.update(names)
        if self.are_relevant(names, header, wanted) and not self.each_is_relevant(header, wanted):
            _tell_of_relevant(header)
            return names
        if "item" in wanted.required and self.by_row_number:
            what = f"items cannot be identified by row numbers here; {ONE_TABLE}"
            raise refused(what, advice=f"name the item column with {argument('item')}", joint=": ")
        is_told = self.each_is_relevant(header, wanted)
        absent = [role for role in wanted.required if role not in names and not (is_told and role == "label")]
        if absent:
            others = [name for name in header if name not in names.values()]
            alike = {role: often_called(role, others) for role in absent}
            likely = {role: names[0] for role, names in alike.items() if len(names) == 1}
            more = _hint(absent[0], header, others, wanted) if len(absent) == 1 and not likely else ""
            if absent == ["item", "label"] and FOUND_IN & {*others}:
                more = f"; the results of a search are a run: {EXCHANGED}"
            elif self.is_shared and wanted is LABEL_TABLE:
                both = [argument(role, f"RUN,{name}") for role, name in likely.items() if role in IDS]
                more = f"; if the run calls it differently, name both, as {in_a_row(both)}" if both else more
            if more == "" and "label" in absent and len(absent) > 1 and not likely:
                more = _hint("label", header, others, wanted)
            raise absent_columns({role: role for role in absent}, header, refused, more, likely)
        self._warn_of(names, wanted, getattr(refused(""), "where", "").partition(":")[0])
        return names

    def names_or_order(
        self, header: Sequence[str], wanted: Wanted, refused: Refused, is_list: Callable[[str], bool]
    ) -> tuple[dict[str, str], bool]:
        """Return the columns of ``names``, and whether the numbers come from the order of lists of items alone.

        ``is_list``: whether a column of items holds lists. A column whose name suggests the numbers has to be named.
        Lists with scores or ranks are those of a run, not of relevant items.
        """
        number = "label" if wanted is LABEL_TABLE else "score"
        is_told = self.each_is_relevant(header, wanted)
        likely = {} if is_told else self.likely_names(header, wanted, refused)
        others = {*header} - {*likely.values()}
        have_numbers = often_called(number, others) or others & {*RANK_NAMES} or often_called("score", others)
        in_order = {"group", "item"} <= likely.keys() and number not in likely and not have_numbers
        if not in_order or not is_list(likely["item"]):
            return self.names(header, wanted, refused), False
        required = tuple(role for role in wanted.required if role != number)
        names = self.names(header, replace(wanted, required=required), refused)
        if number == "label":
            warn(ColumnWarning(RELEVANT_LISTS))
        return names, True

    def likely_names(self, header: Sequence[str], wanted: Wanted, refused: Refused) -> dict[str, str]:
        """Return the column of each wanted role that is among some columns, perhaps not all (see ``names``)."""
        names: dict[str, str] = {}
        given = {self.asked(role, header, wanted) for role in wanted.roles}
        for role in wanted.roles:
            if (role == "item" and self.by_row_number) or (role == "label" and self.each_is_relevant(header, wanted)):
                continue
            name = self.asked(role, header, wanted)
            if role == "item" and self.documents is not None and self.documents.is_column:
                name = self._column_of_documents(self.documents, header, wanted, refused) or name
            if name is None:
                others = [column for column in header if column not in given]
                own = role in header and (role in wanted.required or role not in given)
                name = self._likely_name(role, own, others, names, wanted, refused)
            if name is None or name not in header:
                name = self._of_labels(role, header, wanted) or name
            if name is None:
                continue
            count = header.count(name)
            if count > 1:
                raise refused(f"column {shown(name)} appears {count} times", advice="rename all but one")
            if not count:
                both = self._both(role, name, header, wanted)
                more, likely = "", {}
                if both and {"RUN", "LABELS"} & {*both.split(",")}:
                    more = f"; if run and labels call it differently, name both: {argument(role, both)}"
                elif both and wanted is LABEL_TABLE:  # the run is read later, and perhaps lacks the column too
                    more = f"; if the run has {shown(name)}, name both: {argument(role, both)}"
                    likely = {role: both.rpartition(",")[2]}
                elif both:
                    more, likely = "; the first is the run's, the second the labels'", {role: both}
                elif role == "label" and wanted is LABEL_TABLE and _are_scores(header):
                    more = f"; scores without labels are a run: {EXCHANGED}"
                elif len(alike := often_called(role, header)) == 1:
                    likely = {role: alike[0]}
                raise absent_columns({name: role}, header, refused, more, likely)
            names[role] = name
        has_ranks = any(convention.has_ranks and convention.holds(names) for convention in CONVENTIONS)
        if "score" in wanted.roles and RANK in set(header) - given - set(names.values()):
            if "score" in names:
                names["rank"] = RANK
            elif has_ranks:
                names["score"] = RANK
        return names

    def _of_labels(self, role: str, header: Collection[str], wanted: Wanted) -> str | None:
        """Return the labels' own known name of a role if the name that was given is the run's, None if it is not clear.

        Names that are only frequent are read where the run has no column at all: its groups are in a file.
        """
        given = self.given(role)
        if not (given and self.is_shared and wanted is LABEL_TABLE and role in IDS and "," not in given):
            return None
        often = often_called(role, header) if given.startswith(OF_A_FILE) else []
        known = [role] if role in header else conventional_names(role, header) or often
        return known[0] if len(known) == 1 else None

    def _both(self, role: str, name: str, header: Collection[str], wanted: Wanted) -> str:
        """Return both names of a column if run or labels do not have the one that was given for both, else ""."""
        if not self.is_shared or role not in IDS or name != self.given(role):
            return ""
        likely = [*conventional_names(role, header), *often_called(role, header), role]
        other = next((column for column in likely if column in header), "")
        return f"{name},{other or 'LABELS'}" if wanted is LABEL_TABLE else f"{other or 'RUN'},{name}"

    def each_is_relevant(self, header: Collection[str], wanted: Wanted) -> bool:
        """Return whether the caller says that every row of a table of labels is a relevant item."""
        return wanted is LABEL_TABLE and self.label == EACH_ROW and EACH_ROW not in header

    def are_relevant(self, names: Mapping[str, str], header: Collection[str], wanted: Wanted) -> bool:
        """Return whether every row of a table without labels is a relevant item, as interactions are.

        >>> header = ["user_id", "item_id", "weight"]
        >>> [columns.are_relevant(columns.likely_names(header, LABEL_TABLE, ValueError), header, LABEL_TABLE)
        ...  for columns in (Columns(), Columns(label="weight"))]
        [True, False]
        """
        others = set(header) - set(names.values())
        if wanted is not LABEL_TABLE or "label" in names or often_called("label", others):
            return False
        return any(
            convention.beside_relevant
            and convention.holds(names)
            and (convention.beside_relevant[0] in others or others <= set(convention.beside_relevant))
            for convention in CONVENTIONS
        )

    def deciding(self, names: Mapping[str, str]) -> Deciding:
        """Return what decides if scores and a column ``rank`` contradict each other; a named score column does.

        >>> rectools = {"group": "user_id", "item": "item_id", "score": "score", "rank": "rank"}
        >>> Columns().deciding(rectools), Columns(score="score").deciding(rectools), Columns().deciding({})
        ('ranks', 'scores', 'scores')
        """
        by_rank = self.by_rank or any(convention.is_by_rank and convention.holds(names) for convention in CONVENTIONS)
        return "ranks" if by_rank and self.score is None else "scores"

    def are_ranks(self, names: Mapping[str, str]) -> bool:
        """Return whether the lowest value of the score column is the best, as in ranks.

        >>> header = ["user_id", "item_id", "rank", "label"]
        >>> Columns().are_ranks(Columns().names(header, RUN_TABLE, ValueError))
        True
        >>> asked = Columns(score="-position")
        >>> asked.are_ranks(asked.names(["group", "item", "position"], RUN_TABLE, ValueError))
        True
        """
        name = names.get("score")
        return name == RANK if self.score is None else name is not None and self.score == _NEGATED + name

    def _likely_name(
        self, role: str, own: bool, header: Collection[str], names: Mapping[str, str], wanted: Wanted, refused: Refused
    ) -> str | None:
        """Return the column of a role that was not named, None if there is none; ``own``: one has its name."""
        candidates = [*([role] if own else []), *(name for name in conventional_names(role, header) if name != role)]
        name = _only(role, candidates, refused)
        if name is not None or role != "label":
            return name
        apart = [
            convention.label_apart
            for convention in CONVENTIONS
            if convention.label_apart in header and convention.holds(names)
        ]
        if "score" not in wanted.roles:
            return apart[0] if apart else None
        relevant = [each.beside_relevant[0] for each in CONVENTIONS if each.beside_relevant and each.holds(names)]
        if relevant and relevant[0] in header and self.group is None and self.item is None:
            number = relevant[0]
            raise refused(
                f"column {shown(number)} could hold labels or weights",
                advice=f"choose with {argument('label', number)} or {argument('weight', number)}",
            )
        return None

    def _column_of_documents(
        self, documents: Documents, header: Sequence[str], wanted: Wanted, refused: Refused
    ) -> str | None:
        """Return the column of documents; None for labels without it, whose items are documents already."""
        if documents.rule in header:
            return documents.rule
        if wanted is LABEL_TABLE:
            return None
        given = argument("item_to_document", f"({documents.rule})")
        raise refused(
            f"there is no column {shown(documents.rule)} with the documents; the columns are "
            f"{', '.join(map(shown, header))}{documents.no_file}",
            advice=f"name another column or a file of items and documents, or, if it is a pattern, give {given}",
            joint=": ",
        )

    def warn_of_ranks(self) -> None:
        """Warn if the column that was named as the score has a typical name of positions."""
        if self.score and self.score[0] != _NEGATED and self.score.rpartition(".")[2] in RANK_NAMES:
            what = f"column {shown(self.score)} is read as scores: the highest is the best"
            warn(ColumnWarning(what, advice=f"if the lowest is the best, give {argument('score', f'-{self.score}')}"))

    def _warn_of(self, names: Mapping[str, str], wanted: Wanted, file: str) -> None:
        """Warn of columns that the caller may not expect (see ``names``), and of ranks given as scores.

        ``file``: say what is read in it, "" for a table in memory.
        """
        if "score" in names:
            self.warn_of_ranks()
        told = {"rank"} if self.documents is None else {"rank", "item"}
        by_convention = {
            role for role, name in names.items() if name not in (self.given(role), self.asked(role, (), wanted), role)
        } - told
        if by_convention & {"group", "score"} or ("label" in wanted.required and "label" in by_convention):
            read = [f"{shown(name)} as {role}" for role, name in names.items() if role in by_convention]
            if file and self.header is None:  # the table can only be read by the convention
                warn(ReadWarning(f"read {in_a_row(read)}", where=file))
            return
        for role in sorted(by_convention):
            name = names[role]
            advice = f"to confirm this, give {argument(role, name)}"
            if role == "item" and {"score", "label"} <= names.keys():
                advice += f", or {argument('item', False)} to identify items by row numbers as before"
            elif role == "label":
                advice += ", or remove the column"
            warn(ColumnWarning(f"column {shown(name)} is read as the {role}s, by convention", advice=advice))


def _tell_of_relevant(header: Collection[str]) -> None:
    """Warn that every row of a table is read as a relevant item."""
    number = next((each.beside_relevant[0] for each in CONVENTIONS if {*each.beside_relevant[:1]} & {*header}), None)
    relevant = "every row is read as a relevant item, with label 1, as RecTools reads interactions"
    if number is None:
        warn(ColumnWarning(relevant, advice="if labels differ, add a column 'label'"))
    else:
        what = f"{relevant}; column {shown(number)} is not read as the label"
        warn(ColumnWarning(what, advice=f"to read it as the labels, give {argument('label', number)}"))


DEFAULT_COLUMNS = Columns()


def header_of(names: str | Sequence[str] | None, *, of_run: bool | None = None) -> tuple[str, ...] | None:
    """Return the column names of a table without header, from a list or a text with commas; None for none.

    ``of_run``: whether it is a run with labels apart, whose names follow a slash, or these labels; None for one table.

    Raises: InputError for an empty name.

    >>> header_of("qid,pid,rank"), header_of(["qid", "pid"]), header_of(None)
    (('qid', 'pid', 'rank'), ('qid', 'pid'), None)
    >>> header_of("qid,pid,rank/qid,pid", of_run=False), header_of("/qid,pid", of_run=True)
    (('qid', 'pid'), None)
    """
    if of_run is not None and names is not None:
        run, _, labels = names.partition("/") if isinstance(names, str) else (names, "", "")
        names = (run if of_run else labels) or None
    if names is None:
        return None
    header = tuple(name.strip() for name in (names.split(",") if isinstance(names, str) else names))
    if not all(header):
        given = argument("columns", ",".join(header))
        raise InputError(f"{given} has an empty name", advice="write names like qid,pid,rank")
    return header


def column_name(label: object) -> str:
    """Return the name of a column of a frame."""
    return label if isinstance(label, str) else repr(label)


def refuse_single(column: object, name: str) -> None:
    """Refuse a column of a frame that is a single value."""
    if isinstance(column, str | bytes) or not hasattr(column, "__len__") or getattr(column, "ndim", 1) == 0:
        raise InputError(f"column {shown(name)} is a single {type(column).__name__}", advice="give one value per row")


_GROUPS = {"group", *(convention.group for convention in CONVENTIONS)}
_NUMBERS = {"score", "rank", "label", "rating", "relevance", "rel"}


def is_frame_as_dict(outer: Collection[object], inner: Collection[object]) -> bool:
    """Return whether the keys of a nested dict are column names: then it is a frame, by column or by row, not a run.

    >>> is_frame_as_dict(["qid", "docno", "score"], ["0", "1"]), is_frame_as_dict(["0"], ["qid", "docno", "score"])
    (True, True)
    >>> is_frame_as_dict(["q1", "score"], ["a", "label"])
    False
    """
    return any(_GROUPS & {*keys} and _NUMBERS & {*keys} for keys in (outer, inner))


_STRICT = {
    *(*IDS, *NUMBERS, *RANK_NAMES),
    *(name for convention in CONVENTIONS for name in (convention.group, convention.item, *convention.label)),
}
_MOST_COLUMNS = 9  # of a table that could look like a dict with a list per query


def looks_like_columns(keys: Collection[object], columns: Columns, *, may_be: bool = False) -> bool:
    """Return whether the keys of a dict of lists are column names and not group ids.

    A single frequent column name may be the id of a query; ``may_be``: whether all lists have the same length.

    >>> looks_like_columns(["qid", "docs"], Columns()), looks_like_columns(["user", "doc"], Columns())
    (True, True)
    >>> looks_like_columns(["q1", "target"], Columns()), looks_like_columns(["q1", "target"], Columns(), may_be=True)
    (False, True)
    """
    given = {columns.asked(role, (), wanted) for wanted in (RUN_TABLE, LABEL_TABLE) for role in wanted.roles}
    texts = [key for key in keys if isinstance(key, str)]
    often = {name for names in _OFTEN.values() for name in names}
    n_often = sum(text.lower().replace("_", "").replace("-", "") in often for text in texts)
    least = 1 if may_be and 1 < len(keys) <= _MOST_COLUMNS else 2
    return n_often >= least or any(text in _STRICT or text in given for text in texts)


RELEVANT_LISTS = "lists of items without labels are read as relevant items, of grade 1"
FRAME_AS_DICT = "this is a table written as nested objects, by column or by row, not {group: {item: number}}"


def conventional_names(role: str, header: Collection[str]) -> list[str]:
    """Return the columns that conventions name for a role, in the order of the conventions.

    >>> conventional_names("item", ["qid", "docno", "docid", "query", "score"])
    ['docno']
    >>> conventional_names("item", ["query", "docid", "rating"])
    ['docid']
    """
    plain: dict[str, None] = {}
    whole: dict[str, None] = {}
    for convention in CONVENTIONS:
        names = {"group": (convention.group,), "item": (convention.item,)}.get(
            role, {"label": convention.label, "score": convention.score}.get(role, ())
        )
        there = dict.fromkeys(name for name in names if name in header)
        if not convention.is_whole:
            plain |= there
        elif convention.is_of(header):
            whole |= there
    return list(plain or whole)


def column_about(role: str, given: str | None, header: Collection[str], refused: Refused) -> str | None:
    """Return the group or item column of a table about groups or items, None if there is none.

    It is the column that was given, else the role's own, else the one of a convention (``refused`` if there are two).

    >>> column_about("group", None, ["query_id", "text"], ValueError), column_about("item", None, ["text"], ValueError)
    ('query_id', None)
    """
    if given is not None or role in header:
        return given or role
    return _only(role, conventional_names(role, header), refused)


def _only(role: str, names: Sequence[str], refused: Refused) -> str | None:
    """Return the only name that a column may have, None if there is none (the error of ``refused`` for several)."""
    if len(names) > 1:
        choice = " or ".join(argument(role, name) for name in names)
        raise refused(f"the {role} column could be {' or '.join(map(shown, names))}", advice=f"choose with {choice}")
    return next(iter(names), None)


def often_called(role: str, header: Iterable[str]) -> list[str]:
    """Return the columns with a frequent name of this role."""
    often = (role, *_OFTEN.get(role, ()))
    plain = {name: name.lower().replace("_", "").replace("-", "").partition(":")[0] for name in header}
    return [name for name, text in plain.items() if text in often]


FOUND_IN = {"results", "hits", "documents", "response", "responses", "found", "predictions"}
"""Names for the lists of a search: in a table of labels they show that it is a run."""
EXCHANGED = "are the run and the labels swapped?"


def _are_scores(header: Collection[str]) -> bool:
    """Return whether a table has scores or ranks, and nothing that is often called a label."""
    scores = {*RANK_NAMES} & {*header} or often_called("score", header)
    return bool(scores) and not often_called("label", header)


def _hint(role: str, header: Sequence[str], others: Sequence[str], wanted: Wanted) -> str:
    """Return more advice for a missing column of a role than to name it; ``others`` are the columns without a role."""
    if role == "label" and ({"score", RANK} & {*others} or often_called("score", others)):
        return f"; scores without labels are a run: {EXCHANGED}"
    labels = {name for convention in CONVENTIONS for name in ("label", *convention.label)}
    if role == "score" and wanted is RUN_APART and (labels & {*others} or often_called("label", others)):
        return f"; labels without scores are not a run: {EXCHANGED}"
    if role == "item":
        return f"; {ONE_TABLE}"
    if role == "label":
        return f"; if each row is a relevant item, give {argument('label', EACH_ROW)}"
    if role == "score" and (ranks := [name for name in RANK_NAMES if name in header]):
        return "".join(
            f"; if the lowest {shown(name)} is the best, give {argument('score', _NEGATED + name)}" for name in ranks
        )
    if others or not header:
        return ""
    if role == "score":
        return "; if the rows are in order, add a column of positions or of falling scores"
    return "; each row needs its query, user or session"


def absent_columns(
    roles: Mapping[str, str],
    header: Iterable[str],
    refused: Refused,
    more: str = "",
    likely: Mapping[str, str] = MappingProxyType({}),
) -> Exception:
    """Return the error of ``refused`` for columns that are not there; ``more`` continues the advice.

    ``roles``: the name of each and its role. ``likely``: the columns that may be meant, by role.
    """
    names = [shown(there) for there in header]
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    what = f"no column{'s' if len(roles) > 1 else ''} {in_a_row(list(map(shown, roles)))}"
    named = [
        f"the {role} column with {argument('attributes' if role == 'attribute' else role, likely.get(role, ''))}"
        for role in roles.values()
    ]
    advice = f"name {in_a_row(named)}{more}"
    error = refused(f"{what}; the columns are {listed or 'none'}", advice=advice, joint=": ")
    return ColumnsError(**error.told).at(error.where) if type(error) is InputError else error


def warn_of_repeats(n: int) -> None:
    """Warn that so many items of ranked lists are there again."""
    if n:
        warn(ColumnWarning(f"{counted(n, 'item')} again in a list: the first place counts, and ranks stay"))
