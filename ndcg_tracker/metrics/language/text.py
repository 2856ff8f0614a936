"""From text to metric: canonical texts, other names that people type, lists of metrics, and every dialect."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.measures import EXTERNAL, MEASURES, squeezed
from ndcg_tracker.metrics.language.metric import Metric, external_metric, parse_canonical

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.dialects.dialect import Dialect

NAMES = {typed: name for name, measure in MEASURES.items() for typed in measure.names} | {
    "num_rel_ret": "NumRet(rel=1)",
    "ncg": "ndcg(discount=none)",
    "normalized_cumulative_gain": "ndcg(discount=none)",
}
"""Other names of measures that people type, with our name and, if needed, a setting."""

CUT_OF = ("ndcg_cut", "map_cut", "P", "recall", "success")
"""Names that trec_eval also writes with a point before the cutoff, as in ``ndcg_cut.10``."""

_DIALECT = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w-]*)\s*(?:\((?P<options>[^()]*)\))?\s*:(?P<native>.*)", re.ASCII | re.DOTALL
)
_NAME = re.compile(r"(?:[Ff]1(?![\d.])|\d*[A-Za-z]+)(?:[-_ ][A-Za-z]+)*", re.ASCII)
_TYPED = re.compile(
    rf"(?P<name>{_NAME.pattern})"
    r"(?:(?P<parameters>\(.*\))?(?:@(?P<cutoff>[\d.]+))?|(?P<mark>[_.]?)(?P<bare>\d+(?:\.\d+)?))",
    re.ASCII,
)
_FURTHER_CUTOFF = re.compile(r"(.*[a-zA-Z][_.@]?)\d+", re.ASCII)
_WITH_COMMAS = re.compile(r"(?:\w+:(?:.* )?)?(?:utility|11pt_avg)[._]-?[\d.].*", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_GAIN = re.compile(r"-?\d+(?:\.\d+)?=-?[\d.]+", re.ASCII)
_SHUT = {"(": ")", "[": "]", "{": "}"}
_NEAR = 0.75
_SHORT = {"es": "elasticsearch", "tfr": "tf_ranking"}
"""Short names of tools that are not the beginning of the full name."""
_OPTION = re.compile(r"[,;]\s*(?!top=|k=)\w+=[^,;)]*")
_CALL = re.compile(r"(?P<name>[^@(]+)(?:@(?P<at>.*)|\((?:k=)?(?P<k>[1-9]\d*)\))?", re.ASCII)
_CUTOFF = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_NUMBERED = re.compile(r"(?<=[(=@])10+(?=[,;)]|$)")
TREC = ("trec_eval", "pytrec_eval", "trec_eval10")


@lru_cache(maxsize=1024)
def parse_metric(text: str) -> Metric:
    """Return the metric that a text means: ``NAME(axis=value, ...)@CUTOFF``, or ``DIALECT:NATIVE``.

    Other names that people type mean our own metrics: ``map`` is AP, ``mrr@10`` is RR@10, ``P_10`` is P@10, and
    ``ndcg_cut_10`` is ndcg@10. The metric keeps the text as ``requested_as``. Raises: MetricError, with a valid text,
    for any other text.

    >>> parse_metric("ndcg(ties=average,gain=exp2)@10") == parse_metric("ndcg(gain=exp2, ties=average)@10")
    True
    >>> str(parse_metric("trec_eval10:-c ndcg_cut_10"))
    'ndcg(label_domain=int)@10'
    >>> str(parse_metric("mrr@10")), parse_metric("mrr@10").requested_as
    ('RR@10', 'mrr@10')
    """
    text = " ".join(text.split())
    if not text.isprintable():
        raise MetricError(f"{text!r} is not a metric: it has characters that cannot be printed", advice="type it again")
    if text.startswith(EXTERNAL):
        return replace(external_metric(text), requested_as=text)
    form = _DIALECT.fullmatch(text)
    return replace(_unprefixed(text) if form is None else _of_dialect(form, text), requested_as=text)


def metric_texts(texts: str | Sequence[str]) -> list[str]:
    """Return the metrics that some texts name, one text per metric, as typed; a text may be a list with commas.

    A comma inside brackets or inside a dialect's own text does not separate metrics. A number alone is another cutoff
    of the metric before it.

    >>> metric_texts("ndcg@10,map")
    ['ndcg@10', 'map']
    >>> metric_texts(["P_5,10", "ndcg(gain={1:3.5, 2:9}, ties=average)@10", "trec_eval:ndcg.1=3.5,2=9"])
    ['P_5', 'P_10', 'ndcg(gain={1:3.5, 2:9}, ties=average)@10', 'trec_eval:ndcg.1=3.5,2=9']
    >>> metric_texts("trec_eval:utility.1,-1,0,0,map")
    ['trec_eval:utility.1,-1,0,0', 'map']
    """
    metrics: list[str] = []
    for text in [texts] if isinstance(texts, str) else texts:
        parts = _listed(text)
        metrics += parts if len(parts) > 1 else [text]
    return list(dict.fromkeys(metrics))


def asked_for(metric: str, requested_as: str | None) -> str | None:
    """Return the text that a metric was requested as, None if the text is unknown or means another metric here.

    >>> asked_for("AP", "map"), asked_for("AP", "mrr"), asked_for("AP", None)
    ('map', None, None)
    """
    if metric.startswith(EXTERNAL):
        return metric.partition("(")[0]
    try:
        return requested_as if requested_as is not None and str(parse_metric(requested_as)) == metric else None
    except MetricError:
        return None


def parse_metrics(texts: str | Sequence[str]) -> list[Metric]:
    """Return the metrics that some texts name, including lists with commas; see ``metric_texts``."""
    return [parse_metric(text) for text in metric_texts(texts)]


def read_as(text: str) -> str | None:
    """Return the canonical text of another name that people type, None for a text that needs no translation.

    >>> read_as("map"), read_as("ndcg@10"), read_as("trec_eval:map")
    ('AP', None, None)
    """
    text = " ".join(text.split())
    if _DIALECT.fullmatch(text) is not None or _in_our_words(text) == text:
        return None
    return str(parse_metric(text))


def _unprefixed(text: str) -> Metric:
    """Return the metric that a text without a dialect names."""
    try:
        return parse_canonical(_in_our_words(text))
    except MetricError:
        parts = _listed(text)
        if len(parts) > 1:
            parse_metrics(parts)  # raises for a part that is not a metric
            raise MetricError(
                f"{text!r} names {len(parts)} metrics ({' and '.join(parts)})", advice="give one of them"
            ) from None
        words = text.split()
        if len(words) > 1 and all(_first_that_parses([_in_our_words(word)]) for word in words):
            commas = f"put commas between metrics: {','.join(words)}"
            raise MetricError(f"{text!r} is not a metric", advice=commas) from None
        if squeezed(text) in _measures_by_name():  # one of our names, without a cutoff or recall that it needs
            raise
        from ndcg_tracker.metrics.language.other_names import not_ours  # only errors need it

        other = not_ours(text)
        if other is not None:
            raise other from None
        foreign = _first_that_parses([text.replace("-", "_", 1), *(f"{dialect}:{text}" for dialect in DIALECTS)])
        if foreign is not None:
            raise MetricError(f"{text!r} is a metric name of another tool", advice=f"did you mean {foreign}?") from None
        name, near = _nearest(text)
        if near is not None:
            raise MetricError(f"{name} is not a metric", advice=f"did you mean {near}?") from None
        raise


def _of_dialect(form: re.Match[str], text: str) -> Metric:
    """Return the metric that a text with a dialect names."""
    dialect = DIALECTS.get(form["name"])
    if dialect is not None:
        try:
            return dialect.metric((form["options"] or "").strip(), form["native"])
        except MetricError:
            from ndcg_tracker.metrics.language.dialects.dialect import name_of
            from ndcg_tracker.metrics.language.other_names import not_computed

            if name_of(form["native"]) in dialect.refused:
                raise
            meant = _in_dialect(dialect, form["native"].strip())
            if meant is None:
                other = not_computed(form["native"].strip())
                if other is not None and name_of(form["native"]).lower() not in map(str.lower, dialect.names):
                    raise other from None
            if meant is None or meant.startswith(f"{dialect.name}:{form['native'].strip()}"):
                raise
            raise MetricError(f"{text!r} is not a metric of {dialect.name}", advice=f"did you mean {meant}?") from None
    typed = form["name"].lower().replace("-", "_")
    typed = _SHORT.get(typed, typed)
    near = [name for name in DIALECTS if name.startswith(typed)][:1]
    near = near or difflib.get_close_matches(typed, DIALECTS, n=1, cutoff=_NEAR)
    meant_there = [_in_dialect(DIALECTS[name], form["native"].strip()) for name in near]
    suggestion = _first_that_parses(
        [f"{name}{text[len(form['name']) :]}" for name in near]
        + [f"{name}:{form['native'].strip()}" for name in near]
        + [meant for meant in meant_there if meant]
        + [f"{name}:{text}" for name in DIALECTS]
    )
    hint = f"did you mean {suggestion}?" if suggestion else f"the dialects are {', '.join(DIALECTS)}"
    raise MetricError(f"{form['name']} is not a dialect", advice=hint)


def _plain_forms(text: str) -> Iterator[str]:
    """Return an example of a dialect without its options other than a cutoff, and the example itself."""
    yield _OPTION.sub("", text)
    yield text


def _in_dialect(dialect: Dialect, native: str) -> str | None:
    """Return a dialect's text for a measure that people know by another name, None if it does not have the measure.

    It is the shortest such text, at the typed cutoff.
    """
    is_by_option = dialect.name not in TREC and not any("@" in example for example in dialect.examples)
    call = _CALL.fullmatch(native) if is_by_option else None
    if call is None or (call["k"] and call["name"] in dialect.names):  # the name is right: something else is wrong
        name, cutoff = native, ""
    else:
        name, cutoff = call["name"], call["at"] or call["k"] or ""
    ours = _measures_by_name().get(squeezed(name))
    if ours is None:
        return None
    measure = ours.partition("(")[0]
    if dialect.name in TREC:
        from ndcg_tracker.metrics.language.dialects.trec import all_trec

        texts = [*dialect.examples, *all_trec(dialect.name)]
        return next((text for text in texts if parse_metric(text).measure == measure), None)
    forms = [form for text in dialect.examples for form in _plain_forms(text)]
    is_cut = _CUTOFF.fullmatch(cutoff) is not None
    texts = [_NUMBERED.sub(cutoff, form) if is_cut else form for form in forms]
    known = [(text, parse_metric(text)) for text in texts if _first_that_parses([text])]
    meant = [
        text for text, metric in known if metric.measure == measure and (not is_cut or metric.cutoff == int(cutoff))
    ]
    return min(meant, key=len, default=None)


def _in_our_words(text: str) -> str:
    """Return the canonical text of another name that people type, and any other text unchanged."""
    typed = _TYPED.fullmatch(text)
    if typed is None or (typed["name"] in MEASURES and typed["bare"] is None):
        return text
    ours = _measures_by_name().get(squeezed(typed["name"]))
    if ours is None:
        return text
    measure, opening, own = ours.partition("(")
    if typed["bare"] is not None:
        is_doubtful = MEASURES[measure].is_bare_number_doubtful
        if is_doubtful or (typed["mark"] == "." and typed["name"] not in CUT_OF):
            return text
        return f"{ours}@{typed['bare']}"
    if typed["cutoff"] is None and squeezed(typed["name"]).endswith("cut"):
        raise MetricError(f"{typed['name']} needs a cutoff", advice=f"write {typed['name']}_10")
    given = typed["parameters"] or ""
    parameters = f"({own[:-1]}, {given[1:]}" if own and given.strip("( )") else opening + own or given
    return measure + parameters + (f"@{typed['cutoff']}" if typed["cutoff"] else "")


def _measures_by_name() -> dict[str, str]:
    """Return our measures by each of their names."""
    return {squeezed(name): meant for name, meant in NAMES.items()} | {
        squeezed(measure): measure for measure in MEASURES
    }


def _nearest(text: str) -> tuple[str, str | None]:
    """Return the name that a text begins with, and the metric that it may mean, or None."""
    form = _NAME.match(text)
    if form is None:
        return "", None
    name, named = form[0], _measures_by_name()
    if squeezed(name) in named:
        return name, None
    near = [candidate for candidate in named if sorted(candidate) == sorted(squeezed(name))]  # letters in another order
    near += difflib.get_close_matches(squeezed(name), named, cutoff=_NEAR)
    meant = [named[candidate] + text[len(name) :] for candidate in near if candidate[0] == name[0].lower()]
    return name, _first_that_parses([_in_our_words(spelling) for spelling in meant])


def _first_that_parses(texts: Sequence[str]) -> str | None:
    """Return the first text that is a metric, canonical or of a dialect."""
    for text in texts:
        form = _DIALECT.fullmatch(text)
        try:
            if form is None:
                parse_canonical(text)
            else:
                DIALECTS[form["name"]].metric((form["options"] or "").strip(), form["native"])
        except (MetricError, KeyError):
            continue
        return text
    return None


def _listed(text: str) -> list[str]:
    """Return the metrics of a list with commas."""
    metrics: list[str] = []
    for part in _between_commas(text):
        further = _FURTHER_CUTOFF.fullmatch(metrics[-1]) if metrics and part.isascii() and part.isdigit() else None
        is_parameter = _NUMBER.fullmatch(part) and metrics and _WITH_COMMAS.fullmatch(metrics[-1])
        if metrics and (is_parameter or _GAIN.fullmatch(part)):
            metrics[-1] += f",{part}"
        elif further is not None:
            metrics.append(further[1] + part)
        else:
            metrics.append(part)
    if len(metrics) > 1 and not all(metrics):
        raise MetricError(f"{text!r} has a comma with no metric before or after it", advice="remove the comma")
    return metrics


def _between_commas(text: str) -> list[str]:
    """Return the parts of a text between its commas, ignoring commas in brackets or quotes."""
    parts, begin = [], 0
    awaited: list[str] = []
    for place, sign in enumerate(text):
        if awaited and sign == awaited[-1]:
            awaited.pop()
        elif awaited and awaited[-1] in "'\"":
            continue
        elif sign in _SHUT or sign in "'\"":
            awaited.append(_SHUT.get(sign, sign))
        elif sign == "," and not awaited:
            parts.append(text[begin:place].strip())
            begin = place + 1
    return [*parts, text[begin:].strip()]
