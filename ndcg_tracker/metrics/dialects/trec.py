"""trec_eval 9 and 10, pytrec_eval: flags and measure names as on their command line."""

from __future__ import annotations

import re

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.definition import Metric, cutoff_from
from ndcg_tracker.metrics.dialects.dialect import Dialect, no_options

_COMMON = {"label_domain": "int"}
_CUT = re.compile(r"(?P<name>ndcg_cut|map_cut|P|recall|success)[_.](?P<cutoff>[1-9]\d*)", re.ASCII)
_GAINS = re.compile(r"ndcg\.(?P<gains>\d+=[\d.]+(?:,\d+=[\d.]+)*)", re.ASCII)
_MEASURE = {"ndcg_cut": "ndcg", "map_cut": "AP", "P": "P", "recall": "R", "success": "Success"}
_WHOLE = {"ndcg": "ndcg", "map": "AP", "recip_rank": "RR", "set_P": "SetP"}


def _parse(native: str, settings: dict[str, str], *, flags: bool) -> Metric:
    words = native.split()
    settings = _COMMON | settings
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag == "-m":
            break
        if not flags:
            raise MetricError(f"it takes no flags, but {flag} was given")
        if flag == "-c":
            settings["missing"] = "zero"
        elif flag == "-J":
            settings |= {"unjudged": "drop", "negative": "drop"}
        elif re.fullmatch(r"-l\d*", flag, re.ASCII):
            level = flag.removeprefix("-l") or (words.pop(0) if words else "")
            if not re.fullmatch(r"0*[1-9]\d*", level, re.ASCII):
                raise MetricError(f"-l takes a whole number from 1, not {level!r}")
            settings["rel"] = level
        else:
            raise MetricError(f"flag {flag} does not say what is measured; the flags are -c, -J, -l LEVEL, -m")
    if len(words) != 1:
        raise MetricError(f"{native!r} does not name one measure")
    return _measure(words[0], settings)


def _measure(word: str, settings: dict[str, str]) -> Metric:
    table = _GAINS.fullmatch(word)
    if table is not None:
        settings["gain"] = "{" + table["gains"].replace("=", ":") + "}"
        name, cutoff = "ndcg", None
    elif (cut := _CUT.fullmatch(word)) is not None:
        name, cutoff = _MEASURE[cut["name"]], cutoff_from(cut["cutoff"])
    elif word in _WHOLE:
        name, cutoff = _WHOLE[word], None
    else:
        raise MetricError(f"measure {word!r} is not known")
    if "rel" in settings and name == "ndcg":
        raise MetricError("-l does not change ndcg")
    return Metric.of(name, cutoff=cutoff, **settings)


def _trec_eval(options: str, native: str) -> Metric:
    no_options(options)
    return _parse(native, {"score_type": "f32", "missing": "skip"}, flags=True)


def _trec_eval10(options: str, native: str) -> Metric:
    no_options(options)
    return _parse(native, {"missing": "error"}, flags=True)


def _pytrec_eval(options: str, native: str) -> Metric:
    no_options(options)
    return _parse(native, {"score_type": "f32", "missing": "skip"}, flags=False)


_LABELS = "Labels that are no whole numbers are refused; trec_eval itself cuts off what is behind the point."
_EMPTY_LIST = "A group that is in the run with an empty list counts as missing from the run."

TREC_EVAL = Dialect(
    "trec_eval",
    "trec_eval 9.0.8",
    _trec_eval,
    lambda cutoff: f"ndcg_cut_{cutoff}",
    1e-12,
    "1e-12 unrounded; trec_eval prints 4 decimals",
    (
        "Scores are compared in single precision: 1.00000001 and 1.0 tie.",
        "Without -c a group that is missing from the run is left out of the mean; with -c it counts 0.",
        "Ties go by item id, descending in byte order; the rank column of the run is ignored.",
        "-J takes items without label out of the list, and those with a label below 0 as well.",
        _LABELS,
        _EMPTY_LIST,
    ),
    (
        "trec_eval:ndcg_cut_10",
        "trec_eval:ndcg_cut.10",
        "trec_eval:ndcg",
        "trec_eval:-J ndcg_cut_10",
        "trec_eval:-c ndcg",
        "trec_eval:-c -m ndcg_cut.10",
        "trec_eval:ndcg.1=3.5,2=9",
        "trec_eval:map",
        "trec_eval:-l 2 map_cut_100",
        "trec_eval:P_10",
        "trec_eval:recall_100",
        "trec_eval:recip_rank",
        "trec_eval:success_1",
        "trec_eval:set_P",
    ),
)

TREC_EVAL10 = Dialect(
    "trec_eval10",
    "trec_eval 10.0-rc2",
    _trec_eval10,
    lambda cutoff: f"-c ndcg_cut_{cutoff}",
    1e-12,
    "1e-12 unrounded",
    (
        "Scores are compared in double precision.",
        "Without -c a group that is missing from the run is an error.",
        _LABELS,
        _EMPTY_LIST,
    ),
    ("trec_eval10:-c ndcg_cut_10", "trec_eval10:ndcg_cut_10", "trec_eval10:-c -J ndcg", "trec_eval10:-c map"),
)

PYTREC_EVAL = Dialect(
    "pytrec_eval",
    "pytrec_eval-terrier 0.5.11",
    _pytrec_eval,
    lambda cutoff: f"ndcg_cut_{cutoff}",
    1e-12,
    "1e-12",
    (
        "It is trec_eval 9 without -c: a group that is missing from the run is left out of the mean.",
        _LABELS,
        _EMPTY_LIST,
    ),
    ("pytrec_eval:ndcg_cut_10", "pytrec_eval:ndcg", "pytrec_eval:map", "pytrec_eval:P_5"),
)
