"""trec_eval 9 and 10 and pytrec_eval: flags and measure names as on their command line."""

from __future__ import annotations

import re
from functools import partial

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import AXIS_OF
from ndcg_tracker.metrics.language.dialects.dialect import Dialect, without_options
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric, cutoff_from

_CUTOFFS = "5 10 15 20 30 100 200 500 1000"
_TENTHS = "0.00 0.10 0.20 0.30 0.40 0.50 0.60 0.70 0.80 0.90 1.00"
_FAMILIES: dict[str, tuple[str, dict[str, str], str]] = {
    "P": ("P", {}, _CUTOFFS),
    "recall": ("R", {}, _CUTOFFS),
    "ndcg_cut": ("ndcg", {}, _CUTOFFS),
    "map_cut": ("AP", {}, _CUTOFFS),
    "relative_P": ("P", {"relative": "True"}, _CUTOFFS),
    "success": ("Success", {}, "1 5 10"),
    "iprec_at_recall": ("IPrec", {}, _TENTHS),
    "Rprec_mult": ("Rprec", {}, "0.20 0.40 0.60 0.80 1.00 1.20 1.40 1.60 1.80 2.00"),
}
"""Measures that trec_eval prints for several parameters: our measure and settings, and trec_eval's parameters."""
_WHOLE: dict[str, tuple[str, dict[str, str]]] = {
    "num_q": ("NumQ", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRet", {"rel": "1"}),
    "num_nonrel_judged_ret": ("NumNonrelJudgedRet", {}),
    "map": ("AP", {}),
    "gm_map": ("GMAP", {}),
    "Rprec": ("Rprec", {}),
    "bpref": ("Bpref", {}),
    "gm_bpref": ("GMBpref", {}),
    "recip_rank": ("RR", {}),
    "infAP": ("infAP", {}),
    "11pt_avg": ("IPrecAvg", {}),
    "binG": ("binG", {}),
    "G": ("G", {}),
    "ndcg": ("ndcg", {}),
    "ndcg_rel": ("ndcg_rel", {}),
    "Rndcg": ("Rndcg", {}),
    "yaap": ("yaap", {}),
    "utility": ("Utility", {}),
    "set_P": ("SetP", {}),
    "set_relative_P": ("SetP", {"relative": "True"}),
    "set_recall": ("SetR", {}),
    "set_map": ("SetAP", {}),
    "set_F": ("SetF", {}),
}
_FAMILIES_OF_10: dict[str, tuple[str, dict[str, str], str]] = {"unj": ("Unjudged", {}, "5 10 20")}
_WHOLE_OF_10: dict[str, tuple[str, dict[str, str]]] = {
    "rbp": ("RBP", {"graded": "True", "p": "0.9"}),
    "rbp_resid": ("RBPResidual", {"p": "0.9"}),
    "dcg": ("dcg", {}),
    "ideal_dcg": ("idcg", {}),
}
_AXIS_OF_NUMBER = {"IPrec": "recall", "Rprec": "mult"}
_NUMBERS = r"-?[\d.]+(?:,-?[\d.]+)*"
_PARAMETERS = re.compile(
    rf"(?P<name>\w+?)[._](?:(?P<pairs>\w+=[\d.]+(?:,\w+=[\d.]+)*)|(?P<numbers>{_NUMBERS}))", re.ASCII
)
_SETS = ("all_trec", "official", "set", "prefs", "all_prefs", "qrels_jg")


def all_trec(dialect: str) -> list[str]:
    """Return the text of every number that ``trec_eval -m all_trec`` prints, in the same order of measures.

    Parameters: ``dialect``: trec_eval, pytrec_eval or trec_eval10.

    >>> texts = all_trec("trec_eval")
    >>> texts[:3], len(texts)
    (['trec_eval:num_q', 'trec_eval:num_ret', 'trec_eval:num_rel'], 93)
    """
    is_10 = dialect == "trec_eval10"
    families = _FAMILIES | (_FAMILIES_OF_10 if is_10 else {})
    whole = [*_WHOLE, *(["rbp", "rbp_resid"] if is_10 else [])]
    names = [name for name in whole if name != "yaap"]
    names += [f"{name}_{parameter}" for name, family in families.items() for parameter in family[2].split()]
    return [f"{dialect}:{name}" for name in names]


def _parse(native: str, settings: dict[str, str], *, flags: bool = True, is_10: bool = False) -> Metric:
    words = native.split()
    settings = {"label_domain": "int"} | settings
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
        elif re.fullmatch(r"-[lMN]\d*", flag, re.ASCII):
            number = flag[2:] or (words.pop(0) if words else "")
            if not re.fullmatch(r"0*[1-9]\d*", number, re.ASCII):
                raise MetricError(f"{flag[:2]} takes a whole number from 1, not {number!r}")
            settings[{"-l": "rel", "-M": "depth", "-N": "collection"}[flag[:2]]] = number
        else:
            allowed = "-c, -J, -l LEVEL, -M DEPTH, -N ITEMS, -m"
            raise MetricError(f"flag {flag} does not choose or change a measure; the flags are {allowed}")
    if len(words) != 1:
        raise MetricError(f"{native!r} does not name one measure")
    measure, cutoff, own = _measure(words[0], is_10=is_10)
    if is_10 and measure in ("IPrec", "IPrecAvg"):
        own["recall_count"] = "nearest"
    if settings.get("missing") == "zero" and (not MEASURES[measure].is_listed or (is_10 and measure == "yaap")):
        settings["missing"] = "empty"
    if not MEASURES[measure].is_listed:
        settings.pop("negative", None)
    if measure == "NumRet" and "rel" not in own:
        settings.pop("rel", None)
    merged = own | settings  # -l LEVEL overrides the level of num_rel_ret
    return Metric.of(measure, cutoff=cutoff, **{k: v for k, v in merged.items() if measure in AXIS_OF[k].measures})


def _measure(word: str, *, is_10: bool) -> tuple[str, int | None, dict[str, str]]:
    """Return the measure that a word names, its cutoff, and its settings."""
    whole, families = _WHOLE | (_WHOLE_OF_10 if is_10 else {}), _FAMILIES | (_FAMILIES_OF_10 if is_10 else {})
    if word in whole:
        measure, own = whole[word]
        return measure, None, dict(own)
    if word in families:
        parameters = families[word][2].split()
        raise MetricError(
            f"{word} prints {len(parameters)} numbers", advice=f"name one of them, such as {word}_{parameters[1]}"
        )
    if word in _SETS:
        raise MetricError(f"{word} is a set of measures", advice="name them one by one")
    name, match = _split(word, {*whole, *families})
    if match is None:
        raise MetricError(f"measure {word!r} is not known")
    numbers, pairs = (match[part] for part in ("numbers", "pairs"))
    if name in families and numbers:
        measure, own, _ = families[name]
        several = numbers.split(",")
        if len(several) > 1:
            raise MetricError(
                f"{word} prints {len(several)} numbers", advice=f"name one of them, such as {name}_{several[0]}"
            )
        if measure in _AXIS_OF_NUMBER:
            return measure, None, own | {_AXIS_OF_NUMBER[measure]: numbers}
        if re.fullmatch(r"[1-9]\d*", numbers, re.ASCII):
            return measure, cutoff_from(numbers), dict(own)
    elif name in ("ndcg", "ndcg_rel", "Rndcg", "G", "dcg", "ideal_dcg") and pairs:
        if re.fullmatch(r"\d+=[\d.]+(?:,\d+=[\d.]+)*", pairs, re.ASCII):
            return whole[name][0], None, {"gain": "{" + pairs.replace("=", ":") + "}"}
    elif name in ("rbp", "rbp_resid") and pairs and re.fullmatch(r"p=[\d.]+", pairs, re.ASCII):
        return whole[name][0], None, whole[name][1] | {"p": pairs.removeprefix("p=")}
    elif name in ("utility", "11pt_avg") and numbers:
        axis = "worth" if name == "utility" else "recalls"
        return whole[name][0], None, {axis: "{" + numbers + "}"}
    elif name == "set_F" and numbers:
        return "SetF", None, {"beta": numbers.split(",")[0]}
    raise MetricError(f"measure {word!r} is not known")


def _split(word: str, names: set[str]) -> tuple[str, re.Match[str] | None]:
    """Return the longest measure name that a word begins with, and its parameters as written."""
    for name in sorted(names, key=len, reverse=True):
        if word.startswith((f"{name}.", f"{name}_")):
            return name, _PARAMETERS.fullmatch("m" + word[len(name) :])
    return word, None


TREC_EVAL = Dialect(
    "trec_eval",
    "trec_eval 9.0.8",
    without_options(partial(_parse, settings={"score_type": "f32", "missing": "skip"})),
    lambda cutoff: f"ndcg_cut_{cutoff}",
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
        "trec_eval:set_F_0.5",
        "trec_eval:set_relative_P",
        "trec_eval:relative_P_10",
        "trec_eval:Rprec",
        "trec_eval:Rprec_mult_0.20",
        "trec_eval:bpref",
        "trec_eval:gm_map",
        "trec_eval:infAP",
        "trec_eval:iprec_at_recall_0.10",
        "trec_eval:11pt_avg",
        "trec_eval:utility.3,-2,-1,0",
        "trec_eval:Rndcg",
        "trec_eval:num_ret",
        "trec_eval:num_rel_ret",
        "trec_eval:-c num_q",
        "trec_eval:-M 100 bpref",
    ),
    agreement="1e-12 unrounded; trec_eval prints 4 decimals",
)

