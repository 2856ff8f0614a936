"""Notes in words: every kind has a sentence, and a command stands behind it."""

from typing import get_args

import pytest

from ndcg_tracker.words.notes import (
    Fact,
    Kind,
    Note,
    command_line,
    few_differences,
    note_text,
    sentence,
    told,
)
from ndcg_tracker.words.sentences import low_information

SENTENCES: dict[Kind, tuple[dict[str, Fact], str]] = {
    "weightless": ({"n": 1}, "1 group with weight 0 left out"),
    "no_group": ({}, "no group has a result in both runs, so there is nothing to compare"),
    "one_group": ({}, "one group says nothing about others: no interval and no p-value"),
    "same_difference": (
        {"n": 1200, "has_p": True},
        "all 1,200 groups differ by the same amount: the interval is undefined",
    ),
    "low_information": (
        {"n": 9, "skewness": -8.04},
        "low information: the differences are very skewed (skewness -8.0 over 9 groups), so the t interval may be too "
        "narrow",
    ),
    "groups_of_judge": (
        {"judge": "llama"},
        "groups, lists and charts use the labels of judge 'llama' alone; the verdict is the checked one",
    ),
    "few_drawn": (
        {"metric": "ndcg@10", "n": 12, "needed": 30, "left_out": 2},
        "ndcg@10: 12 of 30 drawn queries answered, 2 left out; until then answers count as labels, and other unjudged "
        "items as what they may be worth; to draw more",
    ),
    "old_designs": (
        {"checked_by": "ann"},
        "the answers of 'ann' are to designs of an older version, of single items, which decide nothing; to draw whole "
        "queries",
    ),
    "ungraded": (
        {"judge": "llama", "n": 683},
        "have judge 'llama' grade 683 items first, as that is cheap; to list them",
    ),
    "few_drawn_of_pair": (
        {"a": "bm25", "b": "dense", "n": 12, "needed": 30},
        "open: 12 of 30 drawn queries of bm25 and dense answered; to draw more",
    ),
    "checked_ranks": (
        {"judge": "llama", "checked_by": "ann"},
        "means and their order are by judge 'llama' alone, ranks and pairs by ann's answers",
    ),
    "all_answered": ({}, "all open items of these queries have an answer; to compare the runs"),
    "budget_spent": ({}, "the budget is spent, so nothing is decided"),
    "looks_spent": ({"n": 4}, "drawn answers decided on these runs 4 times, so another look decides nothing"),
    "judge_unchecked": ({"judge": "gpt"}, "nobody has checked judge 'gpt', whose labels decide"),
    "equal_values": (
        {},
        "low information: all differences of a dataset are equal although its lists differ, so no t interval says "
        "what other queries of it would give",
    ),
    "few_in_strata": (
        {"n": 1030, "n_nonzero": 35, "enough": 100},
        "low information: queries of small datasets weigh so much in the macro mean that all 1,030 queries count as "
        "only 35 nonzero differences; below 100, the t interval may be too narrow",
    ),
    "checkpoints": (
        {"n": 16, "first": "base-0/iter-0025", "of": "tag:recipe=base"},
        "left out of tag:recipe=base: 16 checkpoints of trainings, such as base-0/iter-0025: a checkpoint counts only "
        "by its name or with the tag stage=iteration",
    ),
    "equal_repeats": (
        {"runs": ["base-0", "base-1"], "of": "tag:recipe=base"},
        "base-0 and base-1 of tag:recipe=base have equal rankings: not independent repeats",
    ),
    "arm_means": (
        {"arms": [("tag:arm=a", 2), ("tag:arm=b", 3)]},
        "numbers are means over 2 runs of tag:arm=a and 3 runs of tag:arm=b; a rank is the mean over the runs that "
        "rank the item",
    ),
    "one_repeat": (
        {"run": "bm25"},
        "bm25 is a single run, so the interval does not cover how much another training would differ",
    ),
    "retraining": (
        {"sd": 0.00671, "n_runs": 40, "families": ["aa=old", "the recipe of new-0"], "n_seeds": 3},
        "repeated trainings vary by a standard deviation of 0.0067 (40 runs of aa=old and the recipe of new-0), but "
        "the interval covers groups, not trainings; 3 seeds of each would be enough to decide",
    ),
    "slices_regressed": (
        {"slices": [["segment", "de", -0.25, 40], ["segment", "fr", -0.125, 1]]},
        "2 slices regressed although all groups together pass: segment='de' (-0.25, 40 queries), segment='fr' "
        "(-0.12, 1 query); to see all",
    ),
    "small_slices_regressed": (
        {"slices": [["segment", "de", -0.25, 10]]},
        "a slice regressed although all groups together pass: segment='de' (-0.25, 10 queries); too few of its "
        "groups differ to "
        "be sure; to see all",
    ),
    "below_rel": (
        {"metric": "recall@5", "rel": "1", "highest": 0.87, "counting": "R(rel=0.1)@5"},
        "no label reaches rel=1 (the highest is 0.87), so recall@5 is 0 for every run; to count lower labels, use "
        "R(rel=0.1)@5",
    ),
    "above_highest": (
        {"metric": "err@20", "known": "4", "highest": 9.0, "counting": "ERR(highest=9)@20"},
        "a label is 9, but err@20 takes 4 as the highest, so its value is wrong; use ERR(highest=9)@20",
    ),
    "unjudged_open": (
        {"metric": "ndcg@10", "n": 158, "n_groups": 1},
        "158 unjudged items can change ndcg@10: grade those of 1 query",
    ),
    "unjudged_zero": (
        {"metric": "ndcg(unjudged=drop)", "stop": "unjudged=drop"},
        "unjudged items count as ndcg(unjudged=drop) says, because no bound on their effect is known under "
        "unjudged=drop",
    ),
    "tests_symmetry": ({}, "the Wilcoxon test tests symmetry, not the mean"),
    "means_weigh_groups": (
        {},
        "the means weigh groups in a way that no test covers (weights of items, or groups without a relevant item "
        "added unweighted), so there is no interval and no p-value",
    ),
    "diagnostic": ({}, "shown, not compared: it says nothing about quality"),
    "no_mean_of_groups": (
        {},
        "shown, not compared: its summary is not a mean of groups, which is what the tests are about",
    ),
    "nothing_judged": (
        {"metrics": ["AP", "P@1"]},
        "no judged item counts in either run under AP, P@1: were ids renamed? Then carry the labels to them with",
    ),
    "systems_lacking": (
        {"systems": [("bm25", ["shop"]), ("dense", ["shop", "books"])]},
        "left out: bm25 has no run on shop; dense has no run on shop, books",
    ),
    "runs_lacking": (
        {"n": 2, "first": "bm25", "version": 3, "metrics": ["AP"]},
        "left out: 2 runs without AP under labels version 3, such as bm25; to add the results",
    ),
    "in_no_run": (
        {"n": 20, "n_groups": 50},
        "20 of 50 groups with labels are in no run and count as 0 in all; to leave them out, as trec_eval does",
    ),
    "small_slices": (
        {"n": 2, "attribute": "device", "fewest": 2},
        "left out: 2 slices by device with fewer than 2 groups",
    ),
    "runs_without_results": (
        {"n": 1, "first": "bm25"},
        "left out: 1 run whose group results were pruned, such as bm25",
    ),
    "labels_changed": (
        {
            "version": 3,
            "before": 2,
            "n_changed": 1600,
            "n": 2000,
            "scales": [[0, 1, 4], [0, 1]],
            "is_newer": False,
        },
        "labels version 3 is not like version 2: its grades are 0 and 1, those of version 2 are 0, 1 and 4; 1,600 of "
        "2,000 labels have another grade; to compare under version 2",
    ),
    "newer_labels": (
        {"newest": 3, "version": 1},
        "labels version 3 is newer than version 1, which the runs share; to use it",
    ),
    "not_evaluated": (
        {"version": 2, "runs": ["dense", "splade"]},
        "no results under version 2 of the labels for 'dense' and 'splade' and the baseline together; to add the "
        "results",
    ),
    "agreement_without_items": (
        {"n": 2, "first": "bm25"},
        "left out: 2 runs without stored items, such as bm25; without its items, nothing is known about the "
        "errors in its first ranks",
    ),
    "no_common_pair": (
        {},
        "no pair of group and item has a grade from both judges; to draw some for the other judge to grade",
    ),
    "agreement_of_items": (
        {},
        "an older version drew single items that tell two runs apart: the figures are about these",
    ),
    "agreement_open": (
        {"n": 12, "n_drawn": 388},
        "12 of the 388 drawn items have no answer yet; those with an answer are treated as a random sample",
    ),
    "newer_than_answers": (
        {"version": 3, "judge": "llama"},
        "version 3 of judge 'llama' is newer than the first answers: if they helped to create it, it agrees with "
        "them better than with other answers",
    ),
    "other_hands": (
        {"hand": "people", "baseline": 0.02, "candidate": 0.31},
        "judge 'people' labelled 31.0% of the candidate's judged first ranks, 2.0% of the baseline's: the difference "
        "may come from who labelled",
    ),
    "goes_with_judged": (
        {},
        "a change that follows the judged share says nothing about the systems, because unjudged items count as not "
        "relevant; to judge them",
    ),
    "far_fewer_judged": (
        {"run": "new", "cutoff": 10, "share": 0.303, "usual": 0.571},
        "30.3% of the first 10 of new are judged, but 57.1% of those of other runs: were its ids renamed? Then "
        "carry the labels to them with",
    ),
    "spelled_otherwise": (
        {"how": "case", "of_run": "SKU-1", "of_labels": "sku-1", "n": 1200, "of": 1300, "n_met": 7, "n_labels": 1307},
        "the run has item 'SKU-1', but the labels have 'sku-1'; 7 of 1,307 labels match as written; 1,200 of the 1,300 "
        "unmatched labels that were checked differ like this: they differ only in capitals or spaces; write "
        "both the same way",
    ),
    "few_labels_met": (
        {"n": 3, "n_labels": 1200},
        "3 of 1,200 labels are for items that the run lists, and few of its first items are judged: were its ids "
        "renamed? Then carry the labels to them with",
    ),
    "changed_texts": ({"n": 1, "n_known": 30}, "1 of 30 labelled items has another text than when labelled"),
    "runs_not_judged": (
        {"n": 1, "first": "new"},
        "new has no judged item in the first ranks, so its place says nothing: were their ids renamed? Then carry the "
        "labels to them with",
    ),
    "order_open": (
        {"cutoff": 10, "low": 0.019, "high": 0.025},
        "1.9% to 2.5% of the first 10 are judged, and the others count as not relevant, which could change the "
        "order; to see by how much for the first two runs",
    ),
    "never_shown": (
        {"runs": ["old", "prod"], "unseen": ["new"]},
        "the labels come from the logs of old and prod: items that only new ranks first were never shown",
    ),
    "other_ids": (
        {"n": 116, "n_labelled": 1300, "run": "BASELINE", "other": "CANDIDATE"},
        "116 of the 1,300 labelled items in BASELINE's first three never occur in CANDIDATE, and ids that BASELINE "
        "never had stand in their places: were documents cut anew or renamed?",
    ),
    "carry_labels": ({}, "to carry the labels over to the ids of both"),
    "ids_are_stable": (
        {"n": 116, "n_labelled": 300, "run": "old", "other": "new"},
        "the verdict takes ids as stable: 116 of the 300 labelled items in old's first three never occur in new, "
        "although ids that old never had are in their places",
    ),
    "part_missing": (
        {"n": 116, "n_labelled": 300, "run": "old", "other": "new"},
        "116 of the 300 labelled items in old's first three never occur in new: is a part of the index missing?",
    ),
    "spans_beside": (
        {"n": 12, "run": "large"},
        "12 gold spans of large are in chunks that count for another gold span of the query, so R and ndcg of large "
        "are too low: write spans that belong together as one",
    ),
    "ties": (
        {"metrics": [], "low": -0.01, "high": 0.02},
        "ties in scores could change the decision: depending on how they are broken, delta is between -0.0100 and "
        "+0.0200",
    ),
    "tie_orders": (
        {"by_input": ["es", "os"], "by_id": ["bm25"]},
        "in es and os, items of equal score keep the order of the input; in bm25, their ids decide",
    ),
    "no_alias": (
        {},
        "gate against a pinned alias: otherwise small drops add up unnoticed; pin this baseline with",
    ),
    "same_run": ({}, "candidate and baseline are the same run"),
    "group_not_in_run": ({"group": "q1", "run": "a", "value": 0.0}, "group 'q1' is not in run 'a': its value is 0"),
    "in_one_run_only": ({"n": 2}, "2 groups have a result in one run only: left out"),
    "unjudged_items": (
        {"cutoff": None, "baseline": 1200, "candidate": 0},
        "unjudged items in the lists: 1,200 in the baseline, 0 in the candidate",
    ),
    "no_item_judged": (
        {"cutoff": 10, "baseline": 2, "candidate": 3},
        "no item among the first 10 has a label (2 in the baseline, 3 in the candidate), so nothing is compared; do "
        "the ids match?",
    ),
    "no_split": (
        {},
        "no split into ranking, labels and coverage: the group has no value in a step in between",
    ),
    "ranking_in_detail": ({}, "to see the ranking's part in detail"),
    "worst_group": ({}, "to see the group that lost most"),
    "different_labels": (
        {"versions": [(1, 3), (2, 1)], "most": 1},
        "runs under different labels are not compared (version 1: 3 runs, version 2: 1 run); to evaluate all under "
        "version 1 (or under the latest, --labels 2)",
    ),
    "shown_only": (
        {"metric": "NumRet", "why": "diagnostic"},
        "NumRet: shown, not compared: it says nothing about quality",
    ),
    "other_groups": (
        {"run": "few", "n": 20, "n_beside": 1098},
        "few has results for 20 groups, the runs before and after it for 1,098: not compared with them",
    ),
    "shared_groups": (
        {"n": 98, "most": 100},
        "steps use the 98 groups, of up to 100, that have results in all runs",
    ),
    "few_runs": (
        {"n": 3, "fewest": 8},
        "steps allow for chance in the groups, but not in training: to estimate that chance takes 8 runs that "
        "changed (so far 3), or repeats of one unchanged system",
    ),
    "run_scatter": (
        {"sd": 0.00671, "own": 0.002},
        "from run to run, the mean varies by a standard deviation of 0.0067, of which groups explain 0.0020: a step "
        "must be larger than this scatter",
    ),
    "wandering": (
        {"n": 2, "resemblance": 0.613},
        "each run resembles the run before it (autocorrelation 0.61), so the series wanders; 2 places look like "
        "steps but are not marked, because that explains them as well",
    ),
    "pruned": (
        {"run": "bm25", "at": "2026-01-31T08:00:00.000000Z"},
        "run 'bm25' was pruned at 2026-01-31T08:00:00.000000Z: its items are gone, so none are shown",
    ),
    "without_items": (
        {"run": "bm25", "kept_share": 0.01},
        "run 'bm25' was stored with the items of 0.01 of its groups, so none are shown",
    ),
    "summaries_only": (
        {"n": 2},
        "2 runs have no group results here, only means: not compared with the runs before and after",
    ),
    "study": (
        {"n": 1200, "n_runs": 1300, "study": "grid 1"},
        "1,200 of these 1,300 runs are trials of study 'grid 1', whose order says little; to see whether the best "
        "trial beats the next",
    ),
    "duplicates": (
        {"n": 2, "how": "best"},
        "2 rows repeat items of their group: of the rows of an item the best counts",
    ),
    "rank_gaps": (
        {"n": 2, "first": "q7", "why": "gaps", "are_positions": True},
        "the ranks of 2 groups (the first: 'q7') are not 1, 2, 3 and so on (they have gaps); they are taken as "
        "positions, as in RecTools, and an empty position counts as an item without label",
    ),
    "rank_conflict": (
        {"n": 3000, "first": "q7"},
        "the rank column contradicts the scores in 3,000 groups (the first: 'q7'); the scores decide, as in trec_eval: "
        "if lower scores are better here, negate them",
    ),
    "sampled": (
        {"n": 100, "of": 100_000, "rank": 5_000, "chance": 0.9718},
        "items are ranked among 100 sampled negatives of 100,000: an item truly at rank 5,000 is in the first ten "
        "there with probability 0.97, so the better run may be the other one when all items are ranked",
    ),
    "documents_in_ten": (
        {"in_ten": [("bm25", 5.0), ("dense", 7.25)], "others": ["whole"]},
        "documents are ranked instead of their chunks: 5.0 distinct documents in the first ten of bm25 and 7.2 "
        "distinct documents in the first ten of dense; whole has no chunks",
    ),
    "groups_share": ({"share": "1/100"}, "only 1/100 of the groups are kept, chosen by a hash of their ids"),
    "smaller_share": (
        {"share": "1/100", "run": "dense"},
        "only 1/100 of the groups are compared, because 'dense' keeps no others",
    ),
    "runs_of_other_shares": (
        {"n": 2, "first": "dense", "share": "1/100"},
        "left out: 2 runs, such as dense, because only runs that keep 1/100 of the groups are ranked",
    ),
    "history_of_shares": (
        {"shares": ["all", "1/100"]},
        "the runs keep different shares of the groups (all, 1/100): there is no search for steps between them",
    ),
    "runs_of_other_samples": (
        {"n": 2, "first": "dense", "sampled": "100/50000"},
        "left out: 2 runs, such as dense, whose items are not ranked among the same sample of 100/50000",
    ),
    "history_of_samples": (
        {"samples": [("100/50000", 3, "a"), ("100/60000", 1, "e")], "n_runs": 5},
        "of 5 runs, 3 (such as a) rank 100/50000 sampled items and 1 (such as e) rank 100/60000 sampled items: there "
        "is no search for steps between runs that rank different items",
    ),
    "scores_like_ranks": (
        {"n": 3000, "first": "q7"},
        "the scores of all 3,000 groups, such as 'q7', look like positions in a list, but the highest score counts "
        "as the best: if the lowest is best, negate the scores; a minus before the name of a score column does that",
    ),
    "ties_by_input": ({}, "items of equal score keep the order of the input"),
    "failed_responses": (
        {"n": 2},
        "2 responses failed and were left out, so their queries count as missing: run the search again",
    ),
    "order_of_lists": ({}, "its lists have no scores, so their order is the ranking, the best item first"),
    "no_score": (
        {"n": 1200},
        "1,200 rows have no score, so their items count as not retrieved; if a model failed on them, fix the scores",
    ),
    "no_label": ({}, "none of its items has a label, so every result is 0 or undefined; do the ids match?"),
    "without_cluster": (
        {"n": 12, "n_groups": 400, "attribute": "user"},
        "12 of 400 groups have no user; each counts as its own cluster",
    ),
    "nothing_to_extend": (
        {"judge": "ada", "other": "", "version": 2},
        "there were no labels of judge 'ada' to extend, so the new version has only these; to add them to version 2 "
        "(without a judge)",
    ),
    "after_that": ({}, "after that, ask again"),
    "left_out": (
        {"answers": 51, "designs": 2, "decisions": 1, "alias_moves": 0, "suite_datasets": 0, "texts": 0},
        "left out: 51 human answers, 2 designs, 1 decision; to take everything, type: "
        "ndcg-track export --all -o FOLDER",
    ),
    "runs_of_other_groups": (
        {"n": 2, "first": "covid"},
        "left out: 2 runs without any group of these labels, such as covid: are the group ids written as in the "
        "labels?",
    ),
    "no_group_label": (
        {"of_run": ["Q1"], "of_labels": ["q1", "q2", "q3", "q4"]},
        "no group of the run has labels: the run has 'Q1', the labels have 'q1', 'q2', 'q3' and others; give labels of "
        "the same groups, with ids written the same way",
    ),
    "labels_elsewhere": (
        {"of_labels": ["1", "2"], "known": ["q1"], "version": 3},
        "its labels have no group in common with version 3 of the dataset's labels: they have '1', '2', version 3 has "
        "'q1'",
    ),
    "no_answer": (
        {"n_empty": 4, "n": 5, "n_absent": 1},
        "no answer: 4 of 5 queries without an answer return nothing; 1 more is not in the run",
    ),
    "no_answer_of_both": (
        {"baseline": "4 of 5", "candidate": "3 of 5"},
        "no answer: of the queries without an answer, the baseline returns nothing for 4 of 5, the candidate for 3 of "
        "5",
    ),
    "nothing_found": ({}, "all its lists are empty"),
    "unstable_sort": (
        {"tool": "ranx", "metric": "ranx:ndcg@10", "from_items": 16, "n": 2},
        "ranx may sort equal scores in any order in lists of 16 items or more: in 2 groups, ranx:ndcg@10 depends on "
        "that order, so ranx may print a different number",
    ),
    "one_score": ({}, "the scores of each list are all equal, so ties decide the order, not a model"),
    "groups_lacking": (
        {"runs": [("a", 5), ("b", 25)], "n_groups": 30, "metric": "ndcg@10"},
        "ndcg@10 counts the groups missing from a run as 0: a (5 of 30), b (25 of 30); to leave them out",
    ),
    "labels_gone": (
        {"n_groups": 86, "n_labels": 2703, "version": 2},
        "2,703 labels of version 2 are not in it, and 86 groups have none left; to keep them",
    ),
    "other_model": (
        {"judge": "gpt", "what": "prompt", "now": "v2", "was": "v1"},
        "the labels of judge 'gpt' come from prompt 'v2', those before from 'v1'; another prompt is another judge, so "
        "give it a name of its own",
    ),
    "new_groups": (
        {"n": 20, "n_groups": 50},
        "20 of its 50 groups are new: a run without them has 0 there under metrics such as ndcg@10",
    ),
    "history_lacking": (
        {"runs": [("half", 157)], "n_groups": 403, "metric": "ndcg@10"},
        "ndcg@10 counts the groups missing from a run as 0, so a step there may come from that: half (157 of 403); "
        "for a history without them, use the metric that this command adds",
    ),
    "shorter_lists": (
        {"run": "short", "n_short": 5.04, "n_long": 20.0, "metric": "ndcg@10"},
        "the lists of short have 5.0 items on average, those of the other run 20.0: ndcg@10 looks past the end of "
        "the shorter lists",
    ),
    "some_groups_missing": (
        {
            "n_missing": 1500,
            "n_labelled": 2000,
            "n_unlabelled": 61,
            "metric": "ndcg@10",
            "skipping": "ndcg(missing=skip)@10",
        },
        "1,500 of 2,000 groups with labels are not in the run, and ndcg@10 counts each as an empty list; "
        "'ndcg(missing=skip)@10' leaves them out; 61 groups of the run have no labels: are the group ids written the "
        "same way?",
    ),
    "equal_metrics": (
        {"metrics": ["map", "trec_eval:map"]},
        "map and trec_eval:map are equal in every group, but p-values are corrected for both: name only one",
    ),
    "all_one": (
        {"n": 3000, "metric": "ndcg@10"},
        "all 3,000 groups score 1 by ndcg@10, so no run can do better: a log with only clicked items has this "
        "effect; add the items that were shown and not clicked",
    ),
    "swapped": ({}, "its scores are whole numbers and the labels are not: are the run and the labels swapped?"),
    "same_content": ({"run": "bm25"}, "its content equals that of run 'bm25'"),
    "alias_moved": ({"alias": "prod", "run_id": 3}, "alias @prod now points at the new content (run 3)"),
    "new_labels": (
        {"version": 2},
        "its labels are new (version 2 of the dataset); to compare older runs with it, evaluate them under it",
    ),
    "other_version": (
        {"version": 1, "here": 4, "dataset": "shop"},
        "labels version 1 of the export is version 4 of dataset 'shop' here, the latest; runs under older versions "
        "need rescore --labels 4 to be comparable",
    ),
    "not_pushed": (
        {"what": "tag", "key": "c@d"},
        "tag 'c@d' was not pushed: MLflow allows only letters, digits, _ - . : / and spaces in a name",
    ),
    "other_parameter": (
        {"key": "depth", "there": "6", "here": "7"},
        "parameter 'depth' is '6' in MLflow, which never changes a parameter, and '7' here",
    ),
    "other_mean": (
        {"metric": "AP", "here": 0.25, "there": 0.5, "version": 2, "dataset": "shop"},
        "AP is 0.25 here and 0.5 in MLflow: here it uses labels version 2 of dataset 'shop'; use another dataset to "
        "keep both",
    ),
    "no_report": ({"why": "no common labels"}, "no report page: no common labels"),
    "no_mean": ({"metric": "AP"}, "AP has no value for any group, so MLflow gets no mean"),
    "missing_groups": (
        {"n": 2, "dataset": "shop"},
        "2 groups of dataset 'shop' are not in this data; the metric decides how a missing group counts (by default "
        "as 0); to avoid that, give evaluator_config another 'dataset'",
    ),
}


