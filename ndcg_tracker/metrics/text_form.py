"""From text to metric: the canonical form, and every dialect."""

from __future__ import annotations

import difflib
import re

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.definition import Metric, parse_canonical
from ndcg_tracker.metrics.dialects import DIALECTS

_DIALECT = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<options>[^()]*)\))?\s*:(?P<native>.*)", re.ASCII | re.DOTALL
)


def parse_metric(text: str) -> Metric:
    """Return the metric that a text spells: ``NAME(axis=value, ...)@CUTOFF``, or ``DIALECT:NATIVE``.

    Raises: MetricError, naming the nearest valid spelling, for anything else.

    >>> parse_metric("ndcg(ties=average,gain=exp2)@10") == parse_metric("ndcg(gain=exp2, ties=average)@10")
    True
    >>> str(parse_metric("trec_eval10:-c ndcg_cut_10"))
    'ndcg(label_domain=int)@10'
    """
    text = " ".join(text.split())
    if not text.isprintable():
        raise MetricError(f"{text!r} is no metric: it has characters that cannot be printed; type it anew")
    form = _DIALECT.fullmatch(text)
    if form is None:
        return parse_canonical(text)
    dialect = DIALECTS.get(form["name"])
    if dialect is None:
        near = difflib.get_close_matches(form["name"].lower(), DIALECTS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}:{form['native']}?" if near else f"they are {', '.join(DIALECTS)}"
        raise MetricError(f"{form['name']} is no dialect; {hint}")
    return dialect.metric((form["options"] or "").strip(), form["native"])