TREC_EVAL10 = Dialect(
    "trec_eval10",
    "trec_eval 10.0-rc2",
    without_options(partial(_parse, settings={"missing": "error"}, is_10=True)),
    lambda cutoff: f"-c ndcg_cut_{cutoff}",
    (
        "trec_eval10:-c ndcg_cut_10",
        "trec_eval10:ndcg_cut_10",
        "trec_eval10:-c -J ndcg",
        "trec_eval10:-c map",
        "trec_eval10:-c iprec_at_recall_0.10",
        "trec_eval10:-c unj_10",
        "trec_eval10:-c rbp",
        "trec_eval10:-c rbp_resid.p=0.8",
        "trec_eval10:-c dcg",
        "trec_eval10:-c ideal_dcg",
    ),
    agreement="1e-12 unrounded",
)

PYTREC_EVAL = Dialect(
    "pytrec_eval",
    "pytrec_eval-terrier 0.5.11",
    without_options(partial(_parse, settings={"score_type": "f32", "missing": "skip"}, flags=False)),
    lambda cutoff: f"ndcg_cut_{cutoff}",
    (
        "pytrec_eval:ndcg_cut_10",
        "pytrec_eval:ndcg",
        "pytrec_eval:map",
        "pytrec_eval:P_5",
        "pytrec_eval:bpref",
        "pytrec_eval:gm_map",
        "pytrec_eval:iprec_at_recall_0.10",
        "pytrec_eval:num_rel_ret",
    ),
)