@pytest.mark.parametrize(
    ("facts", "ending"),
    [
        ({"of_run": "a", "of_labels": "b"}, "the run has 'a', but the labels have 'b'; do the ids match?"),
        (
            {"of_run": "a", "of_labels": "b", "may_map": True},
            "the run has 'a', but the labels have 'b'; were ids renamed? Then carry the labels to them with",
        ),
        (
            {"of_run": "sku-1", "of_labels": "1", "how": "run:sku-"},
            "the run has 'sku-1', but the labels have '1'; the ids of the run start with 'sku-'; write both the same "
            "way",
        ),
        (
            {"of_run": "1", "of_labels": "1.0", "how": "decimals"},
            "the run has '1', but the labels have '1.0'; whole numbers became floats, as happens in a join with "
            "empty cells; write whole numbers (in pandas, .astype('Int64') before to_csv)",
        ),
    ],
)
def test_items_that_meet_no_label_have_an_example(facts: dict[str, str], ending: str) -> None:
    told = "none of its items has a label, so every result is 0 or undefined: "
    assert sentence(Note("no_label", facts)) == told + ending


def test_every_kind_has_a_sentence() -> None:
    assert set(SENTENCES) == set(get_args(Kind))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_the_sentence_of_a_kind(kind: Kind) -> None:
    facts, expected = SENTENCES[kind]
    assert sentence(Note(kind, facts)) == note_text(Note(kind, facts)) == expected


