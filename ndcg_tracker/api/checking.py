"""``nt.check``: results on a golden set against the baseline in git, without a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import (
    GROUP,
    Everyday,
    GroupColumn,
    ItemsPath,
    ItemToDocument,
    Positional,
    RelevantKey,
    asks,
    made,
)
from ndcg_tracker.questions.check.question import CheckKeywords, CheckQuestion
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.check.say import Checked

Results = Annotated[object, Positional("The results: the ranked ids of each query.", metavar="RESULTS")]
Golden = Annotated[
    object, Everyday("The golden set: queries and their relevant items.", ("--labels",), metavar="GOLDEN")
]
Against = Annotated[str | None, Everyday("The baseline, a file in git that --accept writes.", metavar="FILE")]


@asks(CheckQuestion)
def check(
    results: Results,
    *,
    labels: Golden,
    against: Against = None,
    group: GroupColumn = GROUP,
    items: ItemsPath = None,
    relevant: RelevantKey = None,
    item_to_document: ItemToDocument = None,
    **keywords: Unpack[CheckKeywords],
) -> Checked:
    """Return whether results are as good as a baseline on the queries of a golden set, without a database.

    Parameters: ``results`` and ``labels``: paths, frames, dicts or lists of records, as for ``evaluate``. ``against``:
    the path of the baseline; without it there are only values. ``metrics``: the first one decides. ``tolerance``: how
    far its mean may fall; a metric of 0 or 1 may always lose one query. ``strict``: no query may be worse. ``margin``:
    other queries may not drop by more, as ``gate`` decides; if that stays open, so does the check. ``accept``: write
    the results to ``against``. ``ids_are_stable``: items that occur no more are gone, not renamed. ``corpus_ids``: a
    file with the ids that the index has. ``empty_below``: items with a lower score are not returned. The others: see
    ``evaluate``. Returns: a ``Checked`` with a ``decision``, an ``exit_code`` and the changed queries. Raises:
    InputError.

    >>> import ndcg_tracker as nt
    >>> results = [{"query": "reset password", "retrieved_ids": ["faq-2", "faq-7"]}]
    >>> golden = [{"query": "reset password", "expected_ids": ["faq-7"]}]
    >>> print(str(nt.check(results, labels=golden)).partition("\\n")[0])
    1 query: RR@10 0.500, hit@5 1.000
    """
    from ndcg_tracker.api.reading import Reading
    from ndcg_tracker.questions.check.say import checked

    question = made(CheckQuestion, keywords)
    refuse("check", {"accept": question.accept, "margin": question.margin, "against": against})
    reading = Reading(group=group, items=items, relevant=relevant, item_to_document=item_to_document)
    return checked(reading, results, labels, against, question)