def test_a_single_group_or_row() -> None:
    assert sentence(Note("rank_conflict", {"n": 1, "first": "q7"})).startswith(
        "the rank column contradicts the scores in a group ('q7'); "
    )
    assert sentence(Note("rank_conflict", {"n": 1, "first": "q7", "deciding": "scores"})) == (
        "the rank column contradicts the scores in a group ('q7'); "
        "the scores decide: to use the ranks, name '-rank' as the score column"
    )
    assert sentence(Note("rank_conflict", {"n": 1, "first": "q7", "deciding": "order"})) == (
        "the order of the items contradicts the scores in a group ('q7'); "
        "the scores decide: to use the order, give '' as the score column"
    )
    assert sentence(Note("rank_conflict", {"n": 1, "first": "q7", "deciding": "ranks"})).endswith(
        "; the ranks decide, as in RecTools and RecBole: to use the scores, name 'score' as the score column"
    )
    assert sentence(Note("no_score", {"n": 1})).startswith("1 row has no score, ")


def test_a_place_that_neighbours_do_not_explain() -> None:
    told_so = sentence(Note("wandering", {"n": 1, "resemblance": 0.0}))
    assert told_so == "1 place looks like a step but is not marked: the scatter of single runs explains it as well"


def test_bounds_over_ties_have_the_digits_that_tell_them_apart() -> None:
    told_so = sentence(Note("ties", {"metrics": ["AP"], "low": 0.0100001, "high": 0.0100012}))
    assert told_so == (
        "ties in scores could change the verdict on AP: depending on how they are broken, delta is between +0.010000 "
        "and "
        "+0.010001"
    )


def test_a_command_stands_behind_the_sentence() -> None:
    note = Note("worst_group", command=("ndcg-track", "explain", "a b", "$x"))
    assert (told(note).sentence, told(note).command) == (
        "to see the group that lost most",
        "ndcg-track explain 'a b' '$x'",
    )
    assert note_text(note) == "to see the group that lost most: ndcg-track explain 'a b' '$x'"


@pytest.mark.parametrize(
    ("word", "typed"), [("a", "a"), ("a b", "'a b'"), ("it's", '"it\'s"'), ("it's $5", "'it'\"'\"'s $5'"), ("", "''")]
)
def test_words_of_a_command_are_quoted_for_a_shell(word: str, typed: str) -> None:
    assert command_line(["ndcg-track", word]) == f"ndcg-track {typed}"


@pytest.mark.parametrize(
    ("interval", "end"),
    [("the t interval", "; below 100, the t interval may be too narrow"), ("", "")],
)
def test_low_information_names_the_interval_that_is_shown(interval: str, end: str) -> None:
    told_so = low_information(300, 60, enough=100, interval=interval)
    assert told_so == f"low information: 60 of 300 differences are nonzero{end}"
    assert few_differences(Note("low_information", {"enough": 25}), interval).endswith("too narrow") is bool(interval)
